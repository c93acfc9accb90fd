//! `StatefulSet`s: what their webhooks write and refuse, one pass of their reconciler, and how their pods join the group.

use std::sync::Arc;

use controllers::job::decide::Rules;
use controllers::job::named_priority_among;
use controllers::stateful_set::decide::{Act, View, of_pod, pass};
use jobs::serving::stateful_set::{default, validate_create, validate_update, workload_names};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::features::Features;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::File;
use super::job_defaults::Place;
use super::job_reconcile::{Options, rules};
use super::jobs::features;
use crate::compare::{Also, faults};
use crate::corpus::{Case, now, parse, read};
use crate::store::{Store, WORKLOAD_NOISE, named, normal};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestDefault", defaults),
    ("TestGetWorkloadName", names),
    ("TestHandle", handle),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestPodReconciler", pod),
    ("TestReconciler", reconciler),
    ("TestReleaseScaleDownReservation", release),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

fn defaults(case: Case<'_>) -> Verdict {
    let mut set: StatefulSet = parse(&case.input["statefulset"]);
    let around = Place::of(case).around(&set.metadata);
    default(&mut set, around);
    let want: StatefulSet = parse(&case.want["want"]);
    Verdict::same(&set, &serde_json::to_value(want).unwrap())
}

fn create(case: Case<'_>) -> Verdict {
    let set: StatefulSet = parse(&case.input["sts"]);
    let got = validate_create(&set, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn update(case: Case<'_>) -> Verdict {
    let old: StatefulSet = parse(&case.input["oldObj"]);
    let new: StatefulSet = parse(&case.input["newObj"]);
    let place = Place::of(case);
    let around = place.around(&new.metadata);
    let workload = workload_of(&place.store, &old);
    let features = features(case);
    let got = validate_update(&old, &new, around, workload.as_deref(), &features);
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn workload_of(store: &Store, set: &StatefulSet) -> Option<Arc<Workload>> {
    let namespace = set.metadata.namespace.clone().unwrap_or_default();
    let names = workload_names(set, jobs::naming::MAX_NAME);
    let found = names.iter().find_map(|name| store.get(&namespace, name));
    found.map(Arc::new)
}

fn names(case: Case<'_>) -> Verdict {
    let of = |name: &str, uid: &str| {
        let meta = json!({"name": case.input[name], "uid": case.input[uid]});
        let value = json!({"metadata": meta, "spec": {"selector": {}, "template": {}}});
        let set: StatefulSet = parse(&value);
        let [name, _] = workload_names(&set, jobs::naming::MAX_NAME);
        name
    };
    let same = of("name1", "uid1") == of("name2", "uid2");
    Verdict::equal("same name", &same, &(case.want["wantEqual"] == true))
}

fn handle(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("a filter of events before the reconciler"))
}

fn ruled(features: &Features) -> Rules {
    rules(&Options::default(), features)
}

fn with_view<T>(
    store: &Store,
    case: Case<'_>,
    set: &StatefulSet,
    then: impl FnOnce(&View<'_>) -> T,
) -> T {
    let features = features(case);
    let rules = ruled(&features);
    let workload = workload_of(store, set);
    let pods: Vec<Pod> = store.list();
    let pods: Vec<_> = pods.into_iter().map(Arc::new).collect();
    let label = |key: &str| {
        let labels = set.metadata.labels.as_ref();
        labels
            .and_then(|labels| labels.get(key))
            .map(String::as_str)
    };
    let spec = set.spec.template.spec.as_ref();
    let pod_class = spec.and_then(|spec| spec.priority_class_name.as_deref());
    let priority = named_priority_among(
        label("kueue.x-k8s.io/priority-class"),
        pod_class,
        &store.list(),
        &store.list(),
    );
    then(&View {
        set,
        workload: workload.as_ref(),
        pods: &pods,
        priority: priority.as_ref(),
        unnamed: case.input["manageJobsWithoutQueueName"] == true,
        rules: &rules,
        now: now(),
    })
}

fn carry_out(store: &mut Store, set: &StatefulSet, acts: Vec<Act>) {
    let namespace = set.metadata.namespace.clone().unwrap_or_default();
    let name = set.metadata.name.clone().unwrap_or_default();
    for act in acts {
        match act {
            Act::Tell {
                warning,
                reason,
                note,
            } => store.tell(&namespace, &name, warning, reason, &note),
            Act::Create(workload) => {
                store.create(workload.as_ref());
            }
            Act::Change(workload, patch) => {
                store.patch("Workload", &namespace, workload.name(), &patch);
            }
            Act::Status(workload, status) => {
                store.replace_status("Workload", &namespace, workload.name(), &status);
            }
            Act::Pod(pod, patch) => {
                let name = pod.metadata.name.clone().unwrap_or_default();
                store.patch("Pod", &namespace, &name, &patch);
            }
        }
    }
}

fn reconciler(case: Case<'_>) -> Verdict {
    let input = case.input;
    let mut store = Store::of([&input["statefulSet"], &input["workloads"], &input["pods"]]);
    let set: StatefulSet = parse(&input["statefulSet"]);
    let acts = with_view(&store, case, &set, |view| pass(view).unwrap());
    carry_out(&mut store, &set, acts);
    let noise = ["metadata.resourceVersion", "apiVersion", "kind"];
    let workloads = [WORKLOAD_NOISE, &noise].concat();
    let set = normal(&store.values("StatefulSet"), &noise);
    let want = normal(std::slice::from_ref(&case.want["wantStatefulSet"]), &noise);
    Verdict::all([
        named("set", Verdict::same(&set, &want)),
        store.same("Pod", &case.want["wantPods"], &noise),
        store.same("Workload", &case.want["wantWorkloads"], &workloads),
        store.same_events(&case.want["wantEvents"]),
    ])
}

fn pod(case: Case<'_>) -> Verdict {
    let input = case.input;
    let mut store = Store::of([&input["sts"], &input["pod"], &input["workloads"]]);
    let set: StatefulSet = parse(&input["sts"]);
    let acts = with_view(&store, case, &set, |view| {
        let one = |pod| of_pod(view, pod, true).unwrap();
        view.pods.iter().filter_map(one).collect()
    });
    carry_out(&mut store, &set, acts);
    let noise = ["metadata.resourceVersion", "apiVersion", "kind"];
    store.same("Pod", &case.want["wantPods"], &noise)
}

/// A set that was scaled to zero.
fn release(case: Case<'_>) -> Verdict {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "sts", "namespace": "ns", "uid": "sts-uid", "labels": {"kueue.x-k8s.io/queue-name": "lq"}},
        "spec": {"replicas": 0, "selector": {}, "template": {"spec": {"containers": []}}},
    });
    let mut workload = case.input["workload"].clone();
    let set: StatefulSet = parse(&set);
    let [name, _] = workload_names(&set, jobs::naming::MAX_NAME);
    workload["metadata"]["name"] = json!(name);
    let mut store = Store::of([&workload]);
    let acts = with_view(&store, case, &set, |view| pass(view).unwrap());
    carry_out(&mut store, &set, acts);
    let found: Workload = store.get("ns", &name).unwrap();
    let status = found.status.unwrap_or_default();
    let want = &case.want["wantQuotaReserved"];
    let condition = status
        .conditions
        .iter()
        .find(|one| one.type_ == "QuotaReserved");
    let got = condition.map_or(
        Value::Null,
        |one| json!({"reason": one.reason, "status": one.status}),
    );
    let gone: bool = read(&case.want["wantAdmissionNil"]);
    Verdict::all([
        Verdict::equal("no admission", &status.admission.is_none(), &gone),
        if want.is_null() {
            Verdict::Passed
        } else {
            Verdict::same(&got, want)
        },
    ])
}
