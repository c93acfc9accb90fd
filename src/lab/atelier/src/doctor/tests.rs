use expect_test::expect;

use super::checks::{Facts, Severity, all};
use super::report;

fn healthy() -> Facts {
    Facts {
        debian: true,
        bubblewrap: Some("/usr/bin/bwrap".to_owned()),
        sandbox_error: None,
        helpers: vec![("sandbox-relay", true)],
        tools_missing: Vec::new(),
        tools_place: "/opt/tools".to_owned(),
        editor: Some("nano"),
        completion: true,
        node: Some("v22.1.0".to_owned()),
        go: true,
        free_memory_mib: Some(20_000),
        free_disk_mib: Some(50_000),
        data_dir: "/data".to_owned(),
        inotify_instances: Some(512),
        inotify_watches: Some(65_536),
        open_files: Some(65_536),
        chart: true,
        clusters: None,
    }
}

#[test]
fn a_healthy_machine_has_nothing_to_do() {
    assert!(
        all(&healthy(), 10)
            .iter()
            .all(|finding| finding.severity == Severity::Good)
    );
}

#[test]
fn everything_missing_is_said_with_one_command_for_all_packages() {
    let bare = Facts {
        bubblewrap: None,
        sandbox_error: Some("bubblewrap is not installed".to_owned()),
        helpers: vec![("sandbox-relay", false), ("kueue-manager", false)],
        tools_missing: vec!["etcd", "kwok"],
        editor: None,
        completion: false,
        node: None,
        go: false,
        free_memory_mib: Some(900),
        free_disk_mib: Some(1_500),
        inotify_instances: Some(128),
        inotify_watches: Some(8_192),
        open_files: Some(1_024),
        chart: false,
        ..healthy()
    };
    expect![[r"
        ✕ bubblewrap: not found
            → terminals and the controller only run in its sandbox, and refuse to start without it
        ✕ sandbox: not tried without bubblewrap
            → install it first
        ✕ helpers: sandbox-relay, kueue-manager not beside this program
            → cargo xtask up builds them
        ✕ cluster programs: etcd, kwok not in /opt/tools
            → atelier tools downloads them; to build them where releases cannot be reached, Go 1.26 or newer is needed
        ! memory: 900 MiB free; 10 environment(s) want 6000 MiB
            → fewer environments at once, or a larger machine
        ! disk: 1500 MiB free; 10 environment(s) want 5024 MiB
            → free some of the disk that holds /data, or name another folder with --data-dir
        ! inotify: 128 instances, 8192 watches a user
            → sudo sysctl -w fs.inotify.max_user_instances=512 fs.inotify.max_user_watches=524288
        ! open files: 1024 a process
            → ulimit -n 65536 before the platform is started
        ! editor for trainees: neither nano nor vim
            → trainees change YAML files in the terminal
        ! completion in the terminal: bash-completion is not there
            → kubectl and helm complete names with it
        ! Node.js: not found
            → only needed to bundle the front end from source (cargo xtask up)
        ! the controller's chart: not found
            → cargo xtask generates it; without it trainees cannot install the controller

        sudo apt-get install -y bash-completion bubblewrap nano nodejs"]]
    .assert_eq(&report(&all(&bare, 10), true));
}

#[test]
fn a_sandbox_that_does_not_work_is_explained() {
    let facts = Facts {
        sandbox_error: Some("No permissions to create new namespace".to_owned()),
        ..healthy()
    };
    let finding = all(&facts, 1)
        .into_iter()
        .find(|finding| finding.what == "sandbox")
        .unwrap();
    assert_eq!(finding.severity, Severity::Missing);
    assert!(
        finding
            .advice
            .unwrap()
            .contains("kernel.unprivileged_userns_clone=1")
    );
}

#[test]
fn kind_clusters_are_only_spoken_of_where_they_are_wanted() {
    let named = |facts: &Facts| {
        all(facts, 3)
            .into_iter()
            .find(|finding| finding.what == "kind clusters")
    };
    assert_eq!(named(&healthy()), None);
    let small = Facts {
        clusters: Some(Ok((2, "memory"))),
        ..healthy()
    };
    let finding = named(&small).unwrap();
    assert_eq!(finding.severity, Severity::Advice);
    assert_eq!(finding.found, "2 more fit, then memory is used up");
    let none = Facts {
        clusters: Some(Err("the container engine does not answer".to_owned())),
        ..healthy()
    };
    assert_eq!(named(&none).unwrap().severity, Severity::Missing);
}
