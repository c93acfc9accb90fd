//! What a `StatefulSet` needs: its Workload made and kept up, its pods joined to the group. One pass from values to writes. Reference section 5.6.

use std::sync::Arc;

use cache::Draft;
use jobs::serving::stateful_set::{
    self, join, keep_up, maker, owner_reference, replicas, workload_names,
};
use jobs::{JobError, Priority, merge};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::conditions::reasons;
use kueue_api::names::{annotations::ADMISSION_GATED_BY, labels};
use kueue_api::v1beta2::{Workload, WorkloadStatus};
use kueue_api::workload::phase::is_on_hold;
use serde_json::{Map, Value, json};

use crate::job::decide::Rules;

/// Everything the decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub set: &'a StatefulSet,
    /// Its Workload, under either of its names.
    pub workload: Option<&'a Arc<Workload>>,
    /// The pods that it controls, and those of its group.
    pub pods: &'a [Arc<Pod>],
    /// Priority it asks for; none while its class does not exist.
    pub priority: Option<&'a Priority>,
    /// `manageJobsWithoutQueueName`.
    pub unnamed: bool,
    pub rules: &'a Rules,
    pub now: jiff::Timestamp,
}

/// One write or event.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// An event about it.
    Tell {
        warning: bool,
        reason: &'static str,
        note: String,
    },
    Create(Box<Workload>),
    /// A merge patch of its Workload.
    Change(Arc<Workload>, Value),
    /// A new status of its Workload.
    Status(Arc<Workload>, Box<WorkloadStatus>),
    /// A merge patch of a pod.
    Pod(Arc<Pod>, Value),
}

/// The writes of one pass, in their order.
pub fn pass(view: &View<'_>) -> Result<Vec<Act>, JobError> {
    let mut acts = Vec::new();
    for pod in view.pods {
        acts.extend(of_pod(view, pod, true)?);
    }
    acts.extend(of_workload(view)?);
    Ok(acts)
}

/// What a pod needs: to belong to the group, if it is to be `joined`, to follow the queue, to be let go before a new revision.
pub fn of_pod(view: &View<'_>, pod: &Arc<Pod>, joined: bool) -> Result<Option<Act>, JobError> {
    let mut new = Pod::clone(pod);
    let annotated = view.rules.annotated_names;
    let [name, _] = workload_names(view.set, view.rules.workloads.longest_name);
    let name = view
        .workload
        .map_or(name, |workload| workload.name().to_owned());
    if joined {
        join(&mut new, view.set, &name, view.unnamed, annotated);
    }
    if jobs::pods::group_name(&new, annotated) == Some(name.as_str()) {
        keep_up(&mut new, view.set);
    }
    let write = |pod: &Pod| {
        serde_json::to_value(pod).map_err(|source| JobError::Write {
            kind: "Pod",
            source,
        })
    };
    let patch = merge::between(&write(pod)?, &write(&new)?);
    Ok(patch.map(|patch| Act::Pod(pod.clone(), patch)))
}

fn of_workload(view: &View<'_>) -> Result<Vec<Act>, JobError> {
    let Some(workload) = view.workload else {
        return created(view);
    };
    let mut acts = kept_up(view, workload);
    let wanted = replicas(view.set);
    let held = workload.has_quota_reservation() && !workload.is_finished() && workload.is_active();
    let draft = Draft::of(workload, view.now);
    let draft = if wanted == 0 && held {
        let text = "StatefulSet scaled to zero; workload on hold";
        Some(draft.cancelled(reasons::ON_HOLD, text))
    } else if wanted > 0 && is_on_hold(workload) {
        let text = "Workload no longer on hold; waiting for quota reservation";
        Some(draft.cancelled(reasons::PENDING_EVALUATION, text))
    } else {
        None
    };
    let status = draft.map(|draft| Act::Status(workload.clone(), Box::new(draft.done())));
    acts.extend(status);
    Ok(acts)
}

fn queue(set: &StatefulSet) -> &str {
    let labels = set.metadata.labels.as_ref();
    let queue = labels.and_then(|labels| labels.get(labels::QUEUE_NAME));
    queue.map_or("", String::as_str)
}

fn created(view: &View<'_>) -> Result<Vec<Act>, JobError> {
    let labels = view.set.metadata.labels.as_ref();
    let elsewhere = labels.is_some_and(|labels| labels.contains_key(labels::MULTIKUEUE_ORIGIN));
    let ours = !queue(view.set).is_empty() || view.unnamed;
    if replicas(view.set) <= 0 || !ours || elsewhere {
        return Ok(Vec::new());
    }
    let Some(priority) = view.priority else {
        let class = labels.and_then(|labels| labels.get(labels::PRIORITY_CLASS));
        let told = class.map(|name| Act::Tell {
            warning: true,
            reason: "WorkloadPriorityClassNotFound",
            note: format!("WorkloadPriorityClass {name:?} not found"),
        });
        return Ok(told.into_iter().collect());
    };
    let options = &view.rules.workloads;
    let made = stateful_set::workload(view.set, priority.clone(), options)?;
    let note = format!("Created Workload: {}", made.key());
    Ok(vec![
        Act::Create(Box::new(made)),
        tell("CreatedWorkload", note),
    ])
}

fn tell(reason: &'static str, note: String) -> Act {
    Act::Tell {
        warning: false,
        reason,
        note,
    }
}

/// What of the set shows in its Workload: that it owns it, its queue, its admission gates.
fn kept_up(view: &View<'_>, workload: &Arc<Workload>) -> Vec<Act> {
    let wanted = replicas(view.set);
    let own = owner_reference(view.set);
    let mut owners = workload.metadata.owner_references.clone();
    let known = owners.iter().flatten().any(|owner| owner.uid == own.uid);
    let mut patch = json!({});
    let mut notes = Map::new();
    if !known && wanted > 0 {
        owners.get_or_insert_default().push(own);
        patch["metadata"]["ownerReferences"] = json!(owners);
        notes.extend(maker(view.set).map(|(key, value)| (key, json!(value))));
    }
    let queue = queue(view.set);
    if wanted > 0 && workload.spec.queue_name() != queue {
        patch["spec"]["queueName"] = json!(queue);
    }
    let gates = |notes: Option<&std::collections::BTreeMap<String, String>>| {
        let gates = notes.and_then(|notes| notes.get(ADMISSION_GATED_BY).cloned());
        gates.unwrap_or_default()
    };
    let gated = gates(view.set.metadata.annotations.as_ref());
    let differs = gates(workload.metadata.annotations.as_ref()) != gated;
    let regated = view.rules.workloads.admission_gates && differs;
    if regated {
        let value = Some(&gated).filter(|gated| !gated.is_empty());
        notes.insert(ADMISSION_GATED_BY.to_owned(), json!(value));
    }
    if !notes.is_empty() {
        patch["metadata"]["annotations"] = Value::Object(notes);
    }
    let change = (patch != json!({})).then(|| Act::Change(workload.clone(), patch));
    let told = regated.then(|| {
        let note = format!("Updated workload AdmissionGatedBy to {gated:?}");
        tell("UpdatedWorkload", note)
    });
    change.into_iter().chain(told).collect()
}
