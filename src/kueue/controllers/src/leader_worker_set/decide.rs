//! What a `LeaderWorkerSet` needs: a Workload for each of its groups made and kept up, its pods joined to their groups, and those let go
//! that nobody will admit. One pass from values to writes. Reference section 5.7.

use std::collections::BTreeMap;
use std::sync::Arc;

use jobs::serving::leader_worker_set::{self as sets, LeaderWorkerSet};
use jobs::{JobError, Priority, ancestors, merge};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{annotations::ADMISSION_GATED_BY, labels};
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use crate::job::decide::Rules;

/// Everything the decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    /// None if it is gone.
    pub set: Option<&'a LeaderWorkerSet>,
    /// Those that it owns.
    pub workloads: &'a [Arc<Workload>],
    /// Those that bear its name, and their pods.
    pub makers: &'a [Arc<StatefulSet>],
    pub pods: &'a [Arc<Pod>],
    /// Priority it asks for; none while its class does not exist.
    pub priority: Option<&'a Priority>,
    pub rules: &'a Rules,
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
    /// A merge patch of one of its Workloads.
    Change(Arc<Workload>, Value),
    /// Delete a Workload, and let it go at once.
    Delete(Arc<Workload>),
    /// A merge patch of a pod.
    Pod(Arc<Pod>, Value),
}

/// The writes of one pass, in their order: pods come after the Workloads that they name.
pub fn pass(view: &View<'_>) -> Result<Vec<Act>, JobError> {
    let mut acts = match view.set {
        Some(set) => of_workloads(view, set)?,
        None => Vec::new(),
    };
    for pod in view.pods {
        acts.extend(of_pod(view, pod)?);
    }
    Ok(acts)
}

fn of_workloads(view: &View<'_>, set: &LeaderWorkerSet) -> Result<Vec<Act>, JobError> {
    let mut left: BTreeMap<&str, &Arc<Workload>> = view
        .workloads
        .iter()
        .map(|workload| (workload.name(), workload))
        .collect();
    let mut acts = Vec::new();
    // On a worker cluster the manager makes them.
    let made_elsewhere = label(set, labels::MULTIKUEUE_ORIGIN).is_some();
    let longest = view.rules.workloads.longest_name;
    for group in 0..set.groups() {
        let name = sets::workload_name(set, &group.to_string(), longest);
        match left.remove(name.as_str()) {
            Some(workload) => acts.extend(kept_up(view, set, workload)),
            None if made_elsewhere => {}
            None => acts.extend(created(view, set, group)?),
        }
    }
    acts.extend(left.into_values().cloned().map(Act::Delete));
    Ok(acts)
}

fn label<'a>(set: &'a LeaderWorkerSet, key: &str) -> Option<&'a str> {
    let own = set.metadata.labels.as_ref()?.get(key)?;
    Some(own.as_str()).filter(|value| !value.is_empty())
}

fn created(view: &View<'_>, set: &LeaderWorkerSet, group: i32) -> Result<Vec<Act>, JobError> {
    let Some(priority) = view.priority else {
        return Ok(missing_class(set).into_iter().collect());
    };
    let made = sets::workload(set, group, priority.clone(), &view.rules.workloads)?;
    let note = format!("Created Workload: {}", made.key());
    let told = tell("CreatedWorkload", note);
    Ok(vec![Act::Create(Box::new(made)), told])
}

fn missing_class(set: &LeaderWorkerSet) -> Option<Act> {
    let name = label(set, labels::PRIORITY_CLASS)?;
    Some(Act::Tell {
        warning: true,
        reason: "WorkloadPriorityClassNotFound",
        note: format!("WorkloadPriorityClass {name:?} not found"),
    })
}

fn tell(reason: &'static str, note: String) -> Act {
    Act::Tell {
        warning: false,
        reason,
        note,
    }
}

/// What of the set shows in a Workload of it: its queue, its admission gates, its priority class.
fn kept_up(view: &View<'_>, set: &LeaderWorkerSet, workload: &Arc<Workload>) -> Vec<Act> {
    let mut patch = json!({});
    let mut told = Vec::new();
    let queue = label(set, labels::QUEUE_NAME).unwrap_or_default();
    if workload.spec.queue_name() != queue {
        patch["spec"]["queueName"] = json!(queue);
    }
    let gates = |notes: Option<&BTreeMap<String, String>>| {
        let gates = notes.and_then(|notes| notes.get(ADMISSION_GATED_BY).cloned());
        gates.unwrap_or_default()
    };
    let gated = gates(set.metadata.annotations.as_ref());
    let differs = gates(workload.metadata.annotations.as_ref()) != gated;
    if view.rules.workloads.admission_gates && differs {
        let value = Some(&gated).filter(|gated| !gated.is_empty());
        patch["metadata"]["annotations"] = json!({ ADMISSION_GATED_BY: value });
        let note = format!("Updated workload AdmissionGatedBy to {gated:?}");
        told.push(tell("UpdatedWorkload", note));
    }
    if follows_class(set, workload) {
        if let Some(priority) = view.priority {
            patch["spec"]["priorityClassRef"] = json!(priority.class);
            patch["spec"]["priority"] = json!(priority.value);
            let note = format!("Updated workload priority class: {}", workload.key());
            told.push(tell("UpdatedWorkload", note));
        } else {
            told.extend(missing_class(set));
        }
    }
    let change = (patch != json!({})).then(|| Act::Change(workload.clone(), patch));
    change.into_iter().chain(told).collect()
}

/// Whether a Workload is to get another priority class. One that has reserved quota without any cannot be given one, and the class of its
/// pods was not asked for by the label.
fn follows_class(set: &LeaderWorkerSet, workload: &Workload) -> bool {
    let class = workload.spec.priority_class_ref.as_ref();
    match class {
        None if workload.has_quota_reservation() => return false,
        Some(class) if !class.is_workload_class() => return false,
        _ => {}
    }
    let own = class.map(|class| class.name.as_str()).unwrap_or_default();
    label(set, labels::PRIORITY_CLASS).unwrap_or_default() != own
}

/// What a pod needs: to be let go, if nothing will admit it, else to belong to its group.
pub fn of_pod(view: &View<'_>, pod: &Arc<Pod>) -> Result<Option<Act>, JobError> {
    let mut new = Pod::clone(pod);
    let maker = maker_of(view, pod);
    match view.set {
        Some(set) if !sets::is_abandoned(pod, Some(set), maker) => {
            let longest = view.rules.workloads.longest_name;
            sets::join(&mut new, set, longest, view.rules.annotated_names);
        }
        _ => {
            sets::let_go(&mut new);
        }
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

fn maker_of<'a>(view: &View<'a>, pod: &Pod) -> Option<&'a StatefulSet> {
    let owner = ancestors::controller(&pod.metadata)?;
    let mut makers = view.makers.iter();
    let maker = makers.find(|maker| maker.metadata.name.as_deref() == Some(&owner.name));
    maker.map(AsRef::as_ref)
}
