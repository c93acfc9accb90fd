//! Whole cycles: objects in; Workloads, admissions, events and queues out.

use crate::corpus::Case;
use crate::verdict::Verdict;
use crate::world::{World, keys};

/// One cycle, then everything is compared.
pub(super) fn one(case: Case<'_>) -> Verdict {
    let mut world = World::of(&case);
    world.cycle();
    let compared = || {
        world.compare_workloads(&case.want["wantWorkloads"])?;
        world.compare_assignments(&case.want["wantAssignments"])?;
        world.compare_events(case.want, true)?;
        world.compare_queues(case.want)
    };
    let result: Result<(), String> = compared();
    result.and_then(|()| world.check()).into()
}

/// A cycle, then some workloads are deleted, then another cycle.
pub(super) fn two(case: Case<'_>) -> Verdict {
    let mut world = World::of(&case);
    world.cycle();
    if let Err(difference) = world.compare_workloads(&case.want["wantWorkloads"]) {
        return Verdict::Failed(format!("after the first cycle\n{difference}"));
    }
    for key in keys(&case.input["deleteWorkloads"]) {
        world.delete(&key);
    }
    world.cycle();
    let wanted = &case.want["wantAdmissionsOnSecondSchedule"];
    world.compare_assignments(wanted).into()
}
