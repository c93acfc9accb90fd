//! Scheduling cycles and their helpers.

mod cycles;
mod functions;
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
    ("TestScheduleForAFS", cycles::by_past_usage),
    (
        "TestScheduleForPreserveFlavorScanProgress",
        cycles::preserve_progress,
    ),
    ("TestEntryComparerLess", functions::entry_comparer_less),
    (
        "TestEntryMarkPreemptionOutcome",
        functions::mark_preemption_outcome,
    ),
    ("TestEntryMarkSkipped", functions::mark_skipped),
    ("TestEntryOrdering", functions::entry_ordering),
    (
        "TestLastAssignmentOutdated",
        functions::last_assignment_outdated,
    ),
    ("TestRequeueAndUpdate", functions::requeue_and_update),
    ("TestResourcesToReserve", functions::resources_to_reserve),
    (
        "TestShouldApplyEntryPenalty",
        functions::should_apply_entry_penalty,
    ),
];
