use exec::process::Signal;
use exec::{Grouping, relay};

use crate::child::until;
use crate::sandbox::sandbox;

#[tokio::test]
async fn loader_variables_reach_the_command_and_nobody_on_the_way() {
    let Some(mut sandbox) = sandbox() else { return };
    let dir = tempfile::tempdir().unwrap();
    let socket = dir.path().join("pod.sock");
    sandbox.relay_in = Some(socket.clone());
    for (name, value) in [
        ("LD_PRELOAD", "/nowhere/evil.so"),
        ("GLIBC_TUNABLES", "glibc.malloc.check=1"),
        ("TWICE", "first"),
        ("TWICE", "second"),
    ] {
        sandbox.env.push((name.to_owned(), value.to_owned()));
    }
    // Builtins only: every program that starts with such a variable complains of the library once.
    let print = "echo $LD_PRELOAD $GLIBC_TUNABLES $TWICE left: ${!SANDBOX*}";
    let seen = "/nowhere/evil.so glibc.malloc.check=1 second left:\n";
    let complaint = "object '/nowhere/evil.so' from LD_PRELOAD cannot be preloaded";
    let argv = ["bash", "-c", print];
    let output = sandbox.wrap(&argv).unwrap().output().await.unwrap();
    // Left behind, and no sign of life of the next sandbox.
    std::fs::remove_file(&socket).unwrap();
    assert_eq!(output.stdout, seen);
    let complaints = output.stderr.matches(complaint).count();
    assert_eq!(complaints, 1, "{}", output.stderr);

    let cmd = sandbox.wrap(&["sleep", "1000"]).unwrap();
    let mut child = cmd.spawn(Grouping::Own, None).unwrap();
    until(|| socket.exists()).await;
    let argv = argv.map(str::to_owned);
    let (code, said) = relay::exec(&socket, &argv).await.unwrap();
    assert_eq!((code, said.matches(complaint).count()), (0, 1), "{said}");
    assert!(said.starts_with(seen), "{said}");
    child.signal(Signal::KILL).await;
    child.wait().await.unwrap();
}
