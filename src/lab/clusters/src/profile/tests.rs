use std::path::{Path, PathBuf};

use super::{Profile, RACK_LABEL, ZONE_LABEL};

fn profiles_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../labs/profiles")
}

fn refused(text: &str) -> String {
    Profile::parse(Path::new("labs/profiles/essai.yaml"), text)
        .unwrap_err()
        .to_string()
}

#[test]
fn every_profile_of_the_course_is_sound() {
    let all = Profile::load_all(&profiles_dir()).unwrap();
    let names: Vec<&str> = all.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "cassiopee-a100",
            "cassiopee-a100-v100",
            "cassiopee-conteneurs"
        ]
    );
}

#[test]
fn first_lab_has_one_cpu_node_and_two_nodes_of_four_gpus() {
    let profile = Profile::load(&profiles_dir().join("cassiopee-a100.yaml")).unwrap();
    assert_eq!(profile.total("nvidia.com/gpu"), 8);
    let nodes: Vec<(&str, usize)> = profile
        .nodes
        .iter()
        .map(|node| (node.name.as_str(), node.taints.len()))
        .collect();
    assert_eq!(nodes, [("cpu-1", 0), ("a100-1", 1), ("a100-2", 1)]);
    let gpu = &profile.nodes[2];
    assert_eq!(
        gpu.labels["nvidia.com/gpu.product"],
        "NVIDIA-A100-SXM4-80GB"
    );
    assert_eq!(gpu.labels[RACK_LABEL], "baie-2");
    assert!(gpu.labels.contains_key(ZONE_LABEL));
    assert_eq!(profile.nodes[0].capacity["cpu"], "8");
}

#[test]
fn shared_gpus_are_counted_by_replica_and_labelled_by_card() {
    let text = "name: essai
title: {fr: Essai, en: Trial}
pools:
  - name: a100
    count: 1
    capacity: {cpu: 8, memory: 32Gi}
    gpu: {model: a100-sxm4-80gb, count: 2, replicas: 4}
";
    let profile = Profile::parse(Path::new("labs/profiles/essai.yaml"), text).unwrap();
    let node = &profile.nodes[0];
    assert_eq!(node.capacity["nvidia.com/gpu"], "8");
    assert_eq!(node.labels["nvidia.com/gpu.count"], "2");
    assert_eq!(node.labels["nvidia.com/gpu.replicas"], "4");
    let config = profile.gpu_config(|node| format!("kind-{}", node.name));
    assert_eq!(config.nodes["kind-a100-1"].replicas, 4);
    let refused = refused(&text.replace("replicas: 4", "replicas: 0"));
    assert!(
        refused.contains("7:54: a GPU is shared by 1 to 48 containers, not 0"),
        "{refused}"
    );
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let text = "name: essai
title: {fr: Essai, en: Trial}
pools:
  - name: GPU
    count: 0
    capacity: {cpu: 8, memory: 1Gi}
  - name: a100
    count: 1
    capacity: {cpu: beaucoup}
    gpu: {model: a1000, count: 4}
    taints: [\"nvidia.com/gpu=present:Jamais\"]
    labels: {rôle: x}
";
    expect_test::expect![[r#"
        labs/profiles/essai.yaml:4:11: pool name `GPU` must be lower-case letters, digits and `-`
        labs/profiles/essai.yaml:5:12: count must be between 1 and 200, not 0
        labs/profiles/essai.yaml:9:15: capacity of pool `a100` must say `memory`
        labs/profiles/essai.yaml:9:21: `beaucoup` of `cpu` is not a quantity; write for example 8, 500m or 32Gi
        labs/profiles/essai.yaml:12:20: `rôle` is not a label key
        labs/profiles/essai.yaml:11:14: `nvidia.com/gpu=present:Jamais` is not a taint; write key=value:NoSchedule (or PreferNoSchedule, NoExecute)
        labs/profiles/essai.yaml:10:18: unknown GPU model `a1000`; known are a100-sxm4-80gb, v100-sxm2-32gb, h100-sxm5-80gb"#]]
    .assert_eq(&refused(text));
}

#[test]
fn a_field_nobody_knows_is_named() {
    let text = "name: essai\ntitle: {fr: Essai, en: Trial}\npools:\n  - name: cpu\n    count: 1\n    capacity: {cpu: 1, memory: 1Gi}\n    gpus: 4\n";
    let message = refused(text);
    assert!(
        message.starts_with("labs/profiles/essai.yaml:7:") && message.contains("gpus"),
        "{message}"
    );
}

#[test]
fn a_number_that_is_not_one_is_placed() {
    let message =
        refused("name: essai\ntitle: {fr: E, en: T}\npools:\n  - name: cpu\n    count: deux\n");
    assert!(
        message.starts_with("labs/profiles/essai.yaml:5:"),
        "{message}"
    );
}

#[test]
fn the_name_must_be_that_of_the_file() {
    let text = "name: autre\ntitle: {fr: E, en: T}\npools: []\n";
    expect_test::expect![[r#"
        labs/profiles/essai.yaml:1:7: name `autre` must be the name of the file, `essai`
        labs/profiles/essai.yaml:3:8: a profile needs at least one pool of nodes"#]]
    .assert_eq(&refused(text));
}
