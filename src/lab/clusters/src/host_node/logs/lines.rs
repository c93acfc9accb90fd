//! Pieces of output → lines, for both outputs of a container.

use exec::Stream;

/// A line that is longer is cut, as container runtimes do.
const LONGEST: usize = 16 * 1024;

/// What has been said since the last line end.
#[derive(Debug, Default)]
pub(in crate::host_node) struct Lines {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Lines {
    /// Adds a piece and hands over each line that is complete now.
    pub(in crate::host_node) fn add(
        &mut self,
        stream: Stream,
        piece: &[u8],
        mut line: impl FnMut(&str),
    ) {
        let begun = match stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        for byte in piece {
            if *byte != b'\n' {
                begun.push(*byte);
            }
            if *byte == b'\n' || begun.len() >= LONGEST {
                line(String::from_utf8_lossy(begun).trim_end_matches('\r'));
                begun.clear();
            }
        }
    }

    /// Hands over what was not ended by a line end.
    pub(in crate::host_node) fn finish(self, mut line: impl FnMut(Stream, &str)) {
        for (stream, begun) in [(Stream::Stdout, self.stdout), (Stream::Stderr, self.stderr)] {
            if !begun.is_empty() {
                line(stream, &String::from_utf8_lossy(&begun));
            }
        }
    }
}
