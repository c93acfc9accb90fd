//! What the containers of a cluster need, what kind is told, and what its failures mean.

use std::path::Path;

use serde_json::Value;

use super::engine::Container;
use super::life::{Need, need};
use super::preflight::{Facts, refusal, room};
use super::{Settings, cluster_name, gpus, plan, volumes, words};
use crate::profile::Profile;

fn settings() -> Settings {
    Settings {
        kind: "kind".into(),
        engine: "/usr/bin/docker".into(),
        image: super::NODE_IMAGE.to_owned(),
        node_archive: None,
        workstation: None,
        archives: Vec::new(),
    }
}

fn profile(real: bool) -> Profile {
    let text = format!(
        "name: essai\ntitle: {{fr: Essai, en: Trial}}\nnamespaces: [a]\npools:\n  - name: gpu\n    count: 2\n    {}capacity: {{cpu: 4, memory: 8Gi}}\n    gpu: {{model: a100-sxm4-80gb, count: 2}}\n    zone: z\n    racks: [r]\n",
        if real { "containers: true\n    " } else { "" }
    );
    Profile::parse(Path::new("essai.yaml"), &text).unwrap()
}

fn containers(states: &[(&str, &str)]) -> Vec<Container> {
    let container = |(name, state): &(&str, &str)| Container {
        name: (*name).to_owned(),
        state: (*state).to_owned(),
    };
    states.iter().map(container).collect()
}

#[test]
fn a_cluster_needs_what_it_lacks() {
    let both = [("c-control-plane", "running"), ("c-worker", "running")];
    assert_eq!(need(&containers(&both), 1), Need::Nothing);
    let ended = [("c-control-plane", "running"), ("c-worker", "exited")];
    let wanted = Need::Start(vec!["c-worker".to_owned()]);
    assert_eq!(need(&containers(&ended), 1), wanted);
    let alone = [("c-control-plane", "running")];
    assert!(matches!(need(&containers(&alone), 1), Need::Lost(_)));
    let headless = [("c-worker", "running")];
    let Need::Lost(what) = need(&containers(&headless), 1) else {
        panic!("a cluster without a control plane is lost");
    };
    assert_eq!(what, ["the control plane"]);
}

#[test]
fn environments_of_the_same_name_in_two_folders_have_two_clusters() {
    let one = cluster_name(Path::new("/a/environments/anne-1"));
    let other = cluster_name(Path::new("/b/environments/anne-1"));
    assert_ne!(one, other);
    assert!(one.ends_with("-anne-1"));
    let longest = format!("/a/environments/{}", "x".repeat(32));
    let container = format!("{}-control-plane", cluster_name(Path::new(&longest)));
    assert!(container.len() <= 63, "{container} must be a host name");
}

#[test]
fn kind_is_told_the_course_s_names_and_the_environment_s_authority() {
    let config: Value = serde_json::from_str(&plan::cluster(
        &profile(true),
        Path::new("/e/pki"),
        Path::new("/e/volumes"),
    ))
    .unwrap();
    let nodes = config["nodes"].as_array().unwrap();
    assert_eq!(
        nodes.len(),
        4,
        "a control plane, the platform's, and two that are real"
    );
    assert_eq!(nodes[0]["extraMounts"][0]["hostPath"], "/e/pki/ca.pem");
    let name = |node: &Value| -> Value {
        let patch = node["kubeadmConfigPatches"][0].as_str().unwrap();
        serde_json::from_str::<Value>(patch).unwrap()["nodeRegistration"]["name"].clone()
    };
    let names: Vec<Value> = nodes.iter().map(name).collect();
    assert_eq!(names, ["plan-de-controle", "plateforme", "gpu-1", "gpu-2"]);
    assert_eq!(config["networking"]["apiServerAddress"], "127.0.0.1");
    for worker in &nodes[1..] {
        assert_eq!(worker["extraMounts"][0]["hostPath"], "/e/volumes");
    }
}

#[test]
fn a_claim_that_waits_gets_a_folder_that_every_worker_sees() {
    let mut claim = serde_json::json!({
        "metadata": {"name": "points", "namespace": "equipe-vision", "uid": "u-1"},
        "spec": {
            "storageClassName": "standard",
            "accessModes": ["ReadWriteMany"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    });
    let volume =
        |claim: &Value| volumes::volume_for(&serde_json::from_value(claim.clone()).unwrap());
    let given = volume(&claim).unwrap();
    assert_eq!(given["metadata"]["name"], "pvc-u-1");
    assert_eq!(
        given["spec"]["hostPath"]["path"],
        "/var/lib/atelier/dossiers/pvc-u-1"
    );
    assert_eq!(given["spec"]["claimRef"]["uid"], "u-1");
    assert_eq!(given["spec"]["accessModes"][0], "ReadWriteMany");
    claim["status"]["phase"] = "Bound".into();
    assert_eq!(volume(&claim), None);
    claim["status"]["phase"] = "Pending".into();
    claim["spec"]["storageClassName"] = "another".into();
    assert_eq!(volume(&claim), None);
}

#[test]
fn a_profile_without_real_nodes_has_one_worker() {
    assert_eq!(plan::workers(&profile(false)), ["plateforme"]);
}

#[test]
fn the_engine_s_statistics_are_bytes() {
    let mib = 1024 * 1024;
    let read = |line| super::life::usage(line).map(|(_, bytes)| bytes);
    assert_eq!(read("a\t512MiB / 23.54GiB"), Some(512 * mib));
    assert_eq!(read("a\t1.5GiB / 23.54GiB"), Some(1536 * mib));
    assert_eq!(read("a\t-- / --"), None);
}

#[test]
fn failures_are_told_by_their_cause() {
    let cases = [
        (
            "ERROR: failed to create cluster: failed to pull image \"x\": exit status 1",
            "cargo xtask images node",
        ),
        (
            "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
            "start it",
        ),
        ("failed to copy: write /x: no space left on device", "full"),
        (
            "could not find an available, non-overlapping IPv4 address pool among the defaults",
            "address range",
        ),
        (
            "Command Output: OCI runtime create failed: fork/exec: cannot allocate memory",
            "too little memory",
        ),
        (
            "ERROR: failed to create cluster: failed to init node with kubeadm: exit status 1\n\ncgroups are fine\nerror: error execution phase certs: no key\nmain.main",
            "error: error execution phase certs: no key",
        ),
    ];
    for (said, means) in cases {
        let words = words::of(said, &settings());
        assert!(words.contains(means), "{said:?} became {words:?}");
    }
    assert_eq!(
        words::of("x\nsomething new\n", &settings()),
        "something new"
    );
}

#[test]
fn the_limit_that_binds_first_is_named() {
    let good = Facts {
        image: true,
        cgroup: Some("v2"),
        free_memory_mib: Some(16_000),
        inotify_instances: Some(1024),
        inotify_in_use: 20,
        all_capabilities: true,
        ..Facts::default()
    };
    assert_eq!(refusal(&good, &settings(), 2), None);
    assert_eq!(room(&good, 2), (12, "fs.inotify.max_user_instances"));
    let small = Facts {
        inotify_instances: Some(128),
        inotify_in_use: 60,
        ..good.clone()
    };
    let said = refusal(&small, &settings(), 2).unwrap();
    assert!(
        said.contains("fs.inotify.max_user_instances = 128, about 12 more needed"),
        "{said}"
    );
    let full = Facts {
        free_memory_mib: Some(300),
        ..good.clone()
    };
    assert!(refusal(&full, &settings(), 2).unwrap().contains("300 MiB"));
    let bounded = Facts {
        all_capabilities: false,
        ..good
    };
    assert!(
        refusal(&bounded, &settings(), 2)
            .unwrap()
            .contains("CAP_SYS_RESOURCE")
    );
    let wrapped = Facts {
        bounded_runtime: true,
        ..bounded
    };
    assert_eq!(refusal(&wrapped, &settings(), 2), None);
}

#[test]
fn an_archive_is_known_by_the_hash_in_its_name() {
    let images = tempfile::tempdir().unwrap();
    let built = images.path().join("node-0123abcd.tar");
    std::fs::write(&built, "").unwrap();
    std::os::unix::fs::symlink(&built, images.path().join("node.tar")).unwrap();
    let settings = Settings::usual("kind".into(), images.path(), None);
    assert_eq!(settings.image, "docker.io/atelier-kueue/node:0123abcd");
    assert_eq!(settings.node_archive, Some(built.canonicalize().unwrap()));
    let chosen = Settings::usual("kind".into(), images.path(), Some("kindest/node:v1.37.2"));
    assert_eq!(chosen.image, "kindest/node:v1.37.2");
    assert_eq!(chosen.node_archive, None);
}

#[test]
fn the_device_plugin_knows_the_real_nodes_only() {
    assert_eq!(gpus::objects(&profile(false)).unwrap(), Vec::<Value>::new());
    let objects = gpus::objects(&profile(true)).unwrap();
    let map = objects
        .iter()
        .find(|object| object["kind"] == "ConfigMap")
        .unwrap();
    let config = map["data"]["config.json"].as_str().unwrap();
    let config = gpu::config::Config::parse(config).unwrap();
    let names: Vec<&String> = config.nodes.keys().collect();
    assert_eq!(names, ["gpu-1", "gpu-2"]);
    assert!(config.nodes.values().all(|gpus| gpus.count == 2));
    let order: Vec<&Value> = objects.iter().map(|object| &object["kind"]).collect();
    assert_eq!(
        order.first().unwrap().as_str(),
        Some("Namespace"),
        "{order:?}"
    );
}

#[test]
fn a_removal_that_goes_on_already_is_no_failure() {
    let under_way =
        "Error response from daemon: removal of container 7c477a063812 is already in progress";
    assert!(words::is_going(under_way));
    assert!(words::is_going("Error: No such container: 7c477a063812"));
    assert!(!words::is_going(
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock"
    ));
}
