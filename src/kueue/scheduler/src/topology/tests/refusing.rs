//! What cannot be placed, and the words for it.

use super::{Row, ask, check, outcome, search, world};
use crate::labels::{Requirement, Test, Toleration};
use crate::names::PodSetName;
use crate::topology::{AssumedUsage, PodSetRequest};

const HOSTS: &str = "
    b1 r1 x1 2
    b1 r1 x2 2 disk=ssd
    b1 r2 x3 0
    b1 r2 x4 9 !gpu=yes
";

#[test]
fn requests_that_no_topology_could_satisfy() {
    const ROWS: &[Row] = &[
        ("nothing said", "", &["1"], "topology level not specified"),
        (
            "unknown level",
            "",
            &["1 required zone"],
            "no requested topology level: zone",
        ),
        (
            "unknown level of slices",
            "",
            &["2 required rack slices of 2 per zone"],
            "no requested topology level for slices: zone",
        ),
        (
            "slices wider than the pod set",
            "",
            &["2 required rack slices of 2 per block"],
            "podset slice topology block is above the podset topology rack",
        ),
        (
            "slices without a size",
            "",
            &["2 required rack slices of 0 per host"],
            "slice topology requested, but slice size not provided",
        ),
        (
            "unknown level of an inner layer",
            "",
            &["4 required block slices of 4 per rack of 2 per zone"],
            "no requested topology level for additional slice layer: zone",
        ),
        (
            "an inner layer that is not below",
            "",
            &["4 required block slices of 4 per rack of 2 per rack"],
            "additional slice layer topology rack must be at a lower level than rack",
        ),
        (
            "an inner layer that does not divide",
            "",
            &["4 required block slices of 4 per rack of 3 per host"],
            "additional slice layer size 3 must evenly divide parent layer size 4",
        ),
    ];
    check(&world(HOSTS), ROWS);
}

#[test]
fn what_stood_in_the_way_is_counted() {
    const ROWS: &[Row] = &[
        (
            "pods",
            "",
            &["5 required rack"],
            "topology \"default\" allows to fit only 4 out of 5 pod(s). Total nodes: 4; excluded: resource \"cpu\": 1, taint \"gpu=yes:NoSchedule\": 1",
        ),
        (
            "slices",
            "",
            &["6 required rack slices of 3 per host"],
            "topology \"default\" doesn't allow to fit any of 2 slice(s). Total nodes: 4; excluded: resource \"cpu\": 1, taint \"gpu=yes:NoSchedule\": 1",
        ),
        (
            "layers",
            "",
            &["8 required block slices of 4 per rack of 2 per host"],
            "topology \"default\" doesn't allow to fit; 1/2 slice(s) fit on level rack; 2/4 slice(s) fit on level kubernetes.io/hostname. Total nodes: 4; excluded: resource \"cpu\": 1, taint \"gpu=yes:NoSchedule\": 1",
        ),
        (
            "what was placed before is told",
            "",
            &["a: 4 required rack", "b: 1 required rack"],
            "a x1:2 x2:2; topology \"default\" doesn't allow to fit any of 1 pod(s). Total nodes: 4; excluded: resource \"cpu\": 3, taint \"gpu=yes:NoSchedule\": 1",
        ),
    ];
    check(&world(HOSTS), ROWS);
}

fn with(change: impl Fn(&mut PodSetRequest)) -> String {
    let mut request = ask("main", "5 required host");
    change(&mut request);
    outcome(&world(HOSTS).find(&[request], &mut AssumedUsage::new(), &search("")))
}

#[test]
fn nodes_are_left_out_for_what_pods_say_about_them() {
    assert_eq!(
        with(|request| {
            request.nodes.selector.insert("disk".into(), "ssd".into());
        }),
        "topology \"default\" allows to fit only 2 out of 5 pod(s). Total nodes: 4; excluded: nodeSelector: 2, taint \"gpu=yes:NoSchedule\": 1"
    );
    let named = |key: &str, value: &str| Requirement {
        key: key.to_owned(),
        test: Test::NotIn(vec![value.to_owned()]),
    };
    assert_eq!(
        with(|request| request.nodes.terms = vec![vec![named("disk", "ssd")]]),
        "topology \"default\" allows to fit only 2 out of 5 pod(s). Total nodes: 4; excluded: affinity: 1, resource \"cpu\": 1, taint \"gpu=yes:NoSchedule\": 1"
    );
    let toleration = Toleration {
        key: "gpu".to_owned(),
        value: None,
        effect: None,
    };
    let tolerating = |request: &mut PodSetRequest| request.tolerations = vec![toleration.clone()];
    assert_eq!(with(tolerating), "main x4:5");
    assert_eq!(
        with(|request| {
            tolerating(request);
            request.nodes.terms = vec![vec![named(crate::NODE_NAME, "x4")]];
        }),
        "topology \"default\" allows to fit only 2 out of 5 pod(s). Total nodes: 4; excluded: affinity: 1, resource \"cpu\": 1"
    );
}

#[test]
fn a_resource_that_no_node_offers_is_named() {
    let mut request = ask("main", "1 required host");
    request
        .per_pod
        .set("a.example/fpga".into(), quantity::Amount::new(1));
    assert_eq!(
        outcome(&world("b1 r1 x1 2").find(&[request], &mut AssumedUsage::new(), &search(""))),
        "topology \"default\" doesn't allow to fit any of 1 pod(s). Total nodes: 1; excluded: resource \"a.example/fpga\": 1"
    );
}

#[test]
fn a_topology_without_nodes_says_so() {
    let request = [ask("main", "1 required rack")];
    let found = world("").find(&request, &mut AssumedUsage::new(), &search(""));
    assert_eq!(outcome(&found), "no topology domains at level: rack");
    let failure = found.unwrap_err();
    assert_eq!(failure.pod_sets, [PodSetName::from("main")]);
}
