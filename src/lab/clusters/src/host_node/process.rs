//! One run of a container: the program in its sandbox, its output in a log, and its end.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use exec::process::Signal;
use exec::{Bind, Cmd, ExecError, Limits, Sandbox, User};
use jiff::Timestamp;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Options;
use super::expand::expand;
use super::logs::Log;
use super::plan::PodPlan;

/// Where the API server answers in a sandbox.
const API: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 6443);
const LEAST_MEMORY: u64 = 256 * 1024 * 1024;
const MOST_MEMORY: u64 = 1024 * 1024 * 1024;

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
    relay: PathBuf,
    kill: CancellationToken,
    run: JoinHandle<End>,
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
    sandbox.ro.push(Bind::new(&container.program.binary, &container.program.inside));
    for mount in &container.mounts {
        let host = dir.volume(&mount.volume);
        let host = mount.sub_path.as_ref().map_or_else(|| host.clone(), |path| host.join(path));
        let bind = Bind::new(host, &mount.inside);
        if mount.writable {
            sandbox.rw.push(bind);
        } else {
            sandbox.ro.push(bind);
        }
    }
    sandbox.env = env.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
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
        memory: container.memory.unwrap_or(MOST_MEMORY).clamp(LEAST_MEMORY, MOST_MEMORY),
        ..Limits::default()
    };
    let argv: Vec<String> = container.argv.iter().map(|arg| expand(arg, env)).collect();
    sandbox.wrap(&argv)
}

impl Process {
    /// Starts `cmd`; its output goes to `log`.
    pub(super) fn start(cmd: Cmd, relay: PathBuf, log: &Arc<Log>, clock: fn() -> Timestamp) -> Self {
        let kill = CancellationToken::new();
        let mut writer = log.writer();
        let killed = kill.clone();
        let run = tokio::spawn(async move {
            let ended = cmd.run_lines(&killed, |stream, line| writer.line(stream, line, clock())).await;
            to_end(ended)
        });
        Self { relay, kill, run }
    }

    /// Completes when the container has ended. May be dropped and called again.
    pub(super) async fn ended(&mut self) -> End {
        match (&mut self.run).await {
            Ok(end) => end,
            Err(_) => End { code: 137, failure: Some("the container's run was lost".to_owned()) },
        }
    }

    /// Asks the program to end.
    pub(super) async fn terminate(&self) {
        // A relay that is not there yet, or no longer, leaves it to the kill that follows.
        if let Err(error) = exec::relay::signal(&self.relay, Signal::TERM).await {
            tracing::debug!(%error, "signal a container");
        }
    }

    /// Ends the program now.
    pub(super) fn kill(&self) {
        self.kill.cancel();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill.cancel();
    }
}

fn to_end(ended: Result<exec::Output, ExecError>) -> End {
    match ended {
        Ok(_) => End { code: 0, failure: None },
        Err(ExecError::Failed { output, .. }) => End { code: output.code.unwrap_or(137), failure: None },
        Err(ExecError::Cancelled { .. }) => End { code: 137, failure: None },
        Err(error) => End { code: 128, failure: Some(error.to_string()) },
    }
}
