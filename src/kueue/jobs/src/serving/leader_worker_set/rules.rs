//! What the webhooks write into a `LeaderWorkerSet`, and what they refuse.

use k8s_openapi::api::core::v1::{PodSpec, PodTemplateSpec};
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::{annotations, labels};
use kueue_api::validation::admission_gates;
use serde_json::json;

use super::{LEADER, LeaderWorkerSet, WORKER, bare_pod_sets};
use crate::admission::topology::{self, Template};
use crate::admission::{
    Surroundings, default_names, elastic_annotation, label, queue_name, set_label, should_manage,
};
use crate::serving::{LEADER_WORKER_SET, held, hold_back, same_shape};

/// Each group is a Workload; nobody wants more of them.
const MOST_GROUPS: i32 = 1_000_000;

/// Applies the defaults.
pub fn default(set: &mut LeaderWorkerSet, around: Surroundings, features: &Features) {
    default_names(&mut set.metadata, around);
    if set.metadata.deletion_timestamp.is_some() || !should_manage(&set.metadata, around) {
        return;
    }
    let passed_on: Vec<_> = [labels::QUEUE_NAME, labels::PRIORITY_CLASS]
        .into_iter()
        .filter_map(|key| Some((key, label(&set.metadata, key)?.to_owned())))
        .collect();
    let templates = &mut set.spec.leader_worker_template;
    let led = templates.leader_template.is_some();
    let worker = &mut templates.worker_template;
    for template in templates.leader_template.iter_mut().chain([&mut *worker]) {
        let pods = template.metadata.get_or_insert_default();
        for (key, value) in &passed_on {
            set_label(pods, key, value);
        }
        hold_back(template, &LEADER_WORKER_SET);
        note(template, annotations::POD_GROUP_SERVING, "true");
    }
    // Where leader and workers are placed as one group, their ranks are counted as one, too.
    let notes = worker
        .metadata
        .as_ref()
        .and_then(|meta| meta.annotations.as_ref());
    let grouped = notes.is_some_and(|notes| notes.contains_key(annotations::POD_SET_GROUP_NAME));
    if led && !grouped && features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
        note(worker, annotations::POD_INDEX_OFFSET, "1");
    }
}

fn note(template: &mut PodTemplateSpec, key: &str, value: &str) {
    let meta = template.metadata.get_or_insert_default();
    let notes = meta.annotations.get_or_insert_default();
    notes.insert(key.to_owned(), value.to_owned());
}

fn templates_path() -> Path {
    Path::new("spec").child("leaderWorkerTemplate")
}

/// What is wrong with a new one.
#[must_use]
pub fn validate_create(set: &LeaderWorkerSet, features: &Features) -> Vec<FieldError> {
    let meta = &set.metadata;
    let mut found: Vec<_> = queue_name(meta).into_iter().collect();
    found.extend(elastic_annotation(meta, &LEADER_WORKER_SET, features));
    found.extend(too_many(set.replicas()).map(|error| {
        let place = Path::new("spec").child("replicas");
        FieldError::invalid(&place, set.replicas(), &error.to_string())
    }));
    if features.on(gate::ADMISSION_GATED_BY) {
        found.extend(admission_gates::format(meta));
    }
    if features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
        let templates = bare_pod_sets(set).into_iter().map(|pod_set| {
            let field = if pod_set.name == LEADER {
                "leaderTemplate"
            } else {
                "workerTemplate"
            };
            Template {
                path: templates_path().child(field).child("metadata"),
                pod_set,
            }
        });
        let layers = features.on(gate::TAS_MULTI_LAYER_TOPOLOGY);
        found.extend(topology::problems(&templates.collect::<Vec<_>>(), layers));
    }
    found
}

/// A number of groups that nobody can want.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid LeaderWorkerSet replicas: {bound}, got {replicas}")]
pub struct GroupsError {
    bound: String,
    replicas: i32,
}

/// What is wrong with a number of groups.
#[must_use]
pub fn too_many(replicas: i32) -> Option<GroupsError> {
    let bound = if replicas < 0 {
        "must be >= 0".to_owned()
    } else if replicas > MOST_GROUPS {
        format!("must be <= {MOST_GROUPS}")
    } else {
        return None;
    };
    Some(GroupsError { bound, replicas })
}

/// What is wrong with a change.
#[must_use]
pub fn validate_update(
    old: &LeaderWorkerSet,
    new: &LeaderWorkerSet,
    around: Surroundings,
    features: &Features,
) -> Vec<FieldError> {
    let idle = old.status.unwrap_or_default().ready_replicas == 0;
    let mut found = validate_create(new, features);
    found.extend(held((&old.metadata, &new.metadata), idle, features));
    if new.metadata.deletion_timestamp.is_some() || !should_manage(&new.metadata, around) {
        return found;
    }
    let [was, is] = [old, new].map(|set| &set.spec.leader_worker_template);
    let leaders = [&was.leader_template, &is.leader_template];
    found.extend(reshaped(leaders[0].as_ref(), leaders[1].as_ref(), LEADER));
    let workers = [&was.worker_template, &is.worker_template];
    found.extend(reshaped(Some(workers[0]), Some(workers[1]), WORKER));
    // Workloads are not made anew for another size, and the pods beyond the old one would run uncounted.
    if features.on(gate::LWS_IMMUTABLE_GROUP_SIZE) && old.size() != new.size() {
        let place = templates_path().child("size");
        found.push(FieldError::invalid(
            &place,
            new.size(),
            "field is immutable",
        ));
    }
    found
}

/// A template stays, and keeps the shape of its pods.
fn reshaped(
    old: Option<&PodTemplateSpec>,
    new: Option<&PodTemplateSpec>,
    role: &str,
) -> Vec<FieldError> {
    let place = templates_path().child(&format!("{role}Template"));
    match (old, new) {
        (None, None) => Vec::new(),
        (Some(old), Some(new)) => {
            let none = PodSpec::default();
            let [old, new] = [old, new].map(|template| template.spec.as_ref().unwrap_or(&none));
            same_shape(old, new, &place.child("spec"))
        }
        (_, new) => vec![FieldError::invalid(
            &place,
            json!(new),
            "field is immutable",
        )],
    }
}
