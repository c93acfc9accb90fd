use std::path::Path;

use jiff::Timestamp;

use super::{Options, command, configuration, node_object};
use crate::profile::Profile;

fn profile() -> Profile {
    let text = "name: petit
title: {fr: Petit, en: Small}
namespaces: [equipe-vision]
pools:
  - name: a100
    count: 2
    capacity: {cpu: 8, memory: 32Gi}
    gpu: {model: a100-sxm4-80gb, count: 4}
    zone: salle-a
    racks: [baie-1, baie-2]
";
    Profile::parse(Path::new("petit.yaml"), text).unwrap()
}

#[test]
fn a_node_reports_what_a_kubelet_would() {
    let node = node_object(&profile().nodes[1], 1, Timestamp::UNIX_EPOCH);
    let status = node.status.unwrap();
    assert_eq!(status.capacity.unwrap()["nvidia.com/gpu"].0, "4");
    assert_eq!(status.addresses.unwrap()[0].address, "10.246.0.3");
    assert_eq!(
        status
            .daemon_endpoints
            .unwrap()
            .kubelet_endpoint
            .unwrap()
            .port,
        10_250
    );
    assert_eq!(
        node.metadata.labels.unwrap()["atelier.kueue/node"],
        "simule"
    );
    let taint = &node.spec.unwrap().taints.unwrap()[0];
    assert_eq!(
        (taint.key.as_str(), taint.effect.as_str()),
        ("nvidia.com/gpu", "NoSchedule")
    );
}

#[test]
fn every_document_of_the_configuration_has_a_name_of_its_own() {
    let configuration = configuration();
    let documents: Vec<serde_json::Value> = configuration
        .split("---\n")
        .filter(|document| !document.is_empty())
        .map(|document| serde_json::from_str(document).unwrap())
        .collect();
    let mut names: Vec<&str> = documents
        .iter()
        .map(|d| d["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 10);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 10);
    assert!(
        !configuration.contains('@'),
        "a placeholder was left in a template"
    );
}

#[test]
fn kwok_opens_no_port_and_holds_no_lease() {
    let options = Options {
        kwok: "kwok".into(),
        configuration: "kwok.yaml".into(),
        kubeconfig: "kwok.conf".into(),
    };
    let line: Vec<String> = command(&options)
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    expect_test::expect![
        "kwok --config kwok.yaml --kubeconfig kwok.conf --manage-nodes-with-label-selector=atelier.kueue/node=simule --node-lease-duration-seconds=0 --cidr=10.245.0.0/16 --node-port=0"
    ]
    .assert_eq(&line.join(" "));
}
