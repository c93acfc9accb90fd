//! One environment through its whole life, from the command line, and what is refused before anything is made.

use exec::{
    Cmd,
    process::{Signal, signal_process},
};
use testkit::{Platform, Programs, lacking, program};

use crate::{
    commands::{create, delete, ok, program_of, refused},
    crds, machine,
    patience::until,
};

#[tokio::test(flavor = "multi_thread")]
async fn one_environment_through_its_life() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);

    create(&platform, "vie").await;
    assert_eq!(listed(&platform).await, "vie running");
    let nodes = ok(platform.kubectl("vie", ["get", "nodes", "-o", "name"])).await;
    assert_eq!(
        nodes.lines().collect::<Vec<_>>(),
        [
            "node/a100-1",
            "node/a100-2",
            "node/cpu-1",
            "node/plateforme"
        ]
    );
    let marker = ["create", "configmap", "marker", "--from-literal=a=b"];
    ok(platform.kubectl("vie", marker)).await;

    a_killed_server_comes_back(&platform).await;
    lost_kubeconfigs_come_back(&platform).await;
    crds::hold(&platform, "vie").await;

    ok(platform.atelier(["env", "stop", "vie"])).await;
    assert_eq!(platform.processes(), Vec::<u32>::new());
    assert_eq!(listed(&platform).await, "vie stopped");
    ok(platform.atelier(["env", "start", "vie"])).await;
    marker_is_there(&platform).await;

    // As after a crash of the machine: nobody was asked to end.
    for pid in platform.processes() {
        signal_process(pid, Signal::KILL);
    }
    ok(platform.atelier(["env", "start", "vie"])).await;
    marker_is_there(&platform).await;

    delete(&platform, "vie").await;
    assert_eq!(platform.processes(), Vec::<u32>::new());
    assert!(
        !platform.environment("vie").exists(),
        "the environment's folder is left"
    );
}

/// The API server dies; the supervisor starts it again and nothing is lost.
async fn a_killed_server_comes_back(platform: &Platform) {
    let server = platform
        .processes()
        .into_iter()
        .find(|pid| program_of(*pid).ends_with("kube-apiserver"))
        .expect("an API server runs");
    signal_process(server, Signal::KILL);
    marker_is_there(platform).await;
}

/// A kubeconfig deleted under the platform is written anew, and what runs goes on running.
async fn lost_kubeconfigs_come_back(platform: &Platform) {
    let before = platform.processes().len();
    for name in ["admin.kubeconfig", "trainee.kubeconfig"] {
        std::fs::remove_file(platform.environment("vie").join(name)).expect("it was there");
    }
    ok(platform.atelier(["env", "start", "vie"])).await;
    assert_eq!(
        platform.processes().len(),
        before,
        "the environment was started anew"
    );
    marker_is_there(platform).await;
    let told = ok(platform.atelier(["env", "kubeconfig", "vie"])).await;
    assert!(told.contains("certificate"), "not a kubeconfig: {told}");
}

async fn marker_is_there(platform: &Platform) {
    let get = platform.kubectl("vie", ["get", "configmap", "marker", "-o", "name"]);
    until("the marker can be read", async || {
        get.run()
            .await
            .is_ok_and(|output| output.stdout.trim() == "configmap/marker")
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let labs = tempfile::tempdir().expect("a temporary folder");
    let profiles = labs.path().join("profiles");
    std::fs::create_dir(&profiles).expect("a folder");
    std::fs::write(profiles.join("faux.yaml"), NONSENSE).expect("a file");
    let platform = Platform::with_labs(&programs, labs.path());
    let cases = [
        (
            "a name that leaves the folder",
            vec!["../x"],
            "cannot name an environment",
        ),
        (
            "an unknown profile",
            vec!["un", "--profile", "nulle"],
            "nulle.yaml",
        ),
        (
            "a profile with nonsense",
            vec!["un", "--profile", "faux"],
            "faux.yaml:7:",
        ),
    ];
    for (case, arguments, expected) in cases {
        let said = refused(platform.atelier(["env", "create"]).args(arguments)).await;
        assert!(said.contains(expected), "{case}: {said}");
        assert_eq!(listed(&platform).await, "", "{case}");
    }
}

const NONSENSE: &str = "name: faux
title: {fr: Faux, en: Wrong}
pools:
  - name: cpu
    count: 1
    capacity: {cpu: 8, memory: 32Gi}
    taints: [\"nvidia.com/gpu=present:Jamais\"]
";

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_before_anything_is_made() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let Some(bwrap) = program("bwrap") else {
        return lacking("bubblewrap is not installed");
    };
    let platform = Platform::new(&programs);
    std::fs::create_dir(platform.data()).expect("a folder");
    // A disk of 16 MiB in place of the data folder.
    let small = Cmd::new(bwrap)
        .args(["--dev-bind", "/", "/", "--size", "16777216", "--tmpfs"])
        .arg(platform.data())
        .args(platform.atelier(["env", "create", "plein"]).argv());
    let said = refused(small).await;
    assert!(
        said.contains("free"),
        "nothing is said about free space: {said}"
    );
}

/// `NAME STATE` of each environment.
pub(crate) async fn listed(platform: &Platform) -> String {
    let table = ok(platform.atelier(["env", "list"])).await;
    table
        .lines()
        .skip(1)
        .map(|line| {
            line.split_whitespace()
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect::<Vec<_>>()
        .join(", ")
}
