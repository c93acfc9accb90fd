//! Prints a world for people: the tree of cohorts, the queues in order, each job and why. Nothing here decides anything.

mod jobs;
mod nodes;
mod queues;
mod table;
mod tree;

use std::fmt::Write as _;

use cache::{Admission, WorkloadKey};
use quantity::{Amount, ResourceName};

use crate::script::View;
use crate::world::{Cycled, Happening, World};

/// What `show` prints.
#[must_use]
pub fn view(world: &World, view: View) -> String {
    match view {
        View::Tree => tree::tree(world),
        View::Queues => queues::queues(world),
        View::Jobs => jobs::jobs(world, true),
        View::Nodes => nodes::nodes(world),
        View::All => {
            let jobs = jobs::jobs(world, false);
            let parts = [tree::tree(world), queues::queues(world), jobs];
            let there = parts.into_iter().filter(|part| !part.is_empty());
            there.collect::<Vec<_>>().join("\n")
        }
    }
}

/// What came of a cycle, one line a job; nothing if nothing did.
pub(crate) fn cycle(number: u64, cycled: &Cycled) -> String {
    let mut text = String::new();
    for admission in &cycled.plan.admissions {
        let _ = writeln!(
            text,
            "  ◑ {}: {}",
            admission.workload.name,
            admitted(admission)
        );
    }
    for happening in &cycled.happenings {
        if !matches!(
            happening.event.reason.as_str(),
            "QuotaReserved" | "Admitted" | "EvictedDueToPreempted"
        ) {
            text.push_str(&told(happening));
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("cycle {number}\n{text}")
}

/// One event.
pub(crate) fn told(happening: &Happening) -> String {
    let event = &happening.event;
    let sign = match event.reason.as_str() {
        "Finished" => '✓',
        reason if reason.starts_with("Evicted") || reason == "Preempted" => '✕',
        _ => '◔',
    };
    format!(
        "  {sign} {}: {}: {}\n",
        happening.job.name, event.reason, event.note
    )
}

/// `admitted in vision, 4 pods, gpu 4 of a100`.
fn admitted(admission: &Admission) -> String {
    let mut text = format!("admitted in {}", admission.cluster_queue);
    for pod_set in &admission.pod_sets {
        let name = &pod_set.name;
        let prefix = if name.as_str() == "main" {
            String::new()
        } else {
            format!("{name}: ")
        };
        let _ = write!(text, ", {prefix}{}", pods(pod_set.count));
        for (resource, flavor) in &pod_set.flavors {
            let amount = pod_set.usage.get(resource);
            let amount = quantity(resource, amount);
            let _ = write!(text, ", {} {amount} of {flavor}", short(resource.as_str()));
        }
        if let Some(place) = &pod_set.place {
            let _ = write!(text, ", on {}", jobs::placed(place));
        }
    }
    text
}

fn pods(count: i64) -> String {
    match count {
        1 => "1 pod".to_owned(),
        count => format!("{count} pods"),
    }
}

fn quantity(resource: &ResourceName, amount: Amount) -> String {
    if amount.is_unlimited() {
        "∞".to_owned()
    } else {
        amount.to_quantity(resource).to_string()
    }
}

/// `gpu` for `nvidia.com/gpu`, as scripts write it.
fn short(resource: &str) -> &str {
    match resource {
        "nvidia.com/gpu" => "gpu",
        other => other,
    }
}

/// A job by its name alone where that is enough.
fn name(key: &WorkloadKey) -> String {
    key.name.to_string()
}
