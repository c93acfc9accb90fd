//! The script's side of playing: what is put before `run.sh`, and the requests it makes over its terminal.

/// What bash runs: the prelude, then the lab's script. Requests are lines with a mark that no command prints.
pub(super) fn whole(script: &str) -> String {
    format!("{PRELUDE}\n{script}\n")
}

/// Set apart from whatever commands print.
const MARK: &str = "\u{1}atelier ";

const PRELUDE: &str = "\
stty -echo 2>/dev/null
answer() { printf '\\001atelier answer %s %s\\n' \"$1\" \"${2-}\" >/dev/tty; local told; IFS= read -r told </dev/tty; [ \"$told\" = yes ]; }
await() { printf '\\001atelier await %s %s\\n' \"$1\" \"${2:-60}\" >/dev/tty; local told; IFS= read -r told </dev/tty; [ \"$told\" = yes ]; }";

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Without a value: the one of `answers.yaml`.
    Answer {
        question: String,
        value: Option<String>,
    },
    Await {
        criterion: String,
        seconds: u64,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Printed(String),
    Asked(Request),
    /// A request that makes no sense, as written.
    Nonsense(String),
}

/// Cuts the terminal's output into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        self.pending.extend_from_slice(bytes);
        let mut lines = Vec::new();
        while let Some(at) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=at).collect();
            lines.push(read(&String::from_utf8_lossy(&line)));
        }
        lines
    }
}

fn read(line: &str) -> Line {
    let line = line.trim_end_matches(['\n', '\r']);
    // A command may have left the cursor in the middle of a line.
    let Some((_, request)) = line.split_once(MARK) else {
        return Line::Printed(line.to_owned());
    };
    let mut words = request.splitn(3, ' ');
    let (verb, name, rest) = (
        words.next(),
        words.next(),
        words.next().unwrap_or_default().trim(),
    );
    match (verb, name) {
        (Some("answer"), Some(question)) => {
            let value = (!rest.is_empty()).then(|| rest.to_owned());
            Line::Asked(Request::Answer {
                question: question.to_owned(),
                value,
            })
        }
        (Some("await"), Some(criterion)) => match rest.parse() {
            Ok(seconds) => Line::Asked(Request::Await {
                criterion: criterion.to_owned(),
                seconds,
            }),
            Err(_) => Line::Nonsense(request.to_owned()),
        },
        _ => Line::Nonsense(request.to_owned()),
    }
}
