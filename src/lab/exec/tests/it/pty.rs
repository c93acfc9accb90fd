use exec::{Cmd, Pty, PtyOutput, PtySize};

const SIZE: PtySize = PtySize { rows: 24, cols: 80 };

/// Reads until the text appears and returns all that was read.
pub(crate) async fn read_until(output: &mut PtyOutput, wanted: &str) -> String {
    let mut seen = String::new();
    let reading = async {
        while !seen.contains(wanted) {
            let Some(piece) = output.read().await else {
                panic!("closed before {wanted:?} came: {seen:?}")
            };
            seen.push_str(&String::from_utf8_lossy(&piece));
        }
    };
    if tokio::time::timeout(std::time::Duration::from_secs(20), reading)
        .await
        .is_err()
    {
        panic!("{wanted:?} did not come: {seen:?}");
    }
    seen
}

#[tokio::test]
async fn a_shell_reads_what_is_typed_and_knows_its_size() {
    let (pty, mut output) = Pty::spawn(&Cmd::new("sh"), SIZE).unwrap();
    pty.write("stty size; echo a''b\n").await.unwrap();
    assert!(read_until(&mut output, "ab").await.contains("24 80"));
    pty.resize(PtySize {
        rows: 40,
        cols: 132,
    })
    .unwrap();
    pty.write("stty size; echo c''d\n").await.unwrap();
    assert!(read_until(&mut output, "cd").await.contains("40 132"));
    pty.write("exit 5\n").await.unwrap();
    assert_eq!(pty.wait().await.unwrap().code(), Some(5));
    while output.read().await.is_some() {}
}

#[tokio::test]
async fn killing_ends_the_command_and_its_terminal() {
    let (pty, mut output) =
        Pty::spawn(&Cmd::new("sh").args(["-c", "echo up; sleep 1000"]), SIZE).unwrap();
    read_until(&mut output, "up").await;
    pty.kill();
    assert!(!pty.wait().await.unwrap().success());
    while output.read().await.is_some() {}
    assert!(pty.write("late").await.is_ok() || pty.write("late").await.is_err());
}

#[tokio::test]
async fn output_that_nobody_reads_makes_the_command_wait_and_nothing_is_lost() {
    let (pty, mut output) = Pty::spawn(&Cmd::new("seq").args(["1", "400000"]), SIZE).unwrap();
    let mut bytes = 0;
    let mut tail = Vec::new();
    while let Some(piece) = output.read().await {
        bytes += piece.len();
        tail = piece;
    }
    assert!(pty.wait().await.unwrap().success());
    // Each line end is two bytes on a terminal.
    assert_eq!(
        bytes,
        (1..=400_000_u32)
            .map(|n| n.to_string().len() + 2)
            .sum::<usize>()
    );
    assert!(tail.ends_with(b"400000\r\n"));
}
