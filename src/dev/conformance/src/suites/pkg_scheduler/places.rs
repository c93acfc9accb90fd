//! Whole cycles of workloads that are placed by topology. A second turn of workloads that hold quota comes a second later.

use std::collections::BTreeSet;

use cache::WorkloadKey;
use serde_json::Value;

use crate::corpus::{Case, now};
use crate::verdict::Verdict;
use crate::world::World;

/// Who was admitted, and well, before the cycle.
fn settled(world: &World) -> BTreeSet<WorkloadKey> {
    let well = world.api.iter().filter(|(_, workload)| {
        let failed = workload.status.as_ref();
        let failed = failed.is_some_and(|status| !status.unhealthy_nodes.is_empty());
        workload.is_admitted() && !failed
    });
    well.map(|(key, _)| key.clone()).collect()
}

fn run(case: &Case<'_>, ordered: bool) -> Result<(), String> {
    let mut world = World::of(case);
    let before = settled(&world);
    world.cycle_at(now() + jiff::SignedDuration::from_secs(1));
    if case.want["wantWorkloads"] != Value::Null {
        world.compare_workloads(&case.want["wantWorkloads"])?;
    }
    let new = |key: &WorkloadKey| !before.contains(key);
    world.compare_some_assignments(&case.want["wantNewAssignments"], new)?;
    world.compare_events(case.want, ordered)?;
    world.compare_queues(case.want)?;
    world.check()
}

/// One cycle, events in order.
pub(super) fn in_order(case: Case<'_>) -> Verdict {
    run(&case, true).into()
}

/// One cycle, events in any order.
pub(super) fn in_any_order(case: Case<'_>) -> Verdict {
    run(&case, false).into()
}
