//! A `StatefulSet`: its pods are one group, admitted as one. Its Workload is made before its pods are, they only name it.

use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::ObjectMeta;
use kueue_api::features::Features;
use kueue_api::field::{FieldError, Path};
use kueue_api::names::{DEFAULT_POD_SET, RESOURCE_IN_USE_FINALIZER, annotations, gates, labels};
use kueue_api::v1beta2::{PodSet, Workload, WorkloadSpec};
use kueue_api::workload::phase::is_on_hold;

use super::{REVISION, STATEFUL_SET, change_problems, enter, hold_back, same_shape};
use crate::admission::{Surroundings, default_names, label, names, set_label, should_manage};
use crate::construct::{self, Options, Priority};
use crate::error::JobError;
use crate::pods;
use crate::topology_request::{self, Ranks};
use crate::{ancestors, naming};

/// The label that numbers the pods.
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// Whether another integration looks after it.
#[must_use]
pub fn is_foreign(set: &StatefulSet) -> bool {
    let meta = set.spec.template.metadata.as_ref();
    let notes = meta.and_then(|meta| meta.annotations.as_ref());
    let parent = notes.and_then(|notes| notes.get(annotations::POD_SUSPENDING_PARENT));
    parent.is_some_and(|name| name != STATEFUL_SET.framework)
}

/// How many pods it wants.
#[must_use]
pub fn replicas(set: &StatefulSet) -> i32 {
    set.spec.replicas.unwrap_or(1)
}

/// Applies the defaults.
pub fn default(set: &mut StatefulSet, around: Surroundings) {
    if is_foreign(set) {
        return;
    }
    let meta = &mut set.metadata;
    default_names(meta, around);
    if meta.deletion_timestamp.is_none() && should_manage(meta, around) {
        hold_back(&mut set.spec.template, &STATEFUL_SET);
    }
}

/// What is wrong with a new one.
#[must_use]
pub fn validate_create(set: &StatefulSet, features: &Features) -> Vec<FieldError> {
    if is_foreign(set) {
        return Vec::new();
    }
    super::problems(&set.metadata, &STATEFUL_SET, features)
}

/// What is wrong with a change; `workload` is that of the old one, if it is there.
#[must_use]
pub fn validate_update(
    old: &StatefulSet,
    new: &StatefulSet,
    around: Surroundings,
    workload: Option<&Workload>,
    features: &Features,
) -> Vec<FieldError> {
    if is_foreign(new) {
        return Vec::new();
    }
    let ready = old.status.as_ref().and_then(|status| status.ready_replicas);
    let idle = ready.unwrap_or_default() == 0;
    let metas = (&old.metadata, &new.metadata);
    let mut found = change_problems(metas, &STATEFUL_SET, idle, features);
    if new.metadata.deletion_timestamp.is_none() && should_manage(&new.metadata, around) {
        let none = k8s_openapi::api::core::v1::PodSpec::default();
        let place = Path::new("spec").child("template").child("spec");
        let specs = [old, new].map(|set| set.spec.template.spec.as_ref().unwrap_or(&none));
        found.extend(same_shape(specs[0], specs[1], &place));
        found.extend(scaled(old, new, workload));
    }
    found
}

/// The group has the size it was admitted with; only zero is another.
fn scaled(old: &StatefulSet, new: &StatefulSet, workload: Option<&Workload>) -> Option<FieldError> {
    let place = Path::new("spec").child("replicas");
    let (was, is) = (replicas(old), replicas(new));
    if was != 0 && is != 0 {
        return (was != is).then(|| FieldError::invalid(&place, is, "field is immutable"));
    }
    if was != 0 || is == 0 {
        return None;
    }
    let left = new.status.as_ref().map_or(0, |status| status.replicas);
    if left > 0 {
        let detail = "scaling down is still in progress";
        return Some(FieldError::forbidden(&place, detail));
    }
    workload.filter(|workload| !is_on_hold(workload)).map(|_| {
        let detail = "workload from previous scale-down is still being deleted";
        FieldError::forbidden(&place, detail)
    })
}

/// The name of its Workload; that which releases before the uid counted gave it comes second.
#[must_use]
pub fn workload_names(set: &StatefulSet, longest: usize) -> [String; 2] {
    let name = set.metadata.name.as_deref().unwrap_or_default();
    let origin = label(&set.metadata, labels::MULTIKUEUE_ORIGIN).and_then(|_| {
        let notes = set.metadata.annotations.as_ref()?;
        notes.get(annotations::MULTIKUEUE_ORIGIN_UID)
    });
    let own = set.metadata.uid.as_deref().unwrap_or_default();
    let uid = origin.map_or(own, String::as_str);
    [uid, ""].map(|uid| naming::workload_name(&STATEFUL_SET, name, uid, longest))
}

/// How it owns its Workload.
#[must_use]
pub fn owner_reference(set: &StatefulSet) -> OwnerReference {
    OwnerReference {
        api_version: STATEFUL_SET.api_version(),
        kind: STATEFUL_SET.kind.to_owned(),
        name: set.metadata.name.clone().unwrap_or_default(),
        uid: set.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}

/// Who made a Workload, in a form that outlives the reference to it.
#[must_use]
pub fn maker(set: &StatefulSet) -> [(String, String); 2] {
    let name = set.metadata.name.clone().unwrap_or_default();
    [
        (annotations::JOB_OWNER_GVK.to_owned(), STATEFUL_SET.gvk()),
        (annotations::JOB_OWNER_NAME.to_owned(), name),
    ]
}

/// Makes its Workload.
pub fn workload(
    set: &StatefulSet,
    priority: Priority,
    options: &Options,
) -> Result<Workload, JobError> {
    let template = set.spec.template.clone();
    let ranks = Ranks {
        pod_index_label: Some(POD_INDEX),
        sub_groups: None,
    };
    let topology_request = topology_request::of(template.metadata.as_ref(), &ranks)?;
    let mut pods = PodSet {
        name: DEFAULT_POD_SET.to_owned(),
        count: replicas(set),
        template: PodTemplateSpec {
            metadata: None,
            spec: template.spec,
        },
        topology_request: topology_request.filter(|_| options.topology),
        ..PodSet::default()
    };
    construct::tidy(&mut pods);
    Ok(Workload {
        metadata: metadata(set, options),
        spec: WorkloadSpec {
            pod_sets: vec![pods],
            queue_name: label(&set.metadata, labels::QUEUE_NAME).map(str::to_owned),
            priority_class_ref: priority.class,
            priority: Some(priority.value),
            ..WorkloadSpec::default()
        },
        status: None,
    })
}

fn metadata(set: &StatefulSet, options: &Options) -> ObjectMeta {
    let own = set.metadata.annotations.iter().flatten();
    let copied = own.filter(|(key, value)| {
        let gates = options.admission_gates && *key == annotations::ADMISSION_GATED_BY;
        let provisioning = key.starts_with(annotations::PROVISIONING_REQUEST_PREFIX);
        (gates || provisioning) && !value.is_empty()
    });
    let mut notes: std::collections::BTreeMap<_, _> =
        copied.map(|(k, v)| (k.clone(), v.clone())).collect();
    notes.extend(maker(set));
    notes.insert(annotations::IS_GROUP_WORKLOAD.to_owned(), "true".to_owned());
    let [name, _] = workload_names(set, options.longest_name);
    let mut meta = ObjectMeta {
        name: Some(name),
        namespace: set.metadata.namespace.clone(),
        annotations: Some(notes),
        finalizers: Some(vec![RESOURCE_IN_USE_FINALIZER.to_owned()]),
        owner_references: Some(vec![owner_reference(set)]),
        ..ObjectMeta::default()
    };
    let uid = set.metadata.uid.as_deref().unwrap_or_default();
    if names::is_label_value(uid) {
        set_label(&mut meta, labels::JOB_UID, uid);
    }
    meta
}

/// Makes a pod one of the group of this Workload; `annotated` is the gate `WorkloadIdentifierAnnotations`. Whether anything changed.
pub fn join(
    pod: &mut Pod,
    set: &StatefulSet,
    workload: &str,
    unnamed: bool,
    annotated: bool,
) -> bool {
    let owned = ancestors::controller(&pod.metadata).is_some_and(|owner| {
        owner.kind == STATEFUL_SET.kind && owner.api_version == STATEFUL_SET.api_version()
    });
    let done = pods::is_terminated(pod) || pod.metadata.deletion_timestamp.is_some();
    if !owned || done {
        return false;
    }
    let before = pod.metadata.clone();
    let queue = label(&set.metadata, labels::QUEUE_NAME);
    if pods::group_name(pod, annotated) == Some(workload) {
        if let Some(queue) = queue {
            set_label(&mut pod.metadata, labels::QUEUE_NAME, queue);
        }
    } else if queue.is_some() || unnamed {
        mark(&mut pod.metadata, set, workload, annotated);
    }
    pod.metadata != before
}

fn mark(meta: &mut ObjectMeta, set: &StatefulSet, workload: &str, annotated: bool) {
    set_label(meta, labels::MANAGED, labels::MANAGED_VALUE);
    for key in [labels::QUEUE_NAME, labels::PRIORITY_CLASS] {
        if let Some(value) = label(&set.metadata, key) {
            set_label(meta, key, value);
        }
    }
    enter(meta, workload, annotated);
    let total = replicas(set).to_string();
    let notes = meta.annotations.get_or_insert_default();
    let all = [
        (annotations::POD_GROUP_TOTAL_COUNT, total.as_str()),
        (annotations::POD_GROUP_FAST_ADMISSION, "true"),
        (annotations::POD_GROUP_SERVING, "true"),
        (annotations::POD_GROUP_POD_INDEX_LABEL, POD_INDEX),
        (annotations::ROLE_HASH, DEFAULT_POD_SET),
    ];
    for (key, value) in all {
        notes.insert(key.to_owned(), value.to_owned());
    }
}

/// What a pod still needs from its `StatefulSet`: the queue that it is in now, and, while a new revision is rolled out, to be let go if it is of
/// the old one, for the controller waits for it to become ready or to end. Whether anything changed.
pub fn keep_up(pod: &mut Pod, set: &StatefulSet) -> bool {
    let before = pod.clone();
    let queue = label(&set.metadata, labels::QUEUE_NAME).filter(|_| replicas(set) > 0);
    if let Some(queue) = queue {
        set_label(&mut pod.metadata, labels::QUEUE_NAME, queue);
    }
    let status = set.status.as_ref();
    let current = status.and_then(|status| status.current_revision.as_deref());
    let update = status.and_then(|status| status.update_revision.as_deref());
    let own = label(&pod.metadata, REVISION);
    if current.unwrap_or_default() != update.unwrap_or_default() && current == own {
        let spec = pod.spec.get_or_insert_default();
        pods::ungate(spec, gates::ADMISSION);
        pods::ungate(spec, gates::TOPOLOGY);
    }
    *pod != before
}
