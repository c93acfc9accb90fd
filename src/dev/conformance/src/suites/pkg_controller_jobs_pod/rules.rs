//! Functions of values: webhook rules, podsets, what a group says about itself.

use std::sync::Arc;

use jobs::GenericJob;
use jobs::admission::{Surroundings, validate_create, validate_update};
use jobs::ancestors;
use jobs::integrations::Integrations;
use jobs::kind::of_owner;
use jobs::pods::{self, Pods, Switches, admission};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::features::{Features, gate};
use kueue_api::names::{DEFAULT_WORKLOAD_PRIORITY_CLASS, POD_GROUP_NAME, annotations};
use kueue_api::v1beta2::{PodSet, Workload};
use kueue_api::validation::matches_selector;
use serde_json::{Value, json};

use crate::compare::{Also, faults};
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;

pub(super) fn features(case: Case<'_>) -> Features {
    Features::with(case.gates())
}

pub(super) fn switches(case: Case<'_>) -> Switches {
    (&features(case)).into()
}

/// The reference's record of a single pod or a group.
fn pods(case: Case<'_>, record: &Value) -> Pods {
    let (switches, head) = (switches(case), Arc::new(parse::<Pod>(&record["pod"])));
    let members: Vec<Pod> = each(&record["list"]["items"]);
    let members: Vec<_> = members.into_iter().map(Arc::new).collect();
    let grouped = record["isGroup"] == true || !members.is_empty();
    if !grouped {
        return Pods::single(head, switches, now());
    }
    let group = Pods::group(members, switches, now()).unwrap();
    if record["pod"]["metadata"].is_object() {
        group.led_by(head)
    } else {
        group
    }
}

fn single(case: Case<'_>, pod: &Value) -> Pods {
    Pods::single(Arc::new(parse(pod)), switches(case), now())
}

pub(super) fn pod_sets(case: Case<'_>) -> Verdict {
    let got = pods(case, &case.input["pod"]).pod_sets().unwrap();
    let want: Vec<PodSet> = each(&case.want["wantPodSets"]);
    Verdict::same(&got, &json!(want))
}

pub(super) fn active(case: Case<'_>) -> Verdict {
    let mut record = case.input["fields"].clone();
    if record["pod"]["metadata"].is_null() {
        record["pod"]["metadata"] = json!({});
    }
    let got = pods(case, &record).is_active();
    Verdict::equal("active", &got, &(case.want["want"] == true))
}

pub(super) fn ready(case: Case<'_>) -> Verdict {
    let got = pods(case, &case.input["pod"]).pods_ready();
    Verdict::equal("ready", &got, &(case.want["want"] == true))
}

pub(super) fn role(case: Case<'_>) -> Verdict {
    let records: Vec<Value> = each(&case.input["pods"]);
    let roles = records
        .iter()
        .map(|record| pods::role_of(&parse(&record["pod"])));
    let roles: Vec<_> = roles.collect();
    let same = roles.windows(2).all(|two| two[0] == two[1]);
    Verdict::equal("same role", &same, &(case.want["wantEqualHash"] == true))
}

pub(super) fn group_name(case: Case<'_>) -> Verdict {
    let object = &case.input["object"];
    let pod = (object["kind"] == "Pod").then(|| parse::<Pod>(object));
    let got: Vec<_> = pod
        .iter()
        .filter_map(|pod| pods::group_name(pod, switches(case).annotated))
        .collect();
    Verdict::same(&got, &case.want["wantKeys"])
}

pub(super) fn owner(case: Case<'_>) -> Verdict {
    let mut reference = case.input["ownerReference"].clone();
    for key in ["name", "uid"] {
        if reference[key].is_null() {
            reference[key] = json!("");
        }
    }
    let owner: OwnerReference = parse(&reference);
    let got = of_owner(&owner).is_some();
    Verdict::equal("managed", &got, &(case.want["wantRes"] == true))
}

pub(super) fn run(case: Case<'_>) -> Verdict {
    let pods: Vec<Value> = each(&case.input["pods"]);
    let infos = case.input["runInfo"].as_array().map_or(0, Vec::len);
    let infos = vec![jobs::PodSetInfo::default(); infos];
    let error = single(case, &pods[0]).started(&infos).err();
    let text = error.map(|error| error.to_string()).unwrap_or_default();
    let want: String = read(&case.want["wantErr"]);
    Verdict::equal("error", &text.starts_with(&want), &true)
}

/// Pods of as many roles as are asked for.
pub(super) fn role_limit(case: Case<'_>) -> Verdict {
    let roles: usize = parse(&case.input["roleCount"]);
    let pod = |i: usize| {
        let pod = json!({
            "metadata": {
                "name": format!("pod-{i:02}"), "namespace": "ns", "uid": format!("uid-{i}"),
                "labels": {POD_GROUP_NAME: "group", "kueue.x-k8s.io/queue-name": "queue"},
                "annotations": {
                    annotations::POD_GROUP_TOTAL_COUNT: roles.to_string(),
                    annotations::ROLE_HASH: format!("role-{i:02}"),
                },
            },
            "spec": {"containers": [{"name": "c"}]},
        });
        Arc::new(parse::<Pod>(&pod))
    };
    let members = (0..roles).map(pod).collect();
    let group = Pods::group(members, Switches::default(), now()).unwrap();
    let composed = group.compose().unwrap();
    let options = jobs::construct::Options::default();
    let made = composed.pods.workload(jobs::Priority::default(), &options);
    let got = made.err().map(|error| error.to_string());
    let want: String = read(&case.want["wantErr"]);
    Verdict::equal("error", &got.unwrap_or_default(), &want)
}

pub(super) fn create(case: Case<'_>) -> Verdict {
    let pod = single(case, &case.input["pod"]);
    let got = validate_create(&pod, Surroundings::default(), &features(case));
    Verdict::all([
        faults(&got, &case.want["wantErr"], also(&case.want["wantErr"])),
        warnings(case, &case.input["pod"]),
    ])
}

/// Some tables leave the texts out.
fn also(want: &Value) -> Also {
    let mut faults = want.as_array().into_iter().flatten();
    if faults.any(|fault| fault["detail"].is_string()) {
        Also::Detail
    } else {
        Also::Nothing
    }
}

fn warnings(case: Case<'_>, pod: &Value) -> Verdict {
    let pod: Pod = parse(pod);
    let owners = pod.metadata.owner_references.iter().flatten();
    let managed = owners
        .filter(|owner| owner.controller == Some(true))
        .any(|owner| of_owner(owner).is_some());
    let got: Vec<_> = admission::warning(&pod, managed).into_iter().collect();
    Verdict::same(&got, &case.want["wantWarns"])
}

pub(super) fn update(case: Case<'_>) -> Verdict {
    let (old, new) = (
        single(case, &case.input["oldPod"]),
        single(case, &case.input["newPod"]),
    );
    let around = Surroundings {
        namespace_managed: true,
        ..Surroundings::default()
    };
    let got = validate_update(&old, &new, around, &features(case));
    let want = &case.want["wantErr"];
    let checked = faults(&got, want, also(want));
    let by_parent = pods::parent_framework(new.head()).is_some();
    if by_parent {
        let none = case.want["wantWarns"].is_null();
        return Verdict::all([checked, Verdict::equal("no warnings", &none, &true)]);
    }
    Verdict::all([checked, warnings(case, &case.input["newPod"])])
}

pub(super) fn default(case: Case<'_>) -> Verdict {
    let mut pod: Pod = parse(&built(&case.input["pod"]));
    let around = match around(case, &pod) {
        Ok(around) => around,
        Err(text) => {
            let want: String = read(&case.want["wantErr"]);
            return Verdict::equal("error", &text.starts_with(&want), &!want.is_empty());
        }
    };
    admission::default(&mut pod, around, &switches(case));
    let want = match &case.want["want"] {
        Value::Null => json!(parse::<Pod>(&case.input["pod"])),
        want => json!(parse::<Pod>(want)),
    };
    Verdict::same(&pod, &want)
}

/// The pod as the reference's builder makes it: an empty map of requests is not the same as none to whoever hashes it, and the corpus drops
/// empty maps.
fn built(pod: &Value) -> Value {
    let mut pod = pod.clone();
    let containers = pod.pointer_mut("/spec/containers");
    let containers = containers.and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        if container["resources"].is_null() {
            container["resources"] = json!({"requests": {}});
        }
    }
    pod
}

fn around(case: Case<'_>, pod: &Pod) -> Result<Surroundings, String> {
    let objects: Vec<Value> = each(&case.input["initObjects"]);
    let find = |kind: &str, name: &str| {
        let mut all = objects.iter();
        all.find(|one| one["kind"] == kind && one["metadata"]["name"] == name)
    };
    let own = pod.metadata.namespace.as_deref().unwrap_or_default();
    let namespace = find("Namespace", own).unwrap();
    let labels = read(&namespace["metadata"]["labels"]);
    let selects =
        |selector: &Value, labels| selector.is_null() || matches_selector(&parse(selector), labels);
    let class = find("WorkloadPriorityClass", DEFAULT_WORKLOAD_PRIORITY_CLASS);
    let mut around = Surroundings {
        namespace_managed: by_text(case, &labels)
            && selects(&case.input["namespaceSelector"], &labels)
            && selects(
                &case.input["podSelector"],
                &pod.metadata.labels.clone().unwrap_or_default(),
            ),
        has_default_queue: case.input["defaultLqExist"] == true,
        has_default_priority_class: class.is_some()
            && features(case).on(gate::WORKLOAD_PRIORITY_CLASS_DEFAULTING),
        owner_managed: false,
        ancestor_managed: false,
        manage_without_queue_name: case.input["manageJobsWithoutQueueName"] == true,
    };
    let enabled: Vec<String> = read(&case.input["enableIntegrations"]);
    let integrations = Integrations::new(&enabled, &[]);
    let look_up = |owner: &OwnerReference| {
        let found = find(&owner.kind, &owner.name)?;
        Some(parse(&found["metadata"]))
    };
    let top = ancestors::find(
        &pod.metadata,
        around.manage_without_queue_name,
        |owner| integrations.known(owner),
        look_up,
    );
    around.ancestor_managed = top.map_err(|error| error.to_string())?.is_some();
    Ok(around)
}

/// The selector as text: `key notin (a,b)`.
fn by_text(case: Case<'_>, labels: &std::collections::BTreeMap<String, String>) -> bool {
    let Some(text) = case.input["managedJobsNamespaceSelector"].as_str() else {
        return true;
    };
    let Some((key, values)) = text.split_once(" notin ") else {
        panic!("selector {text:?} is not understood");
    };
    let values = values.trim_matches(['(', ')']);
    let value = labels.get(key).map_or("", String::as_str);
    !values.split(',').any(|one| one.trim() == value)
}

pub(super) fn asked_after_deletion(case: Case<'_>) -> Verdict {
    let workload: Workload = parse(&case.input["workload"]);
    let mut keys =
        controllers::pods::key::of_workload(&workload, true, switches(case).checks_owner);
    keys.dedup();
    let got: Vec<_> = keys.iter().map(ToString::to_string).collect();
    Verdict::same(&got, &case.want["wantRequests"])
}
