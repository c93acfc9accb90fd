//! What the watches of pods and nodes make of what they see.

use cache::topology::{self, Change, Foreign, asks_for_topology, is_foreign};
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::Value;

use crate::corpus::{Case, parse, read};
use crate::verdict::{Skip, Verdict};

fn pod(value: &Value) -> Option<Pod> {
    (!value.is_null()).then(|| parse(value))
}

pub(super) fn foreign(case: Case<'_>) -> Verdict {
    let got = pod(&case.input["pod"]).is_some_and(|pod| is_foreign(&pod));
    Verdict::equal("foreign", &got, &(case.want["want"] == true))
}

pub(super) fn asks(case: Case<'_>) -> Verdict {
    let got = asks_for_topology(&parse(&case.input["pod"]));
    Verdict::equal("asks", &got, &(case.want["want"] == true))
}

/// The reference's set of changes, a bit each.
pub(super) fn node_changes(case: Case<'_>) -> Verdict {
    let (before, after): (Node, Node) =
        (parse(&case.input["oldNode"]), parse(&case.input["newNode"]));
    let changes = topology::node_changes(&before, &after);
    let bits = [
        changes.allocatable,
        changes.labels,
        changes.taints,
        changes.conditions,
        changes.annotations,
    ];
    let got: i64 = bits
        .iter()
        .zip(0..)
        .map(|(bit, at)| i64::from(*bit) << at)
        .sum();
    Verdict::equal("changes", &got, &read(&case.want["wantChanged"]))
}

/// Whether a pod that changed takes something else from nodes than before.
pub(super) fn pod_changes(case: Case<'_>) -> Verdict {
    let mut foreign = Foreign::default();
    foreign.apply(&parse(&case.input["oldPod"]));
    let change = foreign.apply(&parse(&case.input["newPod"]));
    let wanted = case.want["want"] == true;
    Verdict::equal(
        "changes what it takes",
        &(change != Change::default()),
        &wanted,
    )
}

pub(super) fn filter(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal(
        "which events are handed on to a function that does nothing for a pod it does not know",
    ))
}

pub(super) fn drain(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal(
        "a list of nodes that are read once more; here a node is taken in when it is seen",
    ))
}
