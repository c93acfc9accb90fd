use std::time::Duration;

use exec::process::{ProcessIdentity, group_members_in};
use exec::{Cmd, Grouping, RotatingLog};

#[tokio::test]
async fn stops_politely_and_then_firmly() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (
            "ends when asked",
            "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done",
            Some(7),
        ),
        (
            "must be killed",
            "trap '' TERM; echo ready; while :; do sleep 0.05; done",
            None,
        ),
    ];
    for (name, script, code) in cases {
        let log = dir.path().join(format!("{}.log", name.replace(' ', "-")));
        let cmd = Cmd::new("sh").arg("-c").arg(script);
        let mut child = cmd
            .spawn(Grouping::Own, Some(RotatingLog::new(&log)))
            .unwrap();
        until(|| std::fs::read_to_string(&log).is_ok_and(|text| text.contains("ready"))).await;
        let status = child.stop(Duration::from_millis(500)).await.unwrap();
        assert_eq!(status.code(), code, "{name}");
        assert!(
            ProcessIdentity::of(child.pid()).is_none(),
            "{name}: it must be reaped"
        );
    }
}

#[tokio::test]
async fn a_detached_child_outlives_its_handle_and_is_known_by_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let cmd = Cmd::new("sleep").arg("1000").cwd(dir.path());
    let mut detached = cmd.spawn_detached(&dir.path().join("log")).unwrap();
    let identity = detached.identity();
    assert!(identity.is_alive());
    assert!(
        !ProcessIdentity {
            started: identity.started + 1,
            ..identity
        }
        .is_alive()
    );
    until(|| !group_members_in(identity.pid, dir.path()).is_empty()).await;
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(group_members_in(identity.pid, elsewhere.path()).is_empty());
    exec::process::signal_group(identity.pid, exec::process::Signal::KILL);
    detached.ended().await;
    assert!(!identity.is_alive());
}

/// Waits for something another process does; the test's own time limit ends it.
pub(crate) async fn until(mut condition: impl FnMut() -> bool) {
    tokio::time::timeout(Duration::from_secs(20), async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
    .expect("what the test waits for must happen within 20 s");
}
