//! An elastic workload that grows or shrinks: pods that run stay where they are, only new ones are placed. KEP-77, gate
//! `ElasticJobsViaWorkloadSlicesWithTAS`.

use std::cmp::Ordering;

use super::assignment::TopologyAssignment;
use super::assumed::AssumedUsage;
use super::failure::Reason;
use super::find::{Context, Group, Placed};

/// The group's places from those of the slice it replaces; `None` if there are none, or some of them are gone: then it is placed afresh.
pub(super) fn place(
    context: &Context<'_>,
    group: Group<'_>,
    assumed: &mut AssumedUsage,
) -> Option<Result<Placed, Reason>> {
    let previous = group.workers.previous.as_ref()?;
    let leader = group.leader.and_then(|leader| leader.previous.as_ref());
    let gone = |one: &&TopologyAssignment| context.snapshot.stale_domain(one).is_some();
    if [Some(previous), leader].iter().flatten().any(gone) {
        return None;
    }
    match group.workers.count.cmp(&previous.pods()) {
        Ordering::Greater => Some(grow(context, group, previous, assumed)),
        Ordering::Equal => Some(Ok(keep(group, previous.clone(), assumed))),
        Ordering::Less => {
            let fewer = previous.truncated(group.workers.count);
            Some(Ok(keep(group, fewer, assumed)))
        }
    }
}

fn keep(group: Group<'_>, workers: TopologyAssignment, assumed: &mut AssumedUsage) -> Placed {
    assumed.add_assignment(&workers, &group.workers.per_pod);
    let mut placed = vec![(group.workers.pod_set.clone(), workers)];
    if let Some(leader) = group.leader
        && let Some(previous) = &leader.previous
    {
        assumed.add_assignment(previous, &leader.per_pod);
        placed.push((leader.pod_set.clone(), previous.clone()));
    }
    placed
}

fn grow(
    context: &Context<'_>,
    group: Group<'_>,
    previous: &TopologyAssignment,
    assumed: &mut AssumedUsage,
) -> Result<Placed, Reason> {
    let mut more = group.workers.clone();
    more.count -= previous.pods();
    assumed.add_assignment(previous, &more.per_pod);
    // A leader that runs stays; only one that does not is placed beside the new pods.
    let running = group.leader.and_then(|leader| leader.previous.as_ref());
    if let (Some(leader), Some(there)) = (group.leader, running) {
        assumed.add_assignment(there, &leader.per_pod);
    }
    let new = Group {
        workers: &more,
        leader: group.leader.filter(|_| running.is_none()),
    };
    let (added, placed_leader) = context.place(new, assumed, None)?;
    assumed.add_assignment(&added, &more.per_pod);
    let whole = context.snapshot.merged(&added, previous);
    let mut placed = vec![(more.pod_set.clone(), whole)];
    if let Some(leader) = group.leader {
        if let Some(new) = &placed_leader {
            assumed.add_assignment(new, &leader.per_pod);
        }
        let own = running.cloned().or(placed_leader);
        placed.extend(own.map(|own| (leader.pod_set.clone(), own)));
    }
    Ok(placed)
}
