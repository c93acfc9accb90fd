//! `LeaderWorkerSet`s: what their webhooks write and refuse, one pass of their reconciler, and how they are handed over.

use std::sync::Arc;

use controllers::job::named_priority_among;
use controllers::leader_worker_set::decide::{Act, View, pass};
use jobs::multikueue::of;
use jobs::serving::leader_worker_set::{
    LeaderWorkerSet, default, group_of, set_of, validate_create, validate_update,
};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;
use serde_json::Value;

use super::File;
use super::job_defaults::Place;
use super::job_reconcile::{Options, rules};
use super::jobs::features;
use crate::compare::{Also, faults};
use crate::corpus::{Case, parse, read};
use crate::store::{Store, WORKLOAD_NOISE, named};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestDefault", defaults),
    ("TestGetWorkloadIndex", index),
    ("TestMultiKueueAdapter", adapter),
    ("TestReconciler", reconciler),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

fn defaults(case: Case<'_>) -> Verdict {
    let mut set: LeaderWorkerSet = parse(&case.input["lws"]);
    let around = Place::of(case).around(&set.metadata);
    default(&mut set, around, &features(case));
    let want: LeaderWorkerSet = parse(&case.want["want"]);
    Verdict::same(&set, &serde_json::to_value(want).unwrap())
}

fn create(case: Case<'_>) -> Verdict {
    let set: LeaderWorkerSet = parse(&case.input["lws"]);
    let got = validate_create(&set, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn update(case: Case<'_>) -> Verdict {
    let old: LeaderWorkerSet = parse(&case.input["oldObj"]);
    let new: LeaderWorkerSet = parse(&case.input["newObj"]);
    let around = Place::of(case).around(&new.metadata);
    let got = validate_update(&old, &new, around, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn index(case: Case<'_>) -> Verdict {
    let workload = &case.input["workload"];
    let workload: Option<Workload> = workload.is_object().then(|| parse(workload));
    let got = workload.as_ref().and_then(group_of).unwrap_or(-1);
    Verdict::equal("index", &got, &read(&case.want["wantIndex"]))
}

/// One pass over a set that may be gone.
fn carried_out(case: Case<'_>) -> Store {
    let input = case.input;
    let mut store = Store::of([
        &input["leaderWorkerSet"],
        &input["workloads"],
        &input["statefulSets"],
        &input["pods"],
        &input["workloadPriorityClasses"],
    ]);
    let (namespace, name) = (
        read::<String>(&case.common["testNS"]),
        read(&case.common["testLWS"]),
    );
    let name: String = name;
    let sets = store.values("LeaderWorkerSet");
    let set: Option<LeaderWorkerSet> = sets.first().map(parse);
    let workloads: Vec<Arc<Workload>> = store.list().into_iter().map(Arc::new).collect();
    let makers: Vec<StatefulSet> = store.list();
    let makers: Vec<_> = makers
        .into_iter()
        .filter(|maker| set_of(&maker.metadata) == Some(&name))
        .map(Arc::new)
        .collect();
    let pods: Vec<Arc<Pod>> = store.list().into_iter().map(Arc::new).collect();
    let labels = set.as_ref().and_then(|set| set.metadata.labels.as_ref());
    let class = labels.and_then(|labels| labels.get("kueue.x-k8s.io/priority-class"));
    let class = class.map(String::as_str);
    let priority = named_priority_among(class, None, &store.list(), &store.list());
    let rules = rules(&Options::default(), &features(case));
    let acts = pass(&View {
        set: set.as_ref(),
        workloads: &workloads,
        makers: &makers,
        pods: &pods,
        priority: priority.as_ref(),
        rules: &rules,
    });
    for act in acts.unwrap() {
        carry_out(&mut store, (&namespace, &name), act);
    }
    store
}

fn carry_out(store: &mut Store, (namespace, name): (&str, &str), act: Act) {
    match act {
        Act::Tell {
            warning,
            reason,
            note,
        } => store.tell(namespace, name, warning, reason, &note),
        Act::Create(workload) => {
            store.create(workload.as_ref());
        }
        Act::Change(workload, patch) => {
            store.patch("Workload", namespace, workload.name(), &patch);
        }
        Act::Delete(workload) => {
            store.delete("Workload", namespace, workload.name());
            super::job_reconcile::release(store, namespace, workload.name());
        }
        Act::Pod(pod, patch) => {
            let name = pod.metadata.name.clone().unwrap_or_default();
            store.patch("Pod", namespace, &name, &patch);
        }
    }
}

fn reconciler(case: Case<'_>) -> Verdict {
    let refused = &case.common["workloadUpdateErr"];
    if refused.is_string() && case.want["wantErr"] == *refused {
        return Verdict::Skipped(Skip::Internal("the reference's client refuses a write"));
    }
    let store = carried_out(case);
    let noise = ["metadata.resourceVersion", "apiVersion", "kind"];
    let workloads = [WORKLOAD_NOISE, &noise].concat();
    Verdict::all([
        named("events", store.same_events(&case.want["wantEvents"])),
        store.same("Pod", &case.want["wantPods"], &noise),
        store.same("Workload", &case.want["wantWorkloads"], &workloads),
        store.same(
            "LeaderWorkerSet",
            &case.want["wantLeaderWorkerSets"],
            &noise,
        ),
    ])
}

/// The table calls one function or another by code that the corpus does not hold. Those that ask how many Workloads there have to be show
/// in a set of which nothing is wanted in the other cluster.
fn adapter(case: Case<'_>) -> Verdict {
    let sets = &case.input["managersLeaderWorkerSets"];
    let first: &Value = sets.as_array().and_then(|all| all.first()).unwrap_or(sets);
    let invalid = case.want["wantError"].is_string();
    if invalid && first.is_object() {
        let adapter = of("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet").unwrap();
        let got = adapter.workloads_wanted(first);
        return Verdict::equal("refused", &got.is_err(), &true);
    }
    super::multikueue::adapter(case)
}
