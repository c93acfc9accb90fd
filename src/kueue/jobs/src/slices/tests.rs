//! Jobs that grow and shrink: what their slices need, and which pods may start.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::pods::counts;
use serde_json::{Value, json};

use super::{Counts, Ensured, ensure, join, open, ungate};

/// A slice of some pods, made at a second of its own. `holds` lists its conditions.
fn slice(name: &str, second: u32, pods: i32, holds: &[&str], replaces: &str) -> Arc<Workload> {
    let condition = |kind: &&str| json!({"type": kind, "status": "True", "reason": "R", "message": "", "lastTransitionTime": "2026-12-01T08:00:00Z"});
    let conditions: Vec<Value> = holds.iter().map(condition).collect();
    let mut notes = json!({"kueue.x-k8s.io/elastic-job": "true"});
    if !replaces.is_empty() {
        notes["kueue.x-k8s.io/workload-slice-replacement-for"] = json!(format!("n/{replaces}"));
    }
    let value = json!({
        "metadata": {"name": name, "namespace": "n", "uid": name, "annotations": notes, "creationTimestamp": format!("2026-12-01T08:00:{second:02}Z")},
        "spec": {"podSets": [{"name": "main", "count": pods, "template": {"spec": {"containers": []}}}]},
        "status": {"conditions": conditions},
    });
    Arc::new(serde_json::from_value(value).unwrap())
}

fn size(pods: i32) -> Counts {
    Counts::from([("main".to_owned(), pods)])
}

fn told(ensured: &Ensured) -> String {
    match ensured {
        Ensured::New => "new".to_owned(),
        Ensured::Other => "other".to_owned(),
        Ensured::Is(slice) => format!("is {}", slice.name()),
        Ensured::Resize(slice) => format!("resize {}", slice.name()),
        Ensured::Finish(over) => {
            let names = over
                .iter()
                .map(|over| format!("{} {}", over.slice.name(), over.reason));
            format!("finish {}", names.collect::<Vec<_>>().join(", "))
        }
    }
}

const HELD: &[&str] = &["QuotaReserved", "Admitted"];
const LEAVING: &[&str] = &["QuotaReserved", "Admitted", "Evicted"];

#[test]
fn a_job_is_described_by_one_slice() {
    let cases: [(&str, i32, Vec<Arc<Workload>>, &str); 9] = [
        ("it has none", 3, vec![], "new"),
        (
            "it kept its size",
            3,
            vec![slice("a", 0, 3, HELD, "")],
            "is a",
        ),
        ("it shrank", 2, vec![slice("a", 0, 3, HELD, "")], "resize a"),
        (
            "it grew while it waits",
            4,
            vec![slice("a", 0, 3, &[], "")],
            "resize a",
        ),
        (
            "it grew while it runs",
            4,
            vec![slice("a", 0, 3, HELD, "")],
            "new",
        ),
        (
            "it grew once more before it got the first",
            5,
            vec![slice("a", 0, 3, HELD, ""), slice("b", 1, 4, &[], "a")],
            "resize b",
        ),
        (
            "the larger one was admitted, and the smaller one was not ended",
            4,
            vec![slice("a", 0, 3, HELD, ""), slice("b", 1, 4, HELD, "a")],
            "finish a WorkloadSliceReplaced",
        ),
        (
            "the smaller one leaves before the larger one came",
            4,
            vec![slice("a", 0, 3, LEAVING, ""), slice("b", 1, 4, &[], "a")],
            "finish a WorkloadSliceReplaced",
        ),
        (
            "one that replaces nobody came by a race",
            3,
            vec![slice("a", 0, 3, HELD, ""), slice("b", 1, 4, &[], "")],
            "finish b OutOfSync",
        ),
    ];
    for (name, pods, slices, want) in cases {
        assert_eq!(told(&ensure(&size(pods), &open(&slices))), want, "{name}");
    }
    let other = Counts::from([("driver".to_owned(), 1)]);
    assert_eq!(
        ensure(&other, &[slice("a", 0, 1, HELD, "")]),
        Ensured::Other
    );
}

#[test]
fn a_chain_is_named_after_its_first_slice() {
    let named = |open: &[Arc<Workload>]| {
        let mut next = slice("c", 9, 5, &[], "").as_ref().clone();
        join(&mut next, open).map(|()| {
            let notes = next.metadata.annotations.unwrap();
            let of = |key: &str| notes.get(key).cloned().unwrap_or_default();
            let chain = of("kueue.x-k8s.io/workload-slice-name");
            (chain, of("kueue.x-k8s.io/workload-slice-replacement-for"))
        })
    };
    assert_eq!(named(&[]), Ok(("c".to_owned(), String::new())));
    let mut second = slice("b", 1, 4, HELD, "a").as_ref().clone();
    join(&mut second, &[slice("a", 0, 3, HELD, "")]).unwrap();
    assert_eq!(
        named(&[Arc::new(second)]),
        Ok(("a".to_owned(), "n/b".to_owned()))
    );
    let two = [slice("a", 0, 3, HELD, ""), slice("b", 1, 4, HELD, "a")];
    assert!(named(&two).is_err(), "nobody knows which one is replaced");
}

fn pod(name: &str, phase: &str, gated: bool) -> Pod {
    let gates = if gated {
        json!([{"name": "kueue.x-k8s.io/elastic-job"}])
    } else {
        json!(null)
    };
    let value = json!({
        "metadata": {"name": name, "namespace": "n", "labels": {"kueue.x-k8s.io/podset": "main"}},
        "spec": {"containers": [], "schedulingGates": gates},
        "status": {"phase": phase},
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn as_many_pods_start_as_were_granted() {
    let pods = [
        pod("p-0", "Running", false),
        pod("p-1", "Failed", false),
        pod("p-3", "Pending", true),
        pod("p-2", "Pending", true),
    ];
    let started = |slice: &Workload| {
        let started = ungate(slice, &pods).into_iter().map(|one| one.pod);
        started.collect::<Vec<_>>()
    };
    let of = |pods, holds| slice("a", 0, pods, holds, "");
    assert_eq!(counts(&of(2, HELD).spec.pod_sets), size(2));
    assert_eq!(
        started(&of(2, HELD)),
        ["p-2"],
        "the running one counts, the failed one does not"
    );
    assert_eq!(started(&of(9, HELD)), ["p-2", "p-3"]);
    assert_eq!(
        started(&of(9, &["QuotaReserved"])),
        [""; 0],
        "a check is not done"
    );
    assert_eq!(started(&of(9, LEAVING)), [""; 0]);
}

#[test]
fn a_pod_that_was_given_something_else_before_stays() {
    let with = |wanted: &str| {
        let mut slice = slice("a", 0, 3, HELD, "").as_ref().clone();
        let checks = json!([{"name": "c", "state": "Ready", "podSetUpdates": [{"name": "main", "nodeSelector": {"pool": wanted}}]}]);
        let status = slice.status.get_or_insert_default();
        status.admission_checks = serde_json::from_value(checks).unwrap();
        slice
    };
    let mut given = pod("p", "Pending", true);
    let spec = given.spec.get_or_insert_default();
    spec.node_selector = Some([("pool".to_owned(), "old".to_owned())].into());
    assert_eq!(ungate(&with("new"), [&given]), []);
    let released = ungate(&with("old"), [&given]);
    assert_eq!(released[0].node_selector["pool"], "old");
}
