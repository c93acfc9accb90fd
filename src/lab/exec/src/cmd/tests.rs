use std::time::Duration;

use expect_test::{Expect, expect};
use tokio_util::sync::CancellationToken;

use crate::process::group_members;
use crate::{Cmd, ExecError};

#[test]
fn prints_as_a_line_for_a_shell() {
    let check = |cmd: Cmd, expected: Expect| expected.assert_eq(&cmd.to_string());
    check(
        Cmd::new("kubectl").args(["get", "nodes", "-o=json"]),
        expect!["kubectl get nodes -o=json"],
    );
    check(
        Cmd::new("sh").arg("-c").arg("echo 'a b'"),
        expect![[r#"sh -c 'echo '\''a b'\'''"#]],
    );
    check(Cmd::new("x").arg(""), expect!["x ''"]);
    check(Cmd::new("x").env("TOKEN", "secret"), expect!["x"]);
}

#[tokio::test]
async fn captures_both_outputs_and_the_input_is_read() {
    let output = Cmd::new("sh")
        .args(["-c", "cat; echo problem >&2"])
        .stdin("hello")
        .run()
        .await
        .unwrap();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str(), output.code),
        ("hello", "problem\n", Some(0))
    );
}

#[tokio::test]
async fn a_failure_says_the_command_its_status_and_what_it_printed() {
    let error = Cmd::new("sh")
        .args(["-c", "echo no such queue >&2; exit 3"])
        .run()
        .await
        .unwrap_err();
    expect![[r#"
        `sh -c 'echo no such queue >&2; exit 3'` ended with exit status 3, and said:
          no such queue"#]]
    .assert_eq(&error.to_string());
}

#[tokio::test]
async fn a_program_that_is_missing_is_named() {
    let error = Cmd::new("no-such-program-here").run().await.unwrap_err();
    expect!["cannot start `no-such-program-here`: No such file or directory (os error 2)"]
        .assert_eq(&error.to_string());
}

#[tokio::test]
async fn environment_can_be_cleared() {
    let output = Cmd::new("/usr/bin/env")
        .env_clear()
        .env("A", "1")
        .run()
        .await
        .unwrap();
    assert_eq!(output.stdout, "A=1\n");
}

#[tokio::test]
async fn lines_are_handed_over_as_they_come() {
    let mut lines = Vec::new();
    Cmd::new("printf")
        .arg("one\\ntwo\\nlast without end")
        .run_lines(&CancellationToken::new(), |_, line| {
            lines.push(line.to_owned());
        })
        .await
        .unwrap();
    assert_eq!(lines, ["one", "two", "last without end"]);
}

/// The shell starts a grandchild, which must not survive either.
const TWO_PROCESSES: &str = "sleep 1000 & echo $$; wait";

/// The grandchild is nobody's to reap here, so its end can only be looked for.
async fn ends(group: u32) {
    let looking = async {
        while !group_members(group).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), looking)
        .await
        .expect("the whole group ends");
}

#[tokio::test]
async fn a_deadline_ends_the_whole_group() {
    let error = Cmd::new("sh")
        .args(["-c", TWO_PROCESSES])
        .deadline(Duration::from_millis(300))
        .run()
        .await
        .unwrap_err();
    let ExecError::DeadlineExceeded { output, .. } = error else {
        panic!("{error}")
    };
    let group: u32 = output.stdout.trim().parse().unwrap();
    ends(group).await;
}

#[tokio::test]
async fn cancelling_ends_the_whole_group() {
    let cancel = CancellationToken::new();
    let mut group = 0;
    let stop = cancel.clone();
    let result = Cmd::new("sh")
        .args(["-c", TWO_PROCESSES])
        .run_lines(&cancel, |_, line| {
            group = line.parse().unwrap();
            stop.cancel();
        })
        .await;
    assert!(matches!(result, Err(ExecError::Cancelled { .. })));
    assert!(group > 1);
    ends(group).await;
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_does_not_hold_us() {
    let output = Cmd::new("sh")
        .args(["-c", "sleep 1000 & echo done"])
        .run()
        .await
        .unwrap();
    assert_eq!(output.stdout, "done\n");
}
