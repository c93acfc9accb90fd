//! Passes of the reconciler: the stores are filled with the case's objects, one pass is decided, and what it asks for happens to the objects.

use std::collections::BTreeMap;
use std::sync::Arc;

use controllers::events::Kind;
use controllers::job::decide;
use controllers::key::Key;
use controllers::pods::act::{About, Act, Pass, Trouble};
use controllers::pods::decide::{Rules, pass};
use controllers::pods::key::of_pod;
use controllers::pods::look::look;
use controllers::stores::Stores;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::ObjectMeta;
use kueue_api::features::gate;
use kueue_api::names::{POD_FINALIZER, RESOURCE_IN_USE_FINALIZER, labels};
use kueue_api::v1beta2::{ResourceFlavor, Workload};
use serde_json::{Value, json};

use super::rules::{features, switches};
use crate::corpus::{Case, each, now, parse, read};
use crate::store::{Store, named, normal};
use crate::verdict::Verdict;

const POD_NOISE: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata.resourceVersion",
    "metadata.deletionTimestamp",
    "status.conditions.*.lastTransitionTime",
];

fn rules(case: Case<'_>) -> Rules {
    let features = features(case);
    let options = &case.input["reconcilerOptions"];
    let option = |name: &str| {
        let mut all = options.as_array().into_iter().flatten();
        all.find_map(|one| one.get(name)).cloned()
    };
    let texts = |name: &str| -> Vec<String> { read(&option(name).unwrap_or_default()) };
    let retention = option("workloadRetentionPolicy");
    let mut notes = texts("annotationsToCopy");
    notes.retain(|_| features.on(gate::CUSTOM_METRIC_LABELS));
    let topology = features.on(gate::TOPOLOGY_AWARE_SCHEDULING);
    let jobs = decide::Rules {
        workloads: jobs::construct::Options {
            label_keys_to_copy: texts("labelKeysToCopy"),
            annotations_to_copy: notes,
            ..jobs::construct::Options::default()
        },
        marks: jobs::Marks {
            slices: false,
            topology,
            queues: features.on(gate::ASSIGN_QUEUE_LABELS_FOR_PODS),
        },
        track_pods_ready: option("waitForPodsReady").is_some(),
        reclaim: features.on(gate::RECLAIMABLE_PODS),
        finish_orphans: features.on(gate::FINISH_ORPHANED_WORKLOADS),
        annotated_names: features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
        keep_deactivated: retention.map(|retention| {
            let text: String = parse(&retention["afterDeactivatedByKueue"]);
            kueue_api::config::parse_duration(&text).unwrap()
        }),
    };
    Rules {
        jobs,
        manage_without_queue_name: false,
        only_of_parents: false,
        switches: switches(case),
        pods_die_alone: features.on(gate::SKIP_REASSIGNMENT_FOR_PODS),
    }
}

/// What there is before the pass.
fn before(case: Case<'_>) -> Store {
    let own = ["pods", "workloads", "initObjects"];
    let mut store = Store::of(own.iter().map(|name| &case.input[*name]));
    if case.input["deleteWorkloads"] == true {
        for workload in store.list::<Workload>() {
            store.delete("Workload", workload.namespace(), workload.name());
        }
    }
    store
}

/// The same as the controller keeps it.
fn kept(store: &Store, annotated: bool) -> Stores {
    let stores = Stores::new(&[]);
    for pod in store.list::<Pod>() {
        stores.shelf.put(&Arc::new(pod), annotated);
    }
    for workload in store.list::<Workload>() {
        stores.put_workload(&Arc::new(workload));
    }
    for flavor in store.list::<ResourceFlavor>() {
        stores.flavors.put(Arc::new(flavor));
    }
    for class in store.list() {
        stores.classes.put(Arc::new(class));
    }
    for class in store.list() {
        stores.priority_classes.put(Arc::new(class));
    }
    stores
}

fn key(text: &str) -> Key {
    let (namespace, name) = text.rsplit_once('/').unwrap();
    Key::new(namespace, name)
}

fn asked(case: Case<'_>, annotated: bool) -> Key {
    match case.input["reconcileKey"].as_str() {
        Some(text) => key(text),
        None => {
            let pods: Vec<Pod> = each(&case.input["pods"]);
            of_pod(&pods[0], annotated)
        }
    }
}

fn decided(case: Case<'_>, store: &Store, rules: &Rules) -> Pass {
    let stores = kept(store, rules.switches.annotated);
    for expected in case.input["excessPodsExpectations"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let group = key(&format!("group/{}", expected["key"].as_str().unwrap()));
        for uid in each::<String>(&expected["uids"]) {
            stores.shelf.expectations.expect(&group, &uid);
        }
    }
    let mut flavors: BTreeMap<_, _> = stores.flavor_specs();
    flavors.entry("default".to_owned()).or_default();
    let asked = asked(case, rules.switches.annotated);
    pass(&look(
        &stores,
        rules,
        &flavors,
        &asked,
        |_| Some(true),
        now(),
    ))
}

/// What happens to the objects.
fn happen(store: &mut Store, acts: Vec<Act>) {
    for act in acts {
        // What is not there any more is left alone, as by the controller.
        one(store, act);
    }
}

fn at(meta: &ObjectMeta) -> (&str, &str) {
    (
        meta.namespace.as_deref().unwrap_or_default(),
        meta.name.as_deref().unwrap_or_default(),
    )
}

fn without(meta: &ObjectMeta, finalizer: &str) -> Value {
    let mut all = meta.finalizers.clone().unwrap_or_default();
    all.retain(|name| name != finalizer);
    json!({"metadata": {"finalizers": all}})
}

fn one(store: &mut Store, act: Act) -> bool {
    match act {
        Act::CreateWorkload(workload) => store.create(&*workload),
        Act::ChangeWorkload(workload, patch) => {
            store.patch("Workload", workload.namespace(), workload.name(), &patch)
        }
        Act::WriteStatus(workload, status) => {
            store.apply_status("Workload", workload.namespace(), workload.name(), &status)
        }
        Act::Reclaim(workload, pods) => {
            let status = json!({"reclaimablePods": pods});
            store.apply_status("Workload", workload.namespace(), workload.name(), &status)
        }
        Act::Release(workload) => {
            let patch = without(&workload.metadata, RESOURCE_IN_USE_FINALIZER);
            store.patch("Workload", workload.namespace(), workload.name(), &patch)
        }
        Act::DeleteWorkload(workload) => {
            store.delete("Workload", workload.namespace(), workload.name())
        }
        Act::Start(before, after) => {
            let value = |pod: &Pod| serde_json::to_value(pod).unwrap();
            let patch = jobs::merge::between(&value(&before), &value(&after));
            let (namespace, name) = at(&before.metadata);
            patch.is_none_or(|patch| store.patch("Pod", namespace, name, &patch))
        }
        Act::LetGo(pod) => {
            let (namespace, name) = at(&pod.metadata);
            store.patch(
                "Pod",
                namespace,
                name,
                &without(&pod.metadata, POD_FINALIZER),
            )
        }
        Act::Terminate {
            pod,
            reason,
            message,
        } => {
            let (namespace, name) = at(&pod.metadata);
            terminate(store, (namespace, name), &reason, &message)
        }
        Act::DeletePod(pod) => {
            let (namespace, name) = at(&pod.metadata);
            store.delete("Pod", namespace, name)
        }
        Act::CountStart { .. } => true,
        Act::Event(about, kind, reason, note) => {
            let meta = match &about {
                About::Pod(pod) => &pod.metadata,
                About::Workload(workload) => &workload.metadata,
            };
            let kind = if kind == Kind::Normal {
                "Normal"
            } else {
                "Warning"
            };
            let (namespace, name) = at(meta);
            store.event(namespace, name, kind, reason, &note);
            true
        }
    }
}

/// A pod that is not there any more is not deleted either.
fn terminate(
    store: &mut Store,
    (namespace, name): (&str, &str),
    reason: &str,
    message: &str,
) -> bool {
    let mut conditions: Vec<Value> = store
        .value("Pod", namespace, name)
        .map(|pod| each(&pod["status"]["conditions"]))
        .unwrap_or_default();
    conditions.retain(|condition| condition["type"] != "TerminationTarget");
    conditions.push(json!({
        "type": "TerminationTarget", "status": "True", "reason": reason, "message": message,
    }));
    let patch = json!({"status": {"conditions": conditions}});
    store.patch("Pod", namespace, name, &patch) && store.delete("Pod", namespace, name)
}

fn same_pods(store: &Store, want: &Value) -> Verdict {
    if want.is_null() {
        return Verdict::Passed;
    }
    let pods: Vec<Value> = store
        .values("Pod")
        .iter()
        .map(|pod| json!(parse::<Pod>(pod)))
        .collect();
    let want: Vec<Pod> = each(want);
    let want: Vec<Value> = want.iter().map(|pod| json!(pod)).collect();
    let verdict = Verdict::same(&normal(&pods, POD_NOISE), &normal(&want, POD_NOISE));
    named("pods", verdict)
}

pub(super) fn reconcile(case: Case<'_>) -> Verdict {
    let (mut store, rules) = (before(case), rules(case));
    let decided = decided(case, &store, &rules);
    happen(&mut store, decided.acts);
    let failed = matches!(decided.trouble, Some(Trouble::Again(_)));
    let wanted = !case.want["wantErr"].is_null();
    let trouble = format!("error {:?} for {}", decided.trouble, case.want["wantErr"]);
    Verdict::all([
        Verdict::equal(&trouble, &failed, &wanted),
        same_pods(&store, &case.want["wantPods"]),
        same_workloads(case, &store),
        store.same_events(&case.want["wantEvents"]),
    ])
}

/// Some tables say of a new Workload only which annotations it has: there it is wanted without its finalizer.
fn same_workloads(case: Case<'_>, store: &Store) -> Verdict {
    let (want, known) = (&case.want["wantWorkloads"], &case.input["workloads"]);
    let sketch = want.as_array().filter(|want| {
        let bare = |one: &Value| one["metadata"]["finalizers"].is_null();
        known.is_null() && want.iter().all(bare)
    });
    let Some(sketch) = sketch else {
        return store.same_workloads(want, known, true);
    };
    let notes = |all: &[Value]| -> Vec<Value> {
        let notes = all.iter().map(|one| one["metadata"]["annotations"].clone());
        notes.collect()
    };
    let got = notes(&store.values("Workload"));
    named("annotations", Verdict::same(&got, &json!(notes(sketch))))
}

pub(super) fn ungated(case: Case<'_>) -> Verdict {
    let (mut store, rules) = (before(case), rules(case));
    store.add(&json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
        "metadata": {"name": case.common["rfName"]},
        "spec": {"nodeLabels": {"kubernetes.io/arch": "arm64"}},
    }));
    let decided = decided(case, &store, &rules);
    let seconds: Vec<f64> = decided
        .acts
        .iter()
        .filter_map(|act| match act {
            Act::CountStart { seconds, .. } => Some(*seconds),
            _ => None,
        })
        .collect();
    happen(&mut store, decided.acts);
    let count = case.want["wantMetricsCount"].as_u64().unwrap_or_default();
    let sum = case.want["wantMetricsSeconds"].as_f64().unwrap_or_default();
    Verdict::all([
        Verdict::equal("count", &(seconds.len() as u64), &count),
        Verdict::equal("seconds", &seconds.iter().sum::<f64>(), &sum),
        same_pods(&store, &case.want["wantPods"]),
    ])
}

/// The pod is stopped as for an eviction; it may be gone by the time that this is carried out.
pub(super) fn stop(case: Case<'_>) -> Verdict {
    let message: String = parse(&case.input["eventMsg"]);
    let pod = labelled(&case.input["pod"]);
    let (namespace, name) = (
        read::<String>(&pod["metadata"]["namespace"]),
        read::<String>(&pod["metadata"]["name"]),
    );
    let rules = rules(case);
    let mut store = Store::of([&pod, &evicted(&pod, &message)]);
    let stores = kept(&store, true);
    let flavors = BTreeMap::new();
    let asked = Key::new(&namespace, &name);
    let decided = pass(&look(
        &stores,
        &rules,
        &flavors,
        &asked,
        |_| Some(true),
        now(),
    ));
    if case.input["deleteBeforePatch"] == true {
        store.delete("Pod", &namespace, &name);
    }
    let stops = |act: &Act| matches!(act, Act::Terminate { message: text, .. } if *text == message);
    let stopped: Vec<_> = decided.acts.into_iter().filter(|act| stops(act)).collect();
    let asked_for = stopped.len();
    let deleted = stopped.into_iter().all(|act| one(&mut store, act));
    let wanted: Vec<Value> = each(&case.want["wantStopped"]);
    Verdict::all([
        Verdict::equal("stopped", &asked_for, &wanted.len()),
        Verdict::equal("deleted", &deleted, &(case.want["wantDeleted"] == true)),
    ])
}

fn labelled(pod: &Value) -> Value {
    let mut pod = pod.clone();
    pod["metadata"]["uid"] = json!("pod-uid");
    pod["metadata"]["labels"] = json!({labels::MANAGED: "true", labels::QUEUE_NAME: "queue"});
    pod
}

fn evicted(pod: &Value, message: &str) -> Value {
    let condition = |type_: &str, message: &str| {
        json!({
            "type": type_, "status": "True", "reason": "Preempted", "message": message,
            "lastTransitionTime": now().to_string(),
        })
    };
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {
            "name": "workload", "namespace": pod["metadata"]["namespace"],
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Pod", "controller": true,
                "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"],
            }],
        },
        "spec": {"queueName": "queue", "podSets": [
            {"name": "main", "count": 1, "template": {"spec": pod["spec"]}},
        ]},
        "status": {"conditions": [condition("Evicted", message)]},
    })
}
