//! One run of a container: the program in its sandbox, its output in a log, and its end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use exec::process::Signal;
use exec::{Bind, Child, Cmd, ExecError, Grouping, Limits, Sandbox, User};
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Options;
use super::expand::expand;
use super::logs::{Lines, Log};
use super::plan::PodPlan;

/// Where the API server answers in a sandbox.
const API: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 6443);
const LEAST_MEMORY: u64 = 256 * 1024 * 1024;
const MOST_MEMORY: u64 = 1024 * 1024 * 1024;

const PENDING_PIECES: usize = 64;
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The folders of one pod.
#[derive(Debug, Clone)]
pub(super) struct PodDir(PathBuf);

impl PodDir {
    pub(super) fn new(root: &Path, uid: &str) -> Self {
        Self(root.join(uid))
    }

    pub(super) fn volume(&self, name: &str) -> PathBuf {
        self.0.join("volumes").join(name)
    }

    pub(super) fn logs(&self) -> PathBuf {
        self.0.join("logs")
    }

    /// The socket of the relay inside; its folder is let into the sandbox, so it holds nothing else.
    pub(super) fn relay(&self) -> PathBuf {
        self.0.join("in").join("relay.sock")
    }

    pub(super) fn make(&self) -> std::io::Result<()> {
        std::fs::create_dir_all(self.0.join("in"))
    }

    pub(super) fn remove(&self) -> std::io::Result<()> {
        std::fs::remove_dir_all(&self.0)
    }
}

/// A running container.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    output: JoinHandle<()>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct End {
    pub(super) code: i32,
    /// Why it could not even be run.
    pub(super) failure: Option<String>,
}

/// The command of a container, complete.
pub(super) fn command(
    options: &Options,
    plan: &PodPlan,
    dir: &PodDir,
    env: &BTreeMap<String, String>,
) -> Result<Cmd, ExecError> {
    let container = &plan.container;
    let mut sandbox = Sandbox::with_relay(&options.sandbox_relay)?;
    sandbox.ro.push(Bind::new(
        &container.program.binary,
        &container.program.inside,
    ));
    for mount in &container.mounts {
        let host = dir.volume(&mount.volume);
        let host = mount
            .sub_path
            .as_ref()
            .map_or_else(|| host.clone(), |path| host.join(path));
        let bind = Bind::new(host, &mount.inside);
        if mount.writable {
            sandbox.rw.push(bind);
        } else {
            sandbox.ro.push(bind);
        }
    }
    sandbox.env = env
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    sandbox.cwd = container.cwd.clone().into();
    sandbox.hostname.clone_from(&plan.hostname);
    sandbox.user = User {
        name: "nonroot".to_owned(),
        uid: container.user,
        gid: container.group,
        home: "/".into(),
        shell: "/sbin/nologin".into(),
    };
    sandbox.relay_out = vec![(API, options.api_socket.clone())];
    sandbox.relay_in = Some(dir.relay());
    sandbox.limits = Limits {
        processes: 128,
        // The pod's own limit, within what this machine can give; less than the least and nothing would start.
        memory: container
            .memory
            .unwrap_or(MOST_MEMORY)
            .clamp(LEAST_MEMORY, MOST_MEMORY),
        ..Limits::default()
    };
    let argv: Vec<String> = container.argv.iter().map(|arg| expand(arg, env)).collect();
    sandbox.wrap(&argv)
}

impl Process {
    /// Starts `cmd`; its output goes to `log`.
    pub(super) fn start(cmd: &Cmd, log: &Log, clock: fn() -> Timestamp) -> Result<Self, ExecError> {
        let (to, mut pieces) = mpsc::channel(PENDING_PIECES);
        let child = cmd.spawn_pieces(Grouping::Inherited, to)?;
        let mut writer = log.writer();
        let output = tokio::spawn(async move {
            let mut lines = Lines::default();
            while let Some((stream, piece)) = pieces.recv().await {
                lines.add(stream, &piece, |line| writer.line(stream, line, clock()));
            }
            lines.finish(|stream, line| writer.line(stream, line, clock()));
        });
        Ok(Self { child, output })
    }

    /// Completes when the container has ended and its last words are in the log. May be dropped and called again.
    pub(super) async fn ended(&mut self) -> End {
        let end = match self.child.wait().await {
            Ok(status) => End {
                code: code(status),
                failure: None,
            },
            Err(error) => End {
                code: 137,
                failure: Some(error.to_string()),
            },
        };
        // Something the program left behind may hold its output open; that is no reason to wait for ever.
        let _ = tokio::time::timeout(LAST_WORDS, &mut self.output).await;
        end
    }

    /// Asks the program to end.
    pub(super) async fn terminate(&self) {
        self.child.signal(Signal::TERM).await;
    }

    /// Ends the program now.
    pub(super) async fn kill(&self) {
        self.child.signal(Signal::KILL).await;
    }
}

fn code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(9))
}
