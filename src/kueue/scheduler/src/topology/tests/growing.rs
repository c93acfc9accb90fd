//! Elastic workloads keep the places of pods that run.

use super::replacing::on;
use super::{ask, outcome, search, world};
use crate::topology::{AssumedUsage, PodSetRequest};

const HOSTS: &str = "b1 r1 x1 3\nb1 r1 x2 3\nb1 r1 x3 3";

fn was(name: &str, sentence: &str, previous: &str) -> PodSetRequest {
    let mut request = ask(name, sentence);
    request.previous = Some(on(previous));
    request
}

#[test]
fn only_new_pods_are_placed() {
    let gates = "elastic";
    for (name, gates, count, previous, want) in [
        ("the same", gates, 3, "x1:1 x3:2", "main x1:1 x3:2"),
        (
            "fewer, from the end",
            gates,
            2,
            "x1:1 x3:2",
            "main x1:1 x3:1",
        ),
        ("more, beside", gates, 6, "x1:1 x3:3", "main x1:3 x3:3"),
        (
            "more than there is",
            gates,
            10,
            "x1:1",
            "topology \"default\" allows to fit only 8 out of 9 pod(s)",
        ),
        (
            "a host is gone: afresh",
            gates,
            3,
            "x1:1 gone:1",
            "main x1:3",
        ),
        ("the gate is off: afresh", "", 3, "x1:1 x3:2", "main x1:3"),
    ] {
        let request = was("main", &format!("{count} anywhere"), previous);
        let found = world(HOSTS).find(&[request], &mut AssumedUsage::new(), &search(gates));
        assert_eq!(outcome(&found), want, "{name}");
    }
}

#[test]
fn a_leader_that_runs_stays() {
    let requests = [
        was("leader", "1 anywhere with g", "x2:1"),
        was("workers", "4 anywhere with g", "x1:2"),
    ];
    let found = world(HOSTS).find(&requests, &mut AssumedUsage::new(), &search("elastic"));
    assert_eq!(outcome(&found), "workers x1:2 x2:2; leader x2:1");
}
