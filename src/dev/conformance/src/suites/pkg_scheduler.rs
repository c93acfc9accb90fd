//! Scheduling cycles and their helpers.

mod cycles;
mod places;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestSchedule", cycles::one),
    ("TestScheduleForTAS", places::in_order),
    ("TestScheduleForTASCohorts", places::in_any_order),
    ("TestScheduleForTASPreemption", places::in_any_order),
    ("TestScheduleForFairSharing", cycles::one),
    ("TestScheduleConcurrentAdmission", cycles::one),
    ("TestScheduleRecomputePreemptionTargets", cycles::one),
    ("TestLastSchedulingContext", cycles::two),
];
