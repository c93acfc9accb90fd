//! What must never be, at no moment: a flavor over its limits, sums that do not add up. And what has to be once nothing happens any more:
//! nobody stands still who could be admitted, every eviction is over, Jobs run if and only if they are admitted, statuses say what is so.
//!
//! Both are asked of the simulator, which is told what the API holds as a controller would be that has just started.

use std::collections::BTreeMap;

use kube::api::ListParams;
use kube::{Api, Client};
use kueue_api::v1beta2::{ClusterQueue, Workload};
use simulator::{Object, World, always, overdrawn};

use crate::actor::{is_complete, is_suspended};
use crate::load::Load;
use crate::seen::{Seen, look};

fn told(load: &Load, workloads: &[Workload]) -> World {
    let mut world = World::new();
    world.apply(Object::Flavor(Box::new(load.flavor.clone())));
    for cohort in &load.cohorts {
        world.apply(Object::Cohort(Box::new(cohort.clone())));
    }
    for local in &load.locals {
        world.apply(Object::LocalQueue(Box::new(local.clone())));
    }
    for queue in &load.queues {
        world.apply(Object::ClusterQueue(Box::new(queue.clone())));
    }
    for workload in workloads {
        world.apply(Object::Workload(Box::new(workload.clone())));
    }
    world
}

/// What must never be.
pub(crate) fn never(load: &Load, seen: &Seen) -> Vec<String> {
    let mut world = told(load, &seen.workloads);
    let mut found = always(&mut world);
    found.extend(overdrawn(&mut world));
    found
}

/// What is not in order yet, though nothing happens from outside.
pub(crate) async fn unrest(load: &Load, client: &Client) -> anyhow::Result<Vec<String>> {
    let queues: Api<ClusterQueue> = Api::all(client.clone());
    let queues = queues.list(&ListParams::default()).await?.items;
    let seen = look(client).await?;
    let mut found = never(load, &seen);
    found.extend(standing_still(load, &seen));
    found.extend(seen.workloads.iter().filter_map(leaving));
    found.extend(half_started(&seen));
    found.extend(queues.iter().filter_map(|queue| misreported(queue, &seen)));
    Ok(found)
}

fn name(workload: &Workload) -> &str {
    workload.metadata.name.as_deref().unwrap_or_default()
}

/// Who would be admitted by a controller that has just started, or preempted.
fn standing_still(load: &Load, seen: &Seen) -> Vec<String> {
    let mut found = Vec::new();
    let busy = told(load, &seen.workloads).run(|_, cycled| {
        for admission in &cycled.plan.admissions {
            found.push(format!(
                "{} stands still and could be admitted",
                admission.workload
            ));
        }
        for one in &cycled.plan.preemptions {
            let (target, preemptor) = (&one.target.workload.key, &one.preemptor.key);
            found.push(format!(
                "{preemptor} stands still and could preempt {target}"
            ));
        }
    });
    if busy.is_err() {
        found.push("a controller that starts now never comes to rest".to_owned());
    }
    found
}

/// An eviction that is not over.
fn leaving(workload: &Workload) -> Option<String> {
    let holds = workload.has_quota_reservation() && !workload.is_finished();
    (holds && workload.is_evicted())
        .then(|| format!("{} is evicted and holds quota", name(workload)))
}

/// Jobs that run without being admitted, or the other way round.
fn half_started(seen: &Seen) -> Vec<String> {
    let owner = |workload: &Workload| {
        let owners = workload.metadata.owner_references.as_ref()?;
        Some(owners.first()?.uid.clone())
    };
    let mut by_owner: BTreeMap<String, Vec<&Workload>> = BTreeMap::new();
    for workload in &seen.workloads {
        if let Some(uid) = owner(workload) {
            by_owner.entry(uid).or_default().push(workload);
        }
    }
    let wrong = |job: &k8s_openapi::api::batch::v1::Job| {
        let about = job.metadata.name.clone().unwrap_or_default();
        let own = by_owner.get(job.metadata.uid.as_ref()?);
        let Some([workload]) = own.map(Vec::as_slice) else {
            let number = own.map_or(0, Vec::len);
            return Some(format!("{about} has {number} Workloads"));
        };
        if is_complete(job) {
            return (!workload.is_finished())
                .then(|| format!("{about} is complete, its Workload is not finished"));
        }
        match (is_suspended(job), workload.is_admitted()) {
            (true, true) => Some(format!("{about} is admitted and suspended")),
            (false, false) => Some(format!("{about} runs and is not admitted")),
            _ => None,
        }
    };
    seen.jobs.iter().filter_map(wrong).collect()
}

/// A ClusterQueue whose status counts otherwise.
fn misreported(queue: &ClusterQueue, seen: &Seen) -> Option<String> {
    let own = queue.metadata.name.as_deref().unwrap_or_default();
    let holding = |workload: &&Workload| {
        let admission = workload
            .status
            .as_ref()
            .and_then(|status| status.admission.as_ref());
        !workload.is_finished() && admission.is_some_and(|admission| admission.cluster_queue == own)
    };
    let waiting = |workload: &&Workload| {
        workload.spec.queue_name() == own
            && !workload.is_finished()
            && !workload.has_quota_reservation()
    };
    let counted = |what: &dyn Fn(&&Workload) -> bool| seen.workloads.iter().filter(what).count();
    let is = (counted(&holding), counted(&waiting));
    let status = queue.status.clone().unwrap_or_default();
    let says = (status.reserving_workloads, status.pending_workloads);
    let same = i64::from(says.0) == is.0 as i64 && i64::from(says.1) == is.1 as i64;
    (!same).then(|| {
        format!("{own} reports {says:?} reserving and pending Workloads, there are {is:?}")
    })
}
