use std::net::Ipv4Addr;

use super::{Container, Share};
use crate::{Bind, Cmd};

fn container() -> Container {
    Container {
        engine: "/usr/bin/docker".into(),
        name: "ak-1-solo-poste".to_owned(),
        image: "atelier-kueue/workstation:1".to_owned(),
        network: "ak-1-solo".to_owned(),
        labels: vec![("atelier.kueue/poste".to_owned(), "ak-1-solo".to_owned())],
        ro: vec![Bind::new("/srv/chart", "/opt/atelier/kueue")],
        rw: vec![Bind::new("/srv/home", "/home/stagiaire")],
        env: vec![("HOME".to_owned(), "/home/stagiaire".to_owned())],
        cwd: "/home/stagiaire".into(),
        hostname: "cassiopee".to_owned(),
        user: (1000, 1000),
        share: Share {
            cpus: "1.5".to_owned(),
            memory: 2048,
            processes: 300,
            file_size: 64,
            open_files: 4096,
            tmp_size: 128,
        },
        internet: false,
    }
}

fn words(cmd: &Cmd) -> Vec<String> {
    cmd.argv()
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// The values that follow an option.
fn values<'a>(words: &'a [String], option: &str) -> Vec<&'a str> {
    let pairs = words.iter().zip(words.iter().skip(1));
    pairs
        .filter(|(name, _)| *name == option)
        .map(|(_, value)| value.as_str())
        .collect()
}

#[test]
fn it_has_no_rights_a_read_only_root_and_a_share_of_the_machine() {
    let words = words(&container().start());
    assert_eq!(values(&words, "--cap-drop"), ["ALL"]);
    assert_eq!(values(&words, "--security-opt"), ["no-new-privileges"]);
    assert_eq!(values(&words, "--user"), ["1000:1000"]);
    assert_eq!(values(&words, "--network"), ["ak-1-solo"]);
    assert_eq!(values(&words, "--cpus"), ["1.5"]);
    assert_eq!(values(&words, "--memory"), ["2048"]);
    assert_eq!(values(&words, "--memory-swap"), ["2048"], "no swap");
    assert_eq!(values(&words, "--pids-limit"), ["300"]);
    assert_eq!(
        values(&words, "--ulimit"),
        ["fsize=64", "nofile=4096", "core=0"]
    );
    assert_eq!(values(&words, "--tmpfs"), ["/tmp:rw,nosuid,nodev,size=128"]);
    assert!(words.iter().any(|word| word == "--read-only"));
    for forbidden in [
        "--privileged",
        "--cap-add",
        "--publish",
        "--device",
        "--volume",
        "--pid",
    ] {
        assert!(!words.iter().any(|word| word == forbidden), "{forbidden}");
    }
}

#[test]
fn it_sees_what_is_bound_and_never_the_engine() {
    let words = words(&container().start());
    assert_eq!(
        values(&words, "--mount"),
        [
            "type=bind,source=/srv/chart,target=/opt/atelier/kueue,readonly",
            "type=bind,source=/srv/home,target=/home/stagiaire",
        ]
    );
    assert!(
        !words.iter().any(|word| word.contains(".sock")),
        "{words:?}"
    );
    let image = words
        .iter()
        .position(|word| word == "atelier-kueue/workstation:1");
    assert_eq!(
        words.get(image.unwrap() + 1).unwrap(),
        "-c",
        "nothing of the image runs"
    );
}

#[test]
fn routes_are_cut_from_outside_and_the_machine_stays_out_of_reach() {
    let gateway = [Ipv4Addr::new(172, 18, 0, 1)];
    let closed = container().cut("node:1", &gateway);
    let text = |cmd: &Cmd| String::from_utf8(cmd.stdin.clone().unwrap()).unwrap();
    assert!(text(&closed).contains("route del default\n"));
    assert!(text(&closed).contains("unreachable 172.18.0.1/32\n"));
    assert!(text(&closed).contains("unreachable 169.254.0.0/16\n"));
    assert_eq!(values(&words(&container().start()), "--dns"), ["192.0.2.1"]);
    let open = Container {
        internet: true,
        ..container()
    };
    assert_eq!(values(&words(&open.start()), "--dns"), [""; 0]);
    let open = open.cut("node:1", &gateway);
    assert!(!text(&open).contains("default"), "{}", text(&open));
    assert!(text(&open).contains("unreachable 172.18.0.1/32\n"));
    assert!(text(&open).contains("unreachable 169.254.0.0/16\n"));
    let words = words(&closed);
    assert_eq!(values(&words, "--network"), ["container:ak-1-solo-poste"]);
    assert_eq!(values(&words, "--cap-add"), ["NET_ADMIN"]);
    assert!(words.iter().any(|word| word == "--rm"));
}

#[test]
fn shells_are_entered_and_ended_by_the_name_of_their_terminal() {
    let entered = container().enter(&["bash", "-i"], "7", true).to_string();
    assert_eq!(
        entered,
        "/usr/bin/docker exec --user 1000:1000 --interactive --env ATELIER_TERMINAL=7 --tty --env TERM=xterm-256color ak-1-solo-poste bash -i"
    );
    let script = container().enter(&["ls"], "8", false).to_string();
    assert_eq!(
        script,
        "/usr/bin/docker exec --user 1000:1000 --interactive --env ATELIER_TERMINAL=8 ak-1-solo-poste ls"
    );
    let words = words(&container().end("7"));
    assert_eq!(words.last().unwrap(), "ATELIER_TERMINAL=7");
}
