//! What a program in a sandbox may see and use, turned into a bubblewrap command line.
//!
//! Nothing is visible but the system's programs, read-only, and what is listed here. There is no network: the relay
//! inside carries the named connections over unix sockets. The sandbox never starts without bubblewrap.

mod argv;
#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::relay::environment;
use crate::which::{find_program, is_executable};
use crate::{Cmd, ExecError, sibling};

/// A file or folder of the host and where it appears inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bind {
    /// On the host.
    pub host: PathBuf,
    /// In the sandbox.
    pub inside: PathBuf,
}

impl Bind {
    /// The host's `host` appears as `inside`.
    pub fn new(host: impl Into<PathBuf>, inside: impl Into<PathBuf>) -> Self {
        Self {
            host: host.into(),
            inside: inside.into(),
        }
    }
}

/// Who the program believes to be. On the host it is whoever starts it, without any capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Login name.
    pub name: String,
    /// User id inside.
    pub uid: u32,
    /// Group id inside.
    pub gid: u32,
    /// Home folder inside.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
}

/// What one process in the sandbox may use. The number of processes is that of all of them together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes and threads.
    pub processes: u64,
    /// Bytes of private memory of one process.
    pub memory: u64,
    /// Bytes of one file.
    pub file_size: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of `/tmp`.
    pub tmp_size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            processes: 512,
            memory: 1024 * MIB,
            file_size: 256 * MIB,
            open_files: 4096,
            tmp_size: 128 * MIB,
        }
    }
}

/// A sandbox that is not yet running. Mounts are laid from the outermost path inwards, whatever their order here.
#[derive(Debug, Clone)]
pub struct Sandbox {
    /// The `sandbox-relay` program on the host.
    pub relay: PathBuf,
    /// The `bwrap` program on the host.
    pub bwrap: PathBuf,
    /// Read-only.
    pub ro: Vec<Bind>,
    /// Writable.
    pub rw: Vec<Bind>,
    /// Empty writable folders in memory, with their size in bytes.
    pub tmpfs: Vec<(PathBuf, u64)>,
    /// Links to make: what they point to, and where they are.
    pub symlinks: Vec<(PathBuf, PathBuf)>,
    /// The whole environment of the program, and of the program only: neither bubblewrap nor the relay obeys it. It is
    /// handed over out of sight of `ps`.
    pub env: Vec<(String, String)>,
    /// Working folder inside.
    pub cwd: PathBuf,
    /// Host name inside.
    pub hostname: String,
    /// User inside.
    pub user: User,
    /// Addresses that answer inside, each with the host's unix socket behind it. The socket must be alone in its
    /// folder: the folder is what is let in, so that the socket may be made anew under a running sandbox.
    pub relay_out: Vec<(SocketAddr, PathBuf)>,
    /// Where on the host the relay listens for requests to ports inside; its folder is let in too.
    pub relay_in: Option<PathBuf>,
    /// Limits.
    pub limits: Limits,
    /// True when the program gets a terminal and may control it; false gives it a session without one.
    pub terminal: bool,
}

impl Sandbox {
    /// A sandbox with nothing let in, using the `bwrap` of `PATH` and the relay beside this program.
    pub fn new() -> Result<Self, ExecError> {
        let relay = sibling("sandbox-relay").ok_or_else(|| ExecError::RelayMissing {
            path: PathBuf::from("the folder of this program"),
        })?;
        Self::with_relay(relay)
    }

    /// A sandbox with nothing let in, using the `bwrap` of `PATH` and this relay.
    pub fn with_relay(relay: impl Into<PathBuf>) -> Result<Self, ExecError> {
        let relay = relay.into();
        if !is_executable(&relay) {
            return Err(ExecError::RelayMissing { path: relay });
        }
        let bwrap = Self::bubblewrap().ok_or(ExecError::SandboxMissing)?;
        Ok(Self::from_parts(relay, bwrap))
    }

    /// Where bubblewrap is, if it is installed.
    pub fn bubblewrap() -> Option<PathBuf> {
        find_program("bwrap", &std::env::var_os("PATH")?)
    }

    fn from_parts(relay: PathBuf, bwrap: PathBuf) -> Self {
        let home = PathBuf::from("/home/user");
        Self {
            relay,
            bwrap,
            ro: Vec::new(),
            rw: Vec::new(),
            tmpfs: Vec::new(),
            symlinks: Vec::new(),
            env: Vec::new(),
            cwd: PathBuf::from("/"),
            hostname: "atelier".to_owned(),
            user: User {
                name: "user".to_owned(),
                uid: 1000,
                gid: 1000,
                home,
                shell: PathBuf::from("/bin/bash"),
            },
            relay_out: Vec::new(),
            relay_in: None,
            limits: Limits::default(),
            terminal: false,
        }
    }

    /// The command that runs `argv` inside. Refuses what would open the sandbox or could not work.
    ///
    /// Variables added to the command afterwards would be bubblewrap's, on the host: they belong into [`Sandbox::env`].
    pub fn wrap<A: AsRef<str>>(&self, argv: &[A]) -> Result<Cmd, ExecError> {
        self.check()?;
        if argv.is_empty() {
            return Err(refuse("there is no command to run".to_owned()));
        }
        let mut cmd = Cmd::new(&self.bwrap)
            .args(argv::bubblewrap(self))
            .env_clear();
        for (name, value) in &self.env {
            let on_the_way = environment::disguised(name)
                .ok_or_else(|| refuse(format!("{name:?} cannot be the name of a variable")))?;
            cmd = cmd.env(on_the_way, value);
        }
        cmd = cmd
            .arg("--")
            .arg(argv::RELAY)
            .args(argv::relay(self))
            .arg("--");
        cmd.relay.clone_from(&self.relay_in);
        Ok(cmd.args(argv.iter().map(AsRef::as_ref)))
    }

    fn check(&self) -> Result<(), ExecError> {
        if !is_executable(&self.bwrap) {
            return Err(ExecError::SandboxMissing);
        }
        if !is_executable(&self.relay) {
            return Err(ExecError::RelayMissing {
                path: self.relay.clone(),
            });
        }
        for bind in self.ro.iter().chain(&self.rw) {
            check_inside(&bind.inside)?;
            if !bind.host.exists() {
                return Err(refuse(format!(
                    "{} does not exist, so it cannot appear inside",
                    bind.host.display()
                )));
            }
        }
        self.tmpfs
            .iter()
            .try_for_each(|(path, _)| check_inside(path))?;
        self.relay_out
            .iter()
            .try_for_each(|(_, socket)| check_alone(socket))
    }
}

/// The kernel's own folders belong to bubblewrap, and a root of the caller's would hide everything else.
fn check_inside(path: &Path) -> Result<(), ExecError> {
    let plain = path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
    let reserved = ["/", "/proc", "/sys", "/dev"]
        .iter()
        .any(|taken| Path::new(taken) == path);
    if plain && !reserved {
        return Ok(());
    }
    Err(refuse(format!(
        "{} cannot be a place inside: give an absolute path below the root, not a kernel folder",
        path.display()
    )))
}

/// The socket's folder is let in whole, so it must hold no other socket, say of another environment.
fn check_alone(socket: &Path) -> Result<(), ExecError> {
    let dir = socket
        .parent()
        .ok_or_else(|| refuse(format!("{} has no folder", socket.display())))?;
    let entries = dir.read_dir().map_err(|error| {
        refuse(format!(
            "cannot read {}, the folder of a socket to let in: {error}",
            dir.display()
        ))
    })?;
    for entry in entries.flatten() {
        if Some(entry.file_name().as_os_str()) != socket.file_name() {
            let stranger = entry.path();
            return Err(refuse(format!(
                "{} would be let in together with {}",
                stranger.display(),
                socket.display()
            )));
        }
    }
    Ok(())
}

fn refuse(reason: String) -> ExecError {
    ExecError::SandboxRefused { reason }
}
