//! What a job needs next, case by case.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::{GenericJob, Priority, construct, kind::BATCH_JOB, workload};
use kueue_api::v1beta2::{ResourceFlavorSpec, Workload};
use serde_json::{Value, json};

use super::decide::{Rules, Standing, Step, View, next};
use crate::tests::job_rules as rules;

fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => from
            .into_iter()
            .for_each(|(k, v)| merge(into.entry(k).or_insert(Value::Null), v)),
        (into, from) => *into = from,
    }
}

fn job(patch: Value) -> Box<dyn GenericJob> {
    let mut value = json!({
        "metadata": {"name": "chiffres", "namespace": "reef", "uid": "u-1", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {"suspend": true, "parallelism": 2, "completions": 2,
            "template": {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}}},
    });
    merge(&mut value, patch);
    (BATCH_JOB.read)(value).unwrap()
}

fn running(patch: Value) -> Box<dyn GenericJob> {
    let mut value = json!({
        "spec": {"suspend": false, "template": {"spec": {"nodeSelector": {"gpu": "a100"}}, "metadata": {
            "labels": {"kueue.x-k8s.io/podset": "main", "kueue.x-k8s.io/local-queue-name": "lq", "kueue.x-k8s.io/cluster-queue-name": "cq"},
            "annotations": {"kueue.x-k8s.io/workload": "w"}}}},
        "status": {"active": 2, "startTime": "1970-01-01T00:00:00Z"}
    });
    merge(&mut value, patch);
    job(value)
}

/// The Workload of the plain job, with these conditions.
fn own(conditions: &[(&str, &str)], patch: Value) -> Arc<Workload> {
    let made = workload(
        job(json!({})).as_ref(),
        Priority::default(),
        &construct::Options::default(),
    )
    .unwrap();
    let mut value = serde_json::to_value(made).unwrap();
    let conditions: Vec<_> = conditions
        .iter()
        .map(|(t, s)| json!({"type": t, "status": s, "reason": "R", "message": "told", "lastTransitionTime": "1970-01-01T00:00:00Z"}))
        .collect();
    merge(&mut value, json!({"status": {"conditions": conditions}}));
    merge(&mut value, patch);
    Arc::new(serde_json::from_value(value).unwrap())
}

fn admission() -> Value {
    json!({"status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "flavors": {"cpu": "big"}, "count": 2}]}}})
}

fn admitted(patch: Value) -> Arc<Workload> {
    let mut value = admission();
    merge(&mut value, patch);
    own(&[("QuotaReserved", "True"), ("Admitted", "True")], value)
}

fn evicted() -> Arc<Workload> {
    own(
        &[
            ("QuotaReserved", "True"),
            ("Admitted", "True"),
            ("Evicted", "True"),
        ],
        admission(),
    )
}

fn decide(job: &dyn GenericJob, workloads: &[Arc<Workload>]) -> Step {
    let flavor = ResourceFlavorSpec {
        node_labels: [("gpu".to_owned(), "a100".to_owned())].into(),
        ..ResourceFlavorSpec::default()
    };
    let flavors: BTreeMap<_, _> = [("big".to_owned(), flavor)].into();
    let priority = Priority::default();
    next(&View {
        job,
        standing: Standing::Top,
        workloads,
        flavors: &flavors,
        priority: Some(&priority),
        rules: &rules(),
        now: jiff::Timestamp::UNIX_EPOCH,
    })
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn the_life_of_a_job() {
    let waiting = || own(&[("QuotaReserved", "False")], json!({}));
    let done = json!({"status": {"active": 0, "conditions": [{"type": "Complete", "status": "True", "message": "all done"}]}});
    let released = own(
        &[("QuotaReserved", "False"), ("Evicted", "True")],
        json!({}),
    );
    let leaving = json!({"metadata": {"annotations": {"kueue.x-k8s.io/stopping": "true"}}, "spec": {"suspend": true}});
    let mut stopping = leaving.clone();
    merge(&mut stopping, json!({"status": {"active": 0}}));
    let stopped = json!({"metadata": {"annotations": {"kueue.x-k8s.io/stopping": "true"}}, "spec": {"suspend": true}, "status": {"active": 0, "startTime": null}});
    let cases = [
        ("new", job(json!({})), vec![], "create"),
        (
            "new, pods of before still there",
            job(json!({"status": {"active": 1}})),
            vec![],
            "rest",
        ),
        (
            "finished without ever being ours",
            job(done.clone()),
            vec![],
            "rest",
        ),
        ("waiting", job(json!({})), vec![waiting()], "rest"),
        (
            "admitted",
            job(json!({})),
            vec![admitted(json!({}))],
            "start",
        ),
        (
            "running",
            running(json!({})),
            vec![admitted(json!({}))],
            "rest",
        ),
        (
            "suspended by hand",
            running(json!({"spec": {"suspend": true}})),
            vec![admitted(json!({}))],
            "start",
        ),
        (
            "unsuspended by hand",
            job(json!({"spec": {"suspend": false}})),
            vec![waiting()],
            "stop",
        ),
        ("evicted", running(json!({})), vec![evicted()], "stop"),
        (
            "evicted, pods still there",
            running(leaving),
            vec![evicted()],
            "stop",
        ),
        (
            "evicted, start not yet forgotten",
            running(stopping),
            vec![evicted()],
            "stop",
        ),
        (
            "evicted, template not yet restored",
            running(stopped),
            vec![evicted()],
            "stop",
        ),
        (
            "evicted and stopped",
            job(json!({})),
            vec![evicted()],
            "release",
        ),
        (
            "evicted and stopped, pods still there",
            job(json!({"status": {"active": 1}})),
            vec![evicted()],
            "rest",
        ),
        (
            "evicted and released",
            job(json!({})),
            vec![released],
            "rest",
        ),
        (
            "done",
            running(done.clone()),
            vec![admitted(json!({}))],
            "finish",
        ),
        (
            "done and told",
            running(done.clone()),
            vec![own(&[("Finished", "True")], json!({}))],
            "settle",
        ),
        (
            "done and settled",
            running(done),
            vec![own(
                &[("Finished", "True")],
                json!({"metadata": {"finalizers": []}}),
            )],
            "rest",
        ),
        (
            "one pod is done",
            running(json!({"status": {"succeeded": 1, "active": 1}})),
            vec![admitted(json!({}))],
            "reclaim",
        ),
        (
            "sent elsewhere",
            job(json!({"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}})),
            vec![waiting()],
            "move",
        ),
    ];
    for (name, job, workloads, want) in cases {
        assert_eq!(decide(job.as_ref(), &workloads).name(), want, "{name}");
    }
}

#[test]
fn a_job_that_was_edited_gets_its_workload_rewritten_or_replaced() {
    let more = json!({"spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}]}}}});
    let cases = [
        (
            "waiting",
            job(more.clone()),
            vec![own(&[], json!({}))],
            "update",
        ),
        (
            "admitted, not yet started",
            job(more.clone()),
            vec![admitted(json!({}))],
            "delete",
        ),
        (
            "running",
            running(more.clone()),
            vec![admitted(json!({}))],
            "delete",
        ),
        (
            "over",
            running(
                json!({"status": {"conditions": [{"type": "Failed", "status": "True"}]}, "spec": more["spec"]}),
            ),
            vec![admitted(json!({}))],
            "finish",
        ),
        (
            "two of them",
            job(json!({})),
            vec![
                own(&[], json!({})),
                own(&[], json!({"metadata": {"name": "second"}})),
            ],
            "delete",
        ),
    ];
    for (name, job, workloads, want) in cases {
        assert_eq!(decide(job.as_ref(), &workloads).name(), want, "{name}");
    }
}

#[test]
fn a_workload_that_is_deleted_takes_its_job_along() {
    let deleting = |patch: Value| {
        let mut value = json!({"metadata": {"deletionTimestamp": "1970-01-01T00:00:00Z"}});
        merge(&mut value, patch);
        admitted(value)
    };
    assert_eq!(
        decide(running(json!({})).as_ref(), &[deleting(json!({}))]).name(),
        "stop"
    );
    assert_eq!(
        decide(job(json!({})).as_ref(), &[deleting(json!({}))]).name(),
        "settle"
    );
    assert_eq!(
        decide(
            job(json!({})).as_ref(),
            &[deleting(json!({"metadata": {"finalizers": []}}))]
        )
        .name(),
        "rest"
    );
}

#[test]
fn foreign_jobs_and_missing_classes_are_left_alone() {
    let job = job(json!({}));
    let flavors = BTreeMap::new();
    let view = View {
        job: job.as_ref(),
        workloads: &[],
        flavors: &flavors,
        standing: Standing::Foreign,
        priority: None,
        rules: &rules(),
        now: jiff::Timestamp::UNIX_EPOCH,
    };
    assert_eq!(next(&view), Step::Rest);
    assert_eq!(
        next(&View {
            standing: Standing::Top,
            ..view
        }),
        Step::ClassMissing
    );
}

#[test]
fn the_start_carries_flavor_and_names() {
    let Step::Start { infos, .. } = decide(job(json!({})).as_ref(), &[admitted(json!({}))]) else {
        panic!("starts")
    };
    assert_eq!(infos[0].node_selector["gpu"], "a100");
    assert_eq!(infos[0].labels["kueue.x-k8s.io/cluster-queue-name"], "cq");
    assert_eq!(infos[0].labels["kueue.x-k8s.io/local-queue-name"], "lq");
    assert!(infos[0].annotations["kueue.x-k8s.io/workload"].starts_with("job-chiffres-"));
}

#[test]
fn readiness_is_told_when_it_changes() {
    let told = |ready: &str| {
        let admission = json!({"status": {"admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "flavors": {"cpu": "big"}, "count": 2}]}}});
        let made = own(
            &[
                ("QuotaReserved", "True"),
                ("Admitted", "True"),
                ("PodsReady", ready),
            ],
            admission,
        );
        let mut made = Arc::unwrap_or_clone(made);
        let reason = if ready == "True" {
            "Started"
        } else {
            "WaitForStart"
        };
        made.status.as_mut().unwrap().conditions[2].reason = reason.to_owned();
        Arc::new(made)
    };
    let ready = running(json!({"status": {"ready": 2}}));
    let unready = running(json!({"status": {"ready": 1}}));
    let flavors = [(
        "big".to_owned(),
        ResourceFlavorSpec {
            node_labels: [("gpu".to_owned(), "a100".to_owned())].into(),
            ..Default::default()
        },
    )]
    .into();
    let priority = Priority::default();
    let cases = [
        ("ready now", &ready, "False", Some(true)),
        ("still ready", &ready, "True", None),
        ("not any more", &unready, "True", Some(false)),
        ("still not", &unready, "False", None),
    ];
    for (name, job, before, want) in cases {
        let workloads = [told(before)];
        let view = View {
            job: job.as_ref(),
            workloads: &workloads,
            flavors: &flavors,
            standing: Standing::Top,
            priority: Some(&priority),
            rules: &Rules {
                track_pods_ready: true,
                ..rules()
            },
            now: jiff::Timestamp::UNIX_EPOCH,
        };
        let got = match next(&view) {
            Step::PodsReady { readiness, .. } => Some(readiness.is_ready()),
            _ => None,
        };
        assert_eq!(got, want, "{name}");
    }
}
