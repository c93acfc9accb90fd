//! What most tests say to an environment: make it, give it objects, delete it; and what a command printed.

use std::path::{Path, PathBuf};

use exec::Cmd;
use testkit::Platform;

pub(crate) async fn create(platform: &Platform, environment: &str) {
    ok(platform.atelier(["env", "create", environment])).await;
}

pub(crate) async fn delete(platform: &Platform, environment: &str) {
    ok(platform.atelier(["env", "delete", environment])).await;
}

pub(crate) async fn apply(platform: &Platform, environment: &str, manifests: &str) {
    let apply = platform.kubectl(environment, ["apply", "-f", "-"]);
    ok(apply.stdin(manifests)).await;
}

/// The chart of the controller.
pub(crate) fn chart() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../manifests/kueue")
}

/// Helm, as it installs or upgrades (`act`) the controller and waits until it is ready.
pub(crate) fn helm(platform: &Platform, environment: &str, act: &str) -> Cmd {
    let command = [act, "kueue", "-n", "kueue-system", "--wait"];
    let command = platform.helm(environment, command).arg(chart());
    if act == "install" {
        command.arg("--create-namespace")
    } else {
        command
    }
}

/// What the command printed; it must succeed. Where it does not, all that it said is shown: what went wrong first is rarely in its
/// last lines.
pub(crate) async fn ok(command: Cmd) -> String {
    let output = command.output().await;
    let output = output.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        output.code == Some(0),
        "`{command}` ended with {:?}, and said:\n{}\n{}",
        output.code,
        output.stdout,
        output.stderr
    );
    output.stdout
}

/// What the command says when it fails, as it must.
pub(crate) async fn refused(command: Cmd) -> String {
    let output = command.output().await.expect("it runs");
    assert_ne!(
        output.code,
        Some(0),
        "not refused: {command}\n{}",
        output.stdout
    );
    output.stderr
}

/// The path of the program that the process runs.
pub(crate) fn program_of(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(first).into_owned()
}
