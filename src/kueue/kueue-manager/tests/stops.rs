//! The whole program stops when it is told to, whatever has become of the API server and of whoever reads its log.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![expect(
    clippy::disallowed_methods,
    reason = "the program is started as a shell would, its pipes in hand"
)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn manager(server: u16, dir: &std::path::Path) -> Child {
    let kubeconfig = format!(
        r#"{{"apiVersion":"v1","kind":"Config","current-context":"c","users":[{{"name":"u","user":{{}}}}],
        "clusters":[{{"name":"c","cluster":{{"server":"http://127.0.0.1:{server}"}}}}],
        "contexts":[{{"name":"c","context":{{"cluster":"c","user":"u"}}}}]}}"#
    );
    let configuration = format!(
        r#"{{"apiVersion":"config.kueue.x-k8s.io/v1beta2","kind":"Configuration","featureGates":{{"VisibilityOnDemand":false}},
        "health":{{"healthProbeBindAddress":"0"}},"metrics":{{"bindAddress":"0"}},
        "webhook":{{"host":"127.0.0.1","port":{}}},"leaderElection":{{"leaderElect":false}}}}"#,
        free_port()
    );
    std::fs::write(dir.join("kubeconfig"), kubeconfig).unwrap();
    std::fs::write(dir.join("config.yaml"), configuration).unwrap();
    Command::new(env!("CARGO_BIN_EXE_kueue-manager"))
        .arg("--zap-log-level=debug")
        .arg("--config")
        .arg(dir.join("config.yaml"))
        .arg("--kubeconfig")
        .arg(dir.join("kubeconfig"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn signal(which: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([which, &pid.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

fn ends_when_told(name: &str, server: u16, read_on: bool) {
    let dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(server.to_string());
    std::fs::create_dir_all(&dir).unwrap();
    let mut child = manager(server, &dir);
    let mut log = BufReader::new(child.stderr.take().unwrap());
    // Said once signals are listened for.
    let mut lines = log.by_ref().lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("starting")), "{name}");
    let reader = read_on
        .then(|| std::thread::spawn(move || log.lines().map_while(Result::ok).collect::<Vec<_>>()));
    let pid = child.id();
    signal("-TERM", pid);
    let (ended, end) = mpsc::channel();
    std::thread::spawn(move || ended.send(child.wait()));
    let Ok(status) = end.recv_timeout(PATIENCE) else {
        signal("-KILL", pid);
        panic!("{name}: still there {PATIENCE:?} after SIGTERM");
    };
    assert!(status.unwrap().success(), "{name}");
    if let Some(reader) = reader {
        let said = reader.join().unwrap();
        assert!(
            said.iter().any(|line| line.contains("stopping")),
            "{name}: {said:#?}"
        );
    }
}

#[test]
fn told_to_stop_it_stops() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    let cases = [
        ("no API server", free_port(), true),
        ("no API server, nobody reads the log", free_port(), false),
        ("an API server that never answers", silent_port, true),
    ];
    for (name, server, read_on) in cases {
        ends_when_told(name, server, read_on);
    }
}
