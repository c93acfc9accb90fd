//! Each job: its state, and why it is in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cache::WorkloadKey;
use cache::topology::decode;
use kueue_api::conditions::{find, workload as types};
use kueue_api::v1beta2::{PodSetAssignment, Workload};
use quantity::ResourceName;
use scheduler::topology::TopologyAssignment;

use super::{name, pods, quantity, short};
use crate::check::amount;
use crate::world::{World, admitted_by};

/// One line a job, `with_queued` those too that stand in a queue.
pub(super) fn jobs(world: &World, with_queued: bool) -> String {
    let queues = world.cache.cluster_queues();
    let queued: BTreeSet<WorkloadKey> = queues
        .filter_map(|queue| world.cache.pending_workloads(queue))
        .flatten()
        .map(|pending| pending.key)
        .collect();
    let mut text = String::new();
    let shown = |key: &&WorkloadKey| with_queued || !queued.contains(key);
    for key in world.jobs.keys().filter(shown) {
        let _ = writeln!(text, "job {}: {}", name(key), state(world, key));
    }
    text
}

/// The state of a job and why.
pub(super) fn state(world: &World, key: &WorkloadKey) -> String {
    let Some(job) = world.jobs.get(key) else {
        return "unknown".to_owned();
    };
    let object = &job.object;
    if object.is_finished() {
        return "✓ finished".to_owned();
    }
    if let Some(queue) = admitted_by(object).filter(|_| object.has_quota_reservation()) {
        return holding(object, queue);
    }
    if !object.is_active() {
        return "✕ deactivated".to_owned();
    }
    if let Some(reason) = world.cache.pending_reason(key) {
        return format!("◔ {}: {}", reason.reason, reason.message);
    }
    let reserved = find(object.conditions(), types::QUOTA_RESERVED);
    match reserved {
        Some(found) => format!("◔ {}: {}", found.reason, found.message),
        None => "◔ waits for its turn".to_owned(),
    }
}

fn holding(object: &Workload, queue: &str) -> String {
    let mut text = if object.is_admitted() {
        format!("◑ admitted in {queue}")
    } else {
        format!("◔ quota reserved in {queue}")
    };
    let admission = object
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    for assignment in admission
        .into_iter()
        .flat_map(|admission| &admission.pod_set_assignments)
    {
        let _ = write!(text, ", {}", assigned(assignment));
    }
    text
}

fn assigned(assignment: &PodSetAssignment) -> String {
    let count = pods(i64::from(assignment.count.unwrap_or_default()));
    let mut text = match assignment.name.as_str() {
        "main" => count,
        name => format!("{name}: {count}"),
    };
    for (resource, used) in &assignment.resource_usage {
        let Some(flavor) = assignment.flavors.get(resource) else {
            continue;
        };
        let resource = ResourceName::from(resource.as_str());
        let used = quantity(&resource, amount(&resource, used));
        let _ = write!(text, ", {} {used} of {flavor}", short(resource.as_str()));
    }
    let places = assignment.topology_assignment.as_ref().and_then(decode);
    if let Some(places) = places {
        let _ = write!(text, ", on {}", placed(&places));
    }
    text
}

/// `noeud-1 ×2, noeud-2 ×1`.
pub(super) fn placed(places: &TopologyAssignment) -> String {
    let domains = places.domains.iter();
    let texts = domains.map(|domain| format!("{} ×{}", domain.values.join("/"), domain.count));
    texts.collect::<Vec<_>>().join(", ")
}
