use std::path::PathBuf;

use expect_test::expect;

use super::{Bind, Sandbox};

/// Any programs do: nothing is started.
fn sandbox() -> Sandbox {
    Sandbox::from_parts(PathBuf::from("/bin/sh"), PathBuf::from("/bin/sh"))
}

#[test]
fn refuses_what_would_open_the_sandbox() {
    let check = |bind: Bind| {
        let mut sandbox = sandbox();
        sandbox.ro.push(bind);
        sandbox
            .wrap(&["true"])
            .map_or_else(|error| error.to_string(), |_| "let in".to_owned())
    };
    expect!["sandbox refused: / cannot be a place inside: give an absolute path below the root, not a kernel folder"]
        .assert_eq(&check(Bind::new("/usr", "/")));
    expect!["sandbox refused: /proc cannot be a place inside: give an absolute path below the root, not a kernel folder"]
        .assert_eq(&check(Bind::new("/usr", "/proc")));
    expect!["sandbox refused: /a/../b cannot be a place inside: give an absolute path below the root, not a kernel folder"]
        .assert_eq(&check(Bind::new("/usr", "/a/../b")));
    expect!["sandbox refused: /no/such/thing does not exist, so it cannot appear inside"]
        .assert_eq(&check(Bind::new("/no/such/thing", "/b")));
    expect!["let in"].assert_eq(&check(Bind::new("/usr", "/b")));
}

#[test]
fn refuses_with_words_where_a_program_is_missing() {
    let without = Sandbox {
        bwrap: PathBuf::from("/no/bwrap"),
        ..sandbox()
    };
    let error = without.wrap(&["true"]).unwrap_err().to_string();
    assert!(
        error.starts_with("bubblewrap (`bwrap`) is not installed"),
        "{error}"
    );
    let without = Sandbox {
        relay: PathBuf::from("/no/relay"),
        ..sandbox()
    };
    let error = without.wrap(&["true"]).unwrap_err().to_string();
    assert!(
        error.starts_with("`sandbox-relay` is not at /no/relay"),
        "{error}"
    );
}

#[test]
fn lays_outer_mounts_before_inner_ones() {
    let mut sandbox = sandbox();
    sandbox.rw.push(Bind::new("/usr", "/home/user/a/b"));
    sandbox.ro.push(Bind::new("/usr", "/home/user/a"));
    sandbox.tmpfs.push((PathBuf::from("/home/user"), 1000));
    let argv: Vec<String> = sandbox
        .wrap(&["true"])
        .unwrap()
        .argv()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let place = |path: &str| argv.iter().position(|arg| arg == path).unwrap();
    assert!(
        place("/home/user") < place("/home/user/a")
            && place("/home/user/a") < place("/home/user/a/b")
    );
}

#[test]
fn the_environment_is_not_on_the_command_line() {
    let mut sandbox = sandbox();
    sandbox.env.push(("TOKEN".to_owned(), "secret".to_owned()));
    let cmd = sandbox.wrap(&["true"]).unwrap();
    assert!(!cmd.to_string().contains("secret") && !format!("{cmd:?}").contains("secret"));
}

#[test]
fn bubblewrap_is_given_no_variable_under_its_own_name() {
    let mut sandbox = sandbox();
    for name in ["LD_PRELOAD", "GLIBC_TUNABLES", "PATH"] {
        sandbox.env.push((name.to_owned(), "/x".to_owned()));
    }
    let cmd = sandbox.wrap(&["true"]).unwrap();
    let given: Vec<_> = cmd.env.iter().map(|(name, _)| name.clone()).collect();
    assert!(cmd.env_cleared);
    assert_eq!(
        given,
        [
            "SANDBOX_ENV_LD_PRELOAD",
            "SANDBOX_ENV_GLIBC_TUNABLES",
            "SANDBOX_ENV_PATH"
        ]
    );
    sandbox
        .env
        .push(("A=LD_PRELOAD".to_owned(), "/x".to_owned()));
    let error = sandbox.wrap(&["true"]).unwrap_err().to_string();
    assert!(
        error.contains("cannot be the name of a variable"),
        "{error}"
    );
}
