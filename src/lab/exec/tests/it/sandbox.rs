use std::path::Path;
use std::time::Duration;

use exec::process::Signal;
use exec::{Bind, Cmd, Grouping, Pty, PtySize, Sandbox, relay};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use crate::child::until;
use crate::pty::read_until;

/// `None` where bubblewrap is missing and that may be.
pub(crate) fn sandbox() -> Option<Sandbox> {
    if Sandbox::bubblewrap().is_none() && std::env::var_os("CI").is_none() {
        eprintln!("skipped: bubblewrap is not installed");
        return None;
    }
    let mut sandbox = Sandbox::with_relay(env!("CARGO_BIN_EXE_sandbox-relay")).unwrap();
    sandbox.env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    Some(sandbox)
}

async fn said(sandbox: &Sandbox, script: &str) -> String {
    let output = sandbox
        .wrap(&["sh", "-c", script])
        .unwrap()
        .output()
        .await
        .unwrap();
    format!("{}{}", output.stdout, output.stderr)
}

#[tokio::test]
async fn sees_nothing_of_the_host_but_what_was_let_in() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("given"), "for you").unwrap();
    std::fs::write(dir.path().join("secret"), "not for you").unwrap();
    std::fs::create_dir(dir.path().join("work")).unwrap();
    sandbox
        .ro
        .push(Bind::new(dir.path().join("given"), "/given"));
    sandbox
        .rw
        .push(Bind::new(dir.path().join("work"), "/home/user/work"));
    let cases = [
        ("a file let in", "cat /given", "for you"),
        (
            "another of its folder",
            &format!("cat {}/secret", dir.path().display()),
            "cat: ",
        ),
        (
            "writing where it may",
            "echo x > /home/user/work/made && echo ok",
            "ok\n",
        ),
        (
            "writing where it may not",
            "echo x > /given && echo ok",
            "sh: ",
        ),
        ("the root is read-only", "mkdir /new", "mkdir: "),
        ("no home of the host", "ls /root", "ls: "),
        ("passwords", "ls /etc/shadow", "ls: "),
        (
            "processes of the host",
            "ls /proc | grep -c '^[0-9]' | { read n; [ $n -lt 8 ] && echo few; }",
            "few\n",
        ),
        (
            "capabilities",
            "grep CapEff /proc/self/status",
            "CapEff:\t0000000000000000\n",
        ),
        (
            "capabilities to gain",
            "grep CapBnd /proc/self/status",
            "CapBnd:\t0000000000000000\n",
        ),
        ("who it is", "id -un; id -u", "user\n1000\n"),
        (
            "environment",
            "env | grep -v -e ^PWD= -e ^SHLVL= -e ^_=",
            "PATH=/usr/bin:/bin\n",
        ),
        ("network", "cat /proc/net/route | wc -l", "1\n"),
        (
            "a new user namespace with rights",
            "unshare -r mount -t tmpfs none /usr && echo got",
            "unshare: ",
        ),
    ];
    for (name, script, beginning) in cases {
        let said = said(&sandbox, script).await;
        assert!(said.starts_with(beginning), "{name}: {said:?}");
    }
    assert!(dir.path().join("work/made").exists());
}

#[tokio::test]
async fn exit_codes_pass_through() {
    let Some(sandbox) = sandbox() else { return };
    for (argv, code) in [
        (["sh", "-c", "exit 0"], 0),
        (["sh", "-c", "exit 42"], 42),
        (["sh", "-c", "kill -9 $$"], 137),
        (["no-such-program", "", ""], 127),
    ] {
        assert_eq!(
            sandbox.wrap(&argv).unwrap().output().await.unwrap().code,
            Some(code),
            "{argv:?}"
        );
    }
}

#[tokio::test]
async fn limits_hold() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    sandbox.rw.push(Bind::new(dir.path(), "/work"));
    sandbox.limits.file_size = 1024 * 1024;
    sandbox.limits.tmp_size = 2 * 1024 * 1024;
    sandbox.limits.processes = 40;
    let big = said(
        &sandbox,
        "dd if=/dev/zero of=/work/big bs=64k count=64 2>/dev/null; stat -c %s /work/big",
    )
    .await;
    assert!(big.ends_with("1048576\n"), "{big:?}");
    let full = said(
        &sandbox,
        "for i in 1 2 3 4; do head -c 1000000 /dev/zero > /tmp/$i; done",
    )
    .await;
    assert!(full.contains("No space left"), "{full:?}");
    let shm = said(&sandbox, "head -c 1000 /dev/zero > /dev/x && echo open").await;
    assert!(!shm.contains("open"), "{shm:?}");
}

#[tokio::test]
async fn too_many_processes_are_stopped() {
    let Some(mut sandbox) = sandbox() else { return };
    sandbox.limits.processes = 60;
    let bomb =
        "i=0; while [ $i -lt 400 ]; do sleep 1000 & i=$((i+1)); done; sleep 3; echo survived";
    let output = sandbox
        .wrap(&["sh", "-c", bomb])
        .unwrap()
        .deadline(Duration::from_secs(60))
        .output()
        .await
        .unwrap();
    assert!(
        output.stdout.is_empty() || output.stderr.contains("fork"),
        "{output:?}"
    );
}

#[tokio::test]
async fn memory_of_one_process_is_limited() {
    let Some(mut sandbox) = sandbox() else { return };
    sandbox.limits.memory = 64 * 1024 * 1024;
    let output = sandbox
        .wrap(&["sh", "-c", "head -c 300000000 /dev/zero | tail >/dev/null"])
        .unwrap();
    let output = output
        .deadline(Duration::from_secs(60))
        .output()
        .await
        .unwrap();
    assert!(output.stderr.contains("memory"), "{output:?}");
}

#[tokio::test]
async fn an_address_inside_is_carried_to_a_socket_outside_even_when_that_is_made_anew() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("api.sock");
    sandbox
        .relay_out
        .push(("127.0.0.1:6443".parse().unwrap(), socket.clone()));
    // The second listener takes the place of the first while the sandbox runs.
    let server = tokio::spawn(async move {
        for answer in ["first\n", "second\n"] {
            let _ = std::fs::remove_file(&socket);
            let listener = UnixListener::bind(&socket).unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    until(|| dir.path().join("api.sock").exists()).await;
    let ask = "exec 3<>/dev/tcp/127.0.0.1/6443; read -r line <&3; echo \"$line\"; exec 3<&-";
    let script = format!(
        "{ask}; while [ \"$line\" != second ]; do sleep 0.05; {{ {ask}; }} 2>/dev/null; done"
    );
    let output = sandbox
        .wrap(&["bash", "-c", &script])
        .unwrap()
        .deadline(Duration::from_secs(20))
        .run()
        .await
        .unwrap();
    assert_eq!(
        output
            .stdout
            .lines()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>(),
        ["first", "second"]
    );
    server.await.unwrap();
}

#[tokio::test]
async fn a_socket_with_company_is_refused() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("control.sock"), "").unwrap();
    sandbox.relay_out.push((
        "127.0.0.1:6443".parse().unwrap(),
        dir.path().join("api.sock"),
    ));
    let error = sandbox.wrap(&["true"]).unwrap_err().to_string();
    assert!(
        error.contains("control.sock would be let in together with"),
        "{error}"
    );
}

#[tokio::test]
async fn the_host_reaches_a_port_inside_runs_a_probe_and_signals_the_command() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("pod.sock");
    sandbox.relay_in = Some(socket.clone());
    sandbox.tmpfs.push(("/scratch".into(), 1024 * 1024));
    let script = "trap 'exit 9' TERM; echo hello > /scratch/f; while :; do sleep 0.05; done";
    let cmd = sandbox.wrap(&["sh", "-c", script]).unwrap();
    let mut child = cmd.spawn(Grouping::Inherited, None).unwrap();
    until(|| socket.exists()).await;

    let argv = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    while relay::exec(&socket, &argv(&["test", "-f", "/scratch/f"]))
        .await
        .unwrap()
        .0
        != 0
    {}
    assert_eq!(
        relay::exec(&socket, &argv(&["cat", "/scratch/f"]))
            .await
            .unwrap(),
        (0, "hello\n".to_owned())
    );
    assert!(
        relay::exec(&socket, &argv(&["no-such-program"]))
            .await
            .is_err()
    );
    let error = relay::connect(&socket, 8080).await.unwrap_err().to_string();
    assert!(error.contains("refused"), "{error}");

    assert_eq!(
        child.stop(Duration::from_secs(10)).await.unwrap().code(),
        Some(9)
    );
}

#[tokio::test]
async fn bytes_flow_to_a_port_inside_and_back() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    // A socket inside is reached through the relay by another sandbox's address: both directions at once.
    let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&outside).unwrap();
    sandbox.relay_in = Some(inside.join("s"));
    sandbox
        .relay_out
        .push(("127.0.0.1:7000".parse().unwrap(), outside.join("s")));
    let listener = UnixListener::bind(outside.join("s")).unwrap();
    let mut child = sandbox
        .wrap(&["sleep", "1000"])
        .unwrap()
        .spawn(Grouping::Own, None)
        .unwrap();
    until(|| inside.join("s").exists()).await;
    let socket = inside.join("s");
    let (near, far) = tokio::join!(relay::connect(&socket, 7000), listener.accept());
    let (mut near, (mut far, _)) = (near.unwrap(), far.unwrap());
    near.write_all(b"ping").await.unwrap();
    let mut buffer = [0; 4];
    far.read_exact(&mut buffer).await.unwrap();
    far.write_all(b"pong").await.unwrap();
    near.read_exact(&mut buffer).await.unwrap();
    assert_eq!(&buffer, b"pong");
    child.signal(Signal::KILL).await;
    child.wait().await.unwrap();
}

#[tokio::test]
async fn killing_the_sandbox_kills_everything_in_it() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    sandbox.rw.push(Bind::new(dir.path(), "/work"));
    let script = "(while :; do date +%N > /work/alive; sleep 0.05; done) & sleep 1000";
    let mut child = sandbox
        .wrap(&["sh", "-c", script])
        .unwrap()
        .spawn(Grouping::Own, None)
        .unwrap();
    let alive = dir.path().join("alive");
    until(|| alive.exists()).await;
    child.signal(Signal::KILL).await;
    child.wait().await.unwrap();
    // Whoever still lived would write the file again.
    until(|| std::fs::remove_file(&alive).is_ok() || !alive.exists()).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!alive.exists());
}

#[tokio::test]
async fn a_shell_in_a_sandbox_owns_its_terminal() {
    let Some(mut sandbox) = sandbox() else { return };
    sandbox.terminal = true;
    sandbox.env.push(("TERM".to_owned(), "xterm".to_owned()));
    sandbox.env.push(("PS1".to_owned(), "ready> ".to_owned()));
    let cmd = sandbox.wrap(&["bash", "--norc", "-i"]).unwrap();
    let (pty, mut output) = Pty::spawn(&cmd, PtySize { rows: 24, cols: 80 }).unwrap();
    let start = read_until(&mut output, "ready> ").await;
    assert!(!start.contains("job control"), "{start:?}");
    // Interrupted by the terminal, suspended by it, taken up again: all three need a shell that owns its terminal.
    pty.write("sleep 1000\n").await.unwrap();
    read_until(&mut output, "sleep 1000\r\n").await;
    until(|| state_of("sleep", "1000").is_some()).await;
    pty.write("\u{3}").await.unwrap();
    read_until(&mut output, "ready> ").await;
    pty.write("echo code $?\n").await.unwrap();
    read_until(&mut output, "code 130").await;
    pty.write("sleep 1001\n").await.unwrap();
    until(|| state_of("sleep", "1001").is_some()).await;
    pty.write("\u{1a}").await.unwrap();
    read_until(&mut output, "Stopped").await;
    pty.write("fg\n").await.unwrap();
    // It goes on only once the terminal is its own.
    until(|| state_of("sleep", "1001") == Some('S')).await;
    pty.write("\u{3}").await.unwrap();
    read_until(&mut output, "ready> ").await;
    pty.write("echo back $?\n").await.unwrap();
    read_until(&mut output, "back 130").await;
    pty.write("exit 3\n").await.unwrap();
    assert_eq!(pty.wait().await.unwrap().code(), Some(3));
}

/// The kernel's letter for what a process does: `S` waits, `T` is stopped.
fn state_of(program: &str, argument: &str) -> Option<char> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .find_map(|entry| {
            let line = std::fs::read(entry.path().join("cmdline")).ok()?;
            let wanted = line == format!("{program}\0{argument}\0").as_bytes();
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            stat.rsplit_once(") ")
                .and_then(|(_, rest)| rest.chars().next())
                .filter(|_| wanted)
        })
}

#[tokio::test]
async fn works_for_an_ordinary_user_too() {
    let Some(sandbox) = sandbox() else { return };
    if !rustix::process::getuid().is_root()
        || exec::find_program("setpriv", "/usr/bin".as_ref()).is_none()
    {
        eprintln!("skipped: only root can become somebody else");
        return;
    }
    // The relay lies in a folder that an ordinary user may not enter, so it gets a copy.
    let dir = tempfile::Builder::new()
        .permissions(permissions(0o755))
        .tempdir()
        .unwrap();
    let copy = dir.path().join("sandbox-relay");
    std::fs::copy(&sandbox.relay, &copy).unwrap();
    let sandbox = Sandbox {
        relay: copy,
        ..sandbox
    };
    let inner = sandbox
        .wrap(&["sh", "-c", "id -u; grep CapEff /proc/self/status"])
        .unwrap();
    let cmd = Cmd::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
        .args(inner.argv())
        .env("PATH", "/usr/bin:/bin")
        .cwd(Path::new("/"));
    let output = cmd.output().await.unwrap();
    assert_eq!(
        output.stdout, "1000\nCapEff:\t0000000000000000\n",
        "{output:?}"
    );
}

fn permissions(mode: u32) -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(mode)
}
