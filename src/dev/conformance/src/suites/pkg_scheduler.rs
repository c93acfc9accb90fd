//! Scheduling cycles and their helpers.

mod cycles;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestSchedule", cycles::one),
    ("TestScheduleForFairSharing", cycles::one),
    ("TestScheduleConcurrentAdmission", cycles::one),
    ("TestScheduleRecomputePreemptionTargets", cycles::one),
    ("TestLastSchedulingContext", cycles::two),
];
