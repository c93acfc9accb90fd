//! Sets up, starts the command, and waits for it while passing signals on.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use exec::process::{Signal, signal_process};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::options::Options;
use crate::{guard, inbound, outbound};

/// Why the command could not be run, with the exit code that shells use for it.
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) reason: String,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { code: 125, reason }
    }
}

/// The environment of whatever is run inside. The relay's own is another one, which nothing inherits.
pub(crate) type Environment = Vec<(OsString, OsString)>;

pub(crate) async fn run(mut options: Options, env: Environment) -> Result<u8, Failure> {
    describe_user(&options);
    for (address, socket) in std::mem::take(&mut options.out) {
        outbound::listen(address, socket).await?;
    }
    let listener = options
        .inbound
        .as_deref()
        .map(inbound::listen)
        .transpose()?;
    let mut signals = forwarded_signals(options.terminal)?;
    guard::limit(&options)?;

    let mut command = start(&options, &env)?;
    let pid = command.id().unwrap_or_default();
    if let Some(listener) = listener {
        inbound::serve(listener, pid, env);
    }
    loop {
        tokio::select! {
            status = command.wait() => {
                return status.map(exit_code).map_err(|error| Failure::from(error.to_string()));
            }
            Some(signal) = signals.recv() => {
                signal_process(pid, signal);
            }
            () = guard::too_many_processes(options.processes) => {
                let limit = options.processes.unwrap_or_default();
                return Err(Failure { code: 137, reason: format!("more than {limit} processes: all of them were stopped") });
            }
        }
    }
}

fn start(options: &Options, env: &Environment) -> Result<tokio::process::Child, Failure> {
    let (program, args) = options
        .argv
        .split_first()
        .ok_or_else(|| Failure::from("no command".to_owned()))?;
    prepared(program, args, env).spawn().map_err(|error| {
        let code = if error.kind() == std::io::ErrorKind::NotFound {
            127
        } else {
            126
        };
        Failure {
            code,
            reason: format!("{}: {error}", program.to_string_lossy()),
        }
    })
}

/// The one place where a program is prepared.
pub(crate) fn prepared<A: AsRef<OsStr>>(
    program: &OsStr,
    args: &[A],
    env: &Environment,
) -> tokio::process::Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "this program is the inner half of exec"
    )]
    let mut command = tokio::process::Command::new(program);
    command.args(args).env_clear();
    command.envs(env.iter().map(|(name, value)| (name, value)));
    command
}

/// The terminal itself signals the command that is in the foreground; passing those on would double them.
fn forwarded_signals(terminal: bool) -> Result<mpsc::Receiver<Signal>, String> {
    let from_terminal = [
        (SignalKind::interrupt(), Signal::INT),
        (SignalKind::quit(), Signal::QUIT),
    ];
    let from_elsewhere = [
        (SignalKind::terminate(), Signal::TERM),
        (SignalKind::hangup(), Signal::HUP),
        (SignalKind::user_defined1(), Signal::USR1),
        (SignalKind::user_defined2(), Signal::USR2),
    ];
    let (to, received) = mpsc::channel(8);
    for (kind, number) in from_terminal.into_iter().chain(from_elsewhere) {
        let mut stream =
            signal(kind).map_err(|error| format!("cannot receive signals: {error}"))?;
        // Received also where it is not passed on: the relay must not die of it.
        let to = (!terminal || !from_terminal.iter().any(|(_, taken)| *taken == number))
            .then(|| to.clone());
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if let Some(to) = &to {
                    let _ = to.send(number).await;
                }
            }
        });
    }
    Ok(received)
}

/// Programs ask who they are. `/etc` is a small folder in memory, unless the caller put files of its own there.
fn describe_user(options: &Options) {
    let Some(name) = &options.user else { return };
    let (uid, gid) = (
        rustix::process::getuid().as_raw(),
        rustix::process::getgid().as_raw(),
    );
    let (home, shell) = (&options.home, &options.shell);
    let files = [
        (
            "/etc/passwd",
            format!("{name}:x:{uid}:{gid}:{name}:{home}:{shell}\n"),
        ),
        ("/etc/group", format!("{name}:x:{gid}:\n")),
        (
            "/etc/hosts",
            "127.0.0.1 localhost\n::1 localhost\n".to_owned(),
        ),
        (
            "/etc/nsswitch.conf",
            "passwd: files\ngroup: files\nhosts: files\n".to_owned(),
        ),
    ];
    for (path, text) in files {
        let _ = fs::write(path, text);
    }
}

fn exit_code(status: ExitStatus) -> u8 {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
    u8::try_from(code).unwrap_or(255)
}
