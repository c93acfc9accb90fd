//! The last part of what a terminal printed, by position in the whole stream.
//!
//! Positions never restart, so that a page that was cut off can say what it has and get the rest once. It keeps whole
//! pieces and counts lines; it does not interpret what it keeps.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

/// Lines that are kept.
pub const LINES: usize = 10_000;
/// Bytes that are kept at most, whatever the lines.
pub const BYTES: usize = 4 * 1024 * 1024;
/// Bytes that are kept at least, so that short lines are not forgotten before pages have drawn them.
const LEAST: usize = 1024 * 1024;

#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    lines: usize,
}

/// A bounded history.
#[derive(Debug)]
pub struct History {
    pieces: VecDeque<Piece>,
    /// Position of the first kept byte.
    start: u64,
    /// Position after the last byte.
    end: u64,
    lines: usize,
    max_lines: usize,
    least_bytes: u64,
    most_bytes: u64,
}

impl Default for History {
    fn default() -> Self {
        Self::with_limits(LINES, LEAST, BYTES)
    }
}

impl History {
    /// An empty history that keeps `max_lines` lines and `least` bytes, but not more than about `most` bytes.
    #[must_use]
    pub fn with_limits(max_lines: usize, least: usize, most: usize) -> Self {
        let bytes = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let (least_bytes, most_bytes) = (bytes(least), bytes(most));
        Self {
            pieces: VecDeque::new(),
            start: 0,
            end: 0,
            lines: 0,
            max_lines,
            least_bytes,
            most_bytes,
        }
    }

    /// Position of the oldest kept byte.
    #[must_use]
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// Position of the next byte.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Appends, and forgets the oldest pieces that are not needed any more.
    pub fn push(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.end += length(&bytes);
        self.lines += lines;
        self.pieces.push_back(Piece { bytes, lines });
        while self.oldest_is_surplus() {
            self.forget_oldest();
        }
    }

    /// What follows position `from`, at most `limit` bytes; empty at the end. A position before [`Self::start`] is
    /// the caller's to notice.
    #[must_use]
    pub fn since(&self, from: u64, limit: usize) -> Vec<u8> {
        let mut at = self.start;
        let mut taken = Vec::new();
        for piece in &self.pieces {
            let skip = usize::try_from(from.saturating_sub(at)).unwrap_or(usize::MAX);
            at += length(&piece.bytes);
            let rest = limit - taken.len();
            taken.extend(piece.bytes.iter().skip(skip).take(rest));
            if taken.len() == limit {
                break;
            }
        }
        taken
    }

    /// Where a fresh page should begin: at the start, or after the first line break when the start was cut.
    #[must_use]
    pub fn fresh_start(&self) -> u64 {
        if self.start == 0 {
            return 0;
        }
        let mut at = self.start;
        for byte in self.pieces.iter().flat_map(|piece| &piece.bytes) {
            at += 1;
            if *byte == b'\n' {
                return at;
            }
        }
        self.start
    }

    fn oldest_is_surplus(&self) -> bool {
        let Some(oldest) = self.pieces.front() else {
            return false;
        };
        let kept = self.end - self.start;
        let enough_lines = self.lines - oldest.lines >= self.max_lines;
        let enough_bytes = kept - length(&oldest.bytes) >= self.least_bytes;
        self.pieces.len() > 1 && ((enough_lines && enough_bytes) || kept > self.most_bytes)
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.pieces.pop_front() {
            self.start += length(&oldest.bytes);
            self.lines -= oldest.lines;
        }
    }
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}
