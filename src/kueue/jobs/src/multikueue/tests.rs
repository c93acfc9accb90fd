//! Tables: who is handed over, what a copy holds, which state comes back.

use serde_json::{Value, json};

use super::{ADAPTERS, Adapter, Foreign, Hand, Sync, Write, of, workload_of};

const HAND: Hand<'static> = Hand {
    workload: "wl",
    origin: "north",
    annotated: false,
};

fn adapter(kind: &str) -> &'static Adapter {
    ADAPTERS.iter().find(|one| one.kind == kind).unwrap()
}

fn job(spec: &Value, status: &Value) -> Value {
    json!({"metadata": {"name": "train", "namespace": "lab"}, "spec": spec, "status": status})
}

#[test]
fn jobs_that_name_multikueue_are_handed_over() {
    let elsewhere = "kueue.x-k8s.io/multikueue";
    let cases = [
        ("Job", json!({"managedBy": elsewhere}), ""),
        (
            "Job",
            json!({}),
            "Expecting spec.managedBy to be \"kueue.x-k8s.io/multikueue\" not \"\"",
        ),
        (
            "PyTorchJob",
            json!({"managedBy": elsewhere}),
            "Expecting spec.runPolicy.managedBy to be \"kueue.x-k8s.io/multikueue\" not \"\"",
        ),
        (
            "MPIJob",
            json!({"runPolicy": {"managedBy": "me"}}),
            "Expecting spec.runPolicy.managedBy to be \"kueue.x-k8s.io/multikueue\" not \"me\"",
        ),
        ("Pod", json!({}), ""),
        ("StatefulSet", json!({}), ""),
    ];
    for (kind, spec, want) in cases {
        let refusal = adapter(kind).refusal(&job(&spec, &Value::Null));
        assert_eq!(refusal.unwrap_or_default(), want, "{kind} {spec}");
    }
}

#[test]
fn kinds_are_found_in_their_version_only() {
    for adapter in ADAPTERS {
        let found = of(&adapter.api_version(), adapter.kind).unwrap();
        assert!(std::ptr::eq(found, adapter), "{}", adapter.kind);
    }
    assert!(of("batch/v1beta1", "Job").is_none());
    assert!(of("apps/v1", "Deployment").is_none());
}

#[test]
fn a_copy_has_marks_and_nothing_of_this_cluster() {
    let local = json!({
        "metadata": {"name": "train", "namespace": "lab", "uid": "u", "resourceVersion": "7", "labels": {"team": "a"},
            "ownerReferences": [{"name": "x"}]},
        "spec": {"managedBy": "kueue.x-k8s.io/multikueue", "selector": {"matchLabels": {"controller-uid": "u"}},
            "template": {"metadata": {"labels": {"controller-uid": "u", "batch.kubernetes.io/job-name": "train", "app": "t"}}, "spec": {}}},
        "status": {"active": 1},
    });
    let copy = adapter("Job").copy(&local, HAND);
    let want = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "train", "namespace": "lab",
            "labels": {"team": "a", "kueue.x-k8s.io/multikueue-origin": "north", "kueue.x-k8s.io/prebuilt-workload-name": "wl"}},
        "spec": {"template": {"metadata": {"labels": {"app": "t"}}, "spec": {}}},
    });
    assert_eq!(copy, want);
    assert_eq!(workload_of(&copy), Some("wl"));
    let annotated = Hand {
        annotated: true,
        ..HAND
    };
    let copy = adapter("StatefulSet").copy(&local, annotated);
    assert_eq!(workload_of(&copy), Some("wl"));
    let notes = json!({"kueue.x-k8s.io/prebuilt-workload-name": "wl", "kueue.x-k8s.io/multikueue-origin-uid": "u"});
    assert_eq!(copy["metadata"]["annotations"], notes);
}

#[test]
fn the_state_of_a_batch_job_waits_while_only_the_job_here_is_suspended() {
    let running = json!({"active": 2});
    let done = json!({"conditions": [{"type": "Complete", "status": "True"}]});
    let cases = [
        (
            "both run",
            false,
            false,
            &running,
            Some(running.clone()),
            false,
        ),
        (
            "both are suspended",
            true,
            true,
            &running,
            Some(running.clone()),
            false,
        ),
        (
            "only this one is suspended",
            true,
            false,
            &running,
            None,
            true,
        ),
        (
            "over there it is done",
            true,
            false,
            &done,
            Some(done.clone()),
            false,
        ),
    ];
    for (name, here, there, status, want, deferred) in cases {
        let local = job(
            &json!({"suspend": here}),
            &json!({"conditions": [{"type": "Suspended", "status": "True"}]}),
        );
        let mut copy = adapter("Job").copy(&local, HAND);
        copy["spec"]["suspend"] = json!(there);
        copy["status"] = status.clone();
        let writes = want.map(|status| Write::Status {
            name: "train".to_owned(),
            status,
        });
        let want = Sync {
            writes: writes.into_iter().collect(),
            deferred,
        };
        let sync = adapter("Job").sync(&[local], &[copy], HAND, "now");
        assert_eq!(sync, Ok(want), "{name}");
    }
}

#[test]
fn a_suspended_batch_job_is_told_so_once() {
    let local = job(&json!({"suspend": true}), &Value::Null);
    let mut copy = adapter("Job").copy(&local, HAND);
    copy["spec"]["suspend"] = json!(false);
    let sync = adapter("Job")
        .sync(
            std::slice::from_ref(&local),
            std::slice::from_ref(&copy),
            HAND,
            "t",
        )
        .unwrap();
    let [Write::Status { status, .. }] = sync.writes.as_slice() else {
        panic!("one status is written: {sync:?}");
    };
    assert_eq!(status["conditions"][0]["reason"], "MultiKueueAdapter");
    let told = job(&json!({"suspend": true}), status);
    let again = adapter("Job")
        .sync(&[told], &[copy], HAND, "later")
        .unwrap();
    assert_eq!((again.writes.len(), again.deferred), (0, true));
}

#[test]
fn a_gated_pod_waits_at_its_gate_until_its_copy_has_a_node() {
    let own = json!({"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"});
    let local = job(
        &json!({"schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}),
        &json!({"conditions": [own]}),
    );
    let unschedulable =
        json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable"});
    let scheduled = json!({"type": "PodScheduled", "status": "True"});
    let cases = [
        ("no node yet", &unschedulable, "SchedulingGated", "False"),
        ("a node", &scheduled, "", "True"),
    ];
    for (name, condition, reason, status) in cases {
        let mut copy = adapter("Pod").copy(&local, HAND);
        copy["status"] = json!({"phase": "Running", "conditions": [condition]});
        let sync = adapter("Pod")
            .sync(std::slice::from_ref(&local), &[copy], HAND, "t")
            .unwrap();
        let [Write::Status { status: got, .. }] = sync.writes.as_slice() else {
            panic!("{name}: one status is written: {sync:?}");
        };
        let first = &got["conditions"][0];
        assert_eq!(
            first["reason"].as_str().unwrap_or_default(),
            reason,
            "{name}"
        );
        assert_eq!(first["status"], status, "{name}");
    }
}

#[test]
fn what_somebody_else_made_is_left_alone() {
    let local = job(&json!({}), &Value::Null);
    let other = Hand {
        origin: "south",
        ..HAND
    };
    let copy = adapter("JobSet").copy(&local, other);
    assert_eq!(
        adapter("JobSet").sync(&[local], &[copy], HAND, "t"),
        Err(Foreign)
    );
}

/// The configuration of what a service serves follows it to where it runs.
#[test]
fn a_change_of_a_service_reaches_its_copy() {
    let service = |config: &str, labels: Value| json!({"metadata": {"name": "chat", "namespace": "lab", "labels": labels}, "spec": {"serveConfigV2": config}});
    let there =
        |config: &str| service(config, json!({"kueue.x-k8s.io/multikueue-origin": "north"}));
    let here = [service("new", json!({}))];
    let writes = |copy| {
        let sync = adapter("RayService").sync(&here, &[copy], HAND, "now");
        sync.unwrap().writes
    };
    let patch = json!({"spec": {"serveConfigV2": "new"}});
    let name = "chat".to_owned();
    assert_eq!(writes(there("old"))[..1], [Write::Change { name, patch }]);
    let changes = |write: &Write| matches!(write, Write::Change { .. });
    assert!(!writes(there("new")).iter().any(changes));
}

#[test]
fn a_set_of_groups_names_no_workload_and_says_how_many_it_has() {
    let set = |replicas: i32| json!({"metadata": {"name": "llm", "namespace": "lab", "uid": "u"}, "spec": {"replicas": replicas}});
    let sets = adapter("LeaderWorkerSet");
    let copy = sets.copy(&set(2), HAND);
    assert_eq!(workload_of(&copy), None);
    let notes = &copy["metadata"]["annotations"];
    assert_eq!(notes["kueue.x-k8s.io/multikueue-origin-uid"], "u");
    assert_eq!(sets.workloads_wanted(&set(2)), Ok(Some(2)));
    assert!(sets.workloads_wanted(&set(-1)).is_err());
    assert_eq!(adapter("Job").workloads_wanted(&set(2)), Ok(None));
}
