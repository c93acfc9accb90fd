use super::script::{Line, Lines, Request, whole};

fn read(pieces: &[&str]) -> Vec<Line> {
    let mut lines = Lines::default();
    pieces
        .iter()
        .flat_map(|piece| lines.push(piece.as_bytes()))
        .collect()
}

#[test]
fn requests_are_told_from_what_commands_print() {
    let answer = |question: &str, value: Option<&str>| {
        Line::Asked(Request::Answer {
            question: question.to_owned(),
            value: value.map(str::to_owned),
        })
    };
    let cases: Vec<(&[&str], Vec<Line>)> = vec![
        (
            &["job created\r\n"],
            vec![Line::Printed("job created".to_owned())],
        ),
        (
            &["\u{1}atelier answer gpus \r\n"],
            vec![answer("gpus", None)],
        ),
        (
            &["\u{1}atelier ans", "wer raison Waiting For\r", "\nx"],
            vec![answer("raison", Some("Waiting For"))],
        ),
        (
            &["no newline\u{1}atelier answer gpus 8\n"],
            vec![answer("gpus", Some("8"))],
        ),
        (
            &["\u{1}atelier await attendre 30\r\n"],
            vec![Line::Asked(Request::Await {
                criterion: "attendre".to_owned(),
                seconds: 30,
            })],
        ),
        (
            &["\u{1}atelier await attendre soon\r\n"],
            vec![Line::Nonsense("await attendre soon".to_owned())],
        ),
        (
            &["atelier answer gpus 8\n"],
            vec![Line::Printed("atelier answer gpus 8".to_owned())],
        ),
    ];
    for (pieces, expected) in cases {
        assert_eq!(read(pieces), expected, "{pieces:?}");
    }
}

/// The prelude and the reader agree: real bash, a real terminal.
#[tokio::test]
async fn bash_asks_and_is_answered() {
    let script = "answer gpus 8 && echo first; await attendre 5 || echo second; echo third";
    let command = exec::Cmd::new("/bin/bash").args(["-c", &whole(script)]);
    let (pty, mut output) =
        exec::Pty::spawn(&command, exec::PtySize { rows: 24, cols: 80 }).expect("spawn");
    let mut lines = Lines::default();
    let mut seen = Vec::new();
    while let Some(bytes) = output.read().await {
        for line in lines.push(&bytes) {
            match &line {
                Line::Asked(Request::Answer { .. }) => {
                    pty.write(b"yes\n".to_vec()).await.expect("write");
                }
                Line::Asked(Request::Await { .. }) => {
                    pty.write(b"no\n".to_vec()).await.expect("write");
                }
                Line::Printed(_) | Line::Nonsense(_) => {}
            }
            seen.push(line);
        }
    }
    let printed = |text: &str| Line::Printed(text.to_owned());
    let expected = vec![
        Line::Asked(Request::Answer {
            question: "gpus".to_owned(),
            value: Some("8".to_owned()),
        }),
        printed("first"),
        Line::Asked(Request::Await {
            criterion: "attendre".to_owned(),
            seconds: 5,
        }),
        printed("second"),
        printed("third"),
    ];
    assert_eq!(seen, expected);
}
