//! A `LeaderWorkerSet`: groups of pods, one of them the leader of its group, all groups alike. Each group is admitted by itself, with a
//! Workload made before its pods are; they only name it. Reference section 5.7.

mod object;
mod rules;

#[cfg(test)]
mod tests;

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::ObjectMeta;
use kueue_api::names::{DEFAULT_POD_SET, RESOURCE_IN_USE_FINALIZER, annotations, gates, labels};
use kueue_api::v1beta2::{PodSet, Workload, WorkloadSpec};

use super::{LEADER_WORKER_SET, REVISION, enter};
use crate::admission::{label, names, set_label};
use crate::construct::{self, Options, Priority};
use crate::error::JobError;
use crate::topology_request::{self, Ranks};
use crate::{naming, pods};

pub use object::{LeaderWorkerSet, Spec, Status, Templates};
pub use rules::{GroupsError, default, too_many, validate_create, validate_update};

/// The label that names the set of a pod or of a `StatefulSet`.
pub const SET_NAME: &str = "leaderworkerset.sigs.k8s.io/name";
/// The label that numbers the groups.
const GROUP_INDEX: &str = "leaderworkerset.sigs.k8s.io/group-index";
/// The label that numbers the pods of a group.
const WORKER_INDEX: &str = "leaderworkerset.sigs.k8s.io/worker-index";
/// The annotation that names the leader of a pod that is none.
const LEADER_NAME: &str = "leaderworkerset.sigs.k8s.io/leader-name";
/// Keys that its controller writes into templates.
const OWN_KEYS: &str = "leaderworkerset.sigs.k8s.io";

const LEADER: &str = "leader";
const WORKER: &str = "worker";

/// The set that a pod or a `StatefulSet` with this metadata belongs to.
#[must_use]
pub fn set_of(meta: &ObjectMeta) -> Option<&str> {
    label(meta, SET_NAME)
}

/// Whether pods of a `StatefulSet` are held back because of such a set.
#[must_use]
pub fn holds_back(set: &StatefulSet) -> bool {
    let meta = set.spec.template.metadata.as_ref();
    let notes = meta.and_then(|meta| meta.annotations.as_ref());
    let parent = notes.and_then(|notes| notes.get(annotations::POD_SUSPENDING_PARENT));
    parent.is_some_and(|name| name == LEADER_WORKER_SET.framework)
}

/// The name of the Workload of one group.
#[must_use]
pub fn workload_name(set: &LeaderWorkerSet, group: &str, longest: usize) -> String {
    let name = set.metadata.name.as_deref().unwrap_or_default();
    let origin = label(&set.metadata, labels::MULTIKUEUE_ORIGIN).and_then(|_| {
        let notes = set.metadata.annotations.as_ref()?;
        notes.get(annotations::MULTIKUEUE_ORIGIN_UID)
    });
    let own = set.metadata.uid.as_deref().unwrap_or_default();
    workload_name_of(name, origin.map_or(own, String::as_str), group, longest)
}

/// The same of a set of which only name and identity are known.
#[must_use]
pub fn workload_name_of(name: &str, uid: &str, group: &str, longest: usize) -> String {
    naming::workload_name(&LEADER_WORKER_SET, &format!("{name}-{group}"), uid, longest)
}

/// The number of the group that a Workload was made for.
#[must_use]
pub fn group_of(workload: &Workload) -> Option<i32> {
    let notes = workload.metadata.annotations.as_ref()?;
    notes
        .get(annotations::COMPONENT_WORKLOAD_INDEX)?
        .parse()
        .ok()
}

/// What one group runs.
pub fn pod_sets(set: &LeaderWorkerSet, topology: bool) -> Result<Vec<PodSet>, JobError> {
    let numbered = Ranks {
        pod_index_label: Some(WORKER_INDEX),
        sub_groups: None,
    };
    bare_pod_sets(set)
        .into_iter()
        .map(|set| {
            let none = Ranks::default();
            let ranks = if set.name == LEADER { &none } else { &numbered };
            let topology_request = topology_request::of(set.template.metadata.as_ref(), ranks)?;
            let mut set = PodSet {
                topology_request: topology_request.filter(|_| topology),
                ..set
            };
            construct::tidy(&mut set);
            Ok(set)
        })
        .collect()
}

/// Podsets without what their annotations ask for.
fn bare_pod_sets(set: &LeaderWorkerSet) -> Vec<PodSet> {
    let pods = |name: &str, count, template: &PodTemplateSpec| PodSet {
        name: name.to_owned(),
        count,
        template: without_own_keys(template),
        ..PodSet::default()
    };
    let templates = &set.spec.leader_worker_template;
    match &templates.leader_template {
        None => vec![pods(
            DEFAULT_POD_SET,
            set.size(),
            &templates.worker_template,
        )],
        Some(leader) => vec![
            pods(LEADER, 1, leader),
            pods(
                WORKER,
                set.size().saturating_sub(1),
                &templates.worker_template,
            ),
        ],
    }
}

/// The controller of the set writes names and numbers into templates that belong to one revision or group.
fn without_own_keys(template: &PodTemplateSpec) -> PodTemplateSpec {
    let mut template = template.clone();
    if let Some(meta) = template.metadata.as_mut() {
        for map in [&mut meta.labels, &mut meta.annotations] {
            if let Some(map) = map.as_mut() {
                map.retain(|key, _| !key.starts_with(OWN_KEYS) || key == SET_NAME);
            }
            map.take_if(|map| map.is_empty());
        }
    }
    template
}

/// Makes the Workload of one group.
pub fn workload(
    set: &LeaderWorkerSet,
    group: i32,
    priority: Priority,
    options: &Options,
) -> Result<Workload, JobError> {
    Ok(Workload {
        metadata: metadata(set, group, options),
        spec: WorkloadSpec {
            pod_sets: pod_sets(set, options.topology)?,
            queue_name: label(&set.metadata, labels::QUEUE_NAME).map(str::to_owned),
            priority_class_ref: priority.class,
            priority: Some(priority.value),
            ..WorkloadSpec::default()
        },
        status: None,
    })
}

fn metadata(set: &LeaderWorkerSet, group: i32, options: &Options) -> ObjectMeta {
    let own = &set.metadata;
    let copied = |map: &Option<std::collections::BTreeMap<String, String>>,
                  wanted: &dyn Fn(&String) -> bool| {
        let all = map.iter().flatten();
        all.filter(|(key, value)| wanted(key) && !value.is_empty())
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let mut notes = copied(&own.annotations, &|key| {
        options.admission_gates && key == annotations::ADMISSION_GATED_BY
            || key.starts_with(annotations::PROVISIONING_REQUEST_PREFIX)
            || options.annotations_to_copy.contains(key)
    });
    let name = own.name.clone().unwrap_or_default();
    for (key, value) in [
        (annotations::JOB_OWNER_GVK, LEADER_WORKER_SET.gvk()),
        (annotations::JOB_OWNER_NAME, name.clone()),
        (annotations::IS_GROUP_WORKLOAD, "true".to_owned()),
        (annotations::COMPONENT_WORKLOAD_INDEX, group.to_string()),
    ] {
        notes.insert(key.to_owned(), value);
    }
    let mut meta = ObjectMeta {
        name: Some(workload_name(set, &group.to_string(), options.longest_name)),
        namespace: own.namespace.clone(),
        labels: Some(copied(&own.labels, &|key| {
            options.label_keys_to_copy.contains(key)
        })),
        annotations: Some(notes),
        finalizers: Some(vec![RESOURCE_IN_USE_FINALIZER.to_owned()]),
        owner_references: Some(vec![OwnerReference {
            api_version: LEADER_WORKER_SET.api_version(),
            kind: LEADER_WORKER_SET.kind.to_owned(),
            name,
            uid: own.uid.clone().unwrap_or_default(),
            ..OwnerReference::default()
        }]),
        ..ObjectMeta::default()
    };
    let uid = own.uid.as_deref().unwrap_or_default();
    if names::is_label_value(uid) {
        set_label(&mut meta, labels::JOB_UID, uid);
    }
    meta
}

/// Whether nothing will ever admit a pod: its set is gone, or the `StatefulSet` that made it, or a new revision is rolled out and it is of
/// the old one, and its controller waits for it to become ready or to end.
#[must_use]
pub fn is_abandoned(pod: &Pod, set: Option<&LeaderWorkerSet>, maker: Option<&StatefulSet>) -> bool {
    let (Some(_), Some(maker)) = (set, maker) else {
        return true;
    };
    let status = maker.status.as_ref();
    let current = status.and_then(|status| status.current_revision.as_deref());
    let update = status.and_then(|status| status.update_revision.as_deref());
    current.unwrap_or_default() != update.unwrap_or_default()
        && current == label(&pod.metadata, REVISION)
}

/// Opens the gates of a pod. Whether anything changed.
pub fn let_go(pod: &mut Pod) -> bool {
    let Some(spec) = pod.spec.as_mut() else {
        return false;
    };
    let gates = [gates::ADMISSION, gates::TOPOLOGY];
    gates.map(|gate| pods::ungate(spec, gate)).contains(&true)
}

/// Makes a pod one of its group, as soon as it says which that is; `annotated` is the gate `WorkloadIdentifierAnnotations`.
pub fn join(pod: &mut Pod, set: &LeaderWorkerSet, longest: usize, annotated: bool) {
    if pods::is_terminated(pod) || pod.metadata.deletion_timestamp.is_some() {
        return;
    }
    let gated = pods::is_gated(pod);
    let queue = label(&set.metadata, labels::QUEUE_NAME);
    let own = pod.metadata.labels.as_ref();
    let joined = own.is_some_and(|own| own.contains_key(labels::MANAGED));
    let group = label(&pod.metadata, GROUP_INDEX).map(str::to_owned);
    if joined || group.is_some() {
        // A pod that was let run keeps the queue that it runs in.
        if let Some(queue) = queue.filter(|_| gated) {
            set_label(&mut pod.metadata, labels::QUEUE_NAME, queue);
        }
    }
    let Some(group) = group.filter(|_| !joined) else {
        return;
    };
    let workload = workload_name(set, &group, longest);
    set_label(&mut pod.metadata, labels::MANAGED, labels::MANAGED_VALUE);
    enter(&mut pod.metadata, &workload, annotated);
    let notes = pod.metadata.annotations.get_or_insert_default();
    let role = if set.spec.leader_worker_template.leader_template.is_none() {
        DEFAULT_POD_SET
    } else if notes.contains_key(LEADER_NAME) {
        WORKER
    } else {
        LEADER
    };
    let total = set.size().to_string();
    notes.insert(annotations::POD_GROUP_TOTAL_COUNT.to_owned(), total);
    notes.insert(annotations::ROLE_HASH.to_owned(), role.to_owned());
}
