//! The pending side: what the reference's queues and its queue manager were asked to do, done again and compared answer by answer.
//!
//! `replay.rs` replays on one queue alone, `manager.rs` on a cache; `alone.rs` and `shapes.rs` add what a case's test does beside its calls.

use super::File;

mod alone;
mod manager;
mod replay;
mod shapes;

pub(super) const FILES: &[File] = &[
    ("TestBackoffWaitingTimeExpired", alone::backoff),
    ("TestBestEffortFIFORequeueIfNotPresent", alone::requeue),
    ("TestClusterQueueImpl", alone::whole),
    ("TestClusterQueueIsPreemptor", replay::run),
    ("TestClusterQueuePendingTrackers", alone::trackers),
    ("TestFIFOClusterQueue", replay::run),
    ("TestFsAdmission", replay::run),
    ("TestGetNoFitReason", alone::no_fit),
    ("TestHeapOrderingStableOnLocalQueueLookupError", replay::run),
    ("TestPendingInLocalQueueCountsInflight", replay::run),
    ("TestPendingResources", alone::resources),
    ("TestPendingResourcesAfterLocalQueueResync", alone::resync),
    ("TestPushOrUpdateGenerationChanged", alone::generation),
    ("TestPushOrUpdateSkipsInflightWorkload", replay::run),
    ("TestRequeueHashTriggerByReason", shapes::trigger),
    ("TestSnapshotDeterministicOrder", alone::order),
    (
        "TestSnapshotUsesDefaultWeightForMissingLocalQueue",
        replay::run,
    ),
    ("TestStrictFIFO", replay::run),
    ("TestStrictFIFORequeueIfNotPresent", alone::requeue),
    ("Test_AddFromLocalQueue", replay::run),
    ("Test_Delete", replay::run),
    ("Test_DeleteFromLocalQueue", alone::leave),
    ("Test_Info", replay::run),
    ("Test_Pop", replay::run),
    ("Test_PushOrUpdate", alone::push),
    (
        "TestPendingSchedulingHashesTracksMutations",
        shapes::mutations,
    ),
    (
        "TestPushOrUpdateRespectsInadmissibleHashes",
        shapes::respected,
    ),
    (
        "TestQueueInadmissibleWorkloadsClearsHashes",
        shapes::cleared,
    ),
    ("TestRecordInadmissibleHash", shapes::recorded),
    ("TestSchedulingHashCounts", shapes::counted),
    (
        "TestSchedulingHashCountsInadmissibleTransitions",
        shapes::transitions,
    ),
    ("TestAddClusterQueueOrphans", manager::orphans),
    ("TestAddWorkload", manager::run),
    ("TestDeleteAndForgetWorkload", manager::run),
    ("TestDeleteLocalQueue", manager::preexisting),
    ("TestDeleteWorkload", manager::run),
    ("TestGetPendingWorkloadsInfo", manager::run),
    ("TestHeads", manager::run),
    (
        "TestHeadsRespectLocalQueueWeightForPreexistingWorkloads",
        manager::preexisting,
    ),
    ("TestQueueInadmissibleWorkloads", manager::run),
    ("TestQueueSecondPassIfNeeded", manager::second_pass),
    ("TestRequeueWorkloadStrictFIFO", manager::run),
    ("TestStatus", manager::run),
    ("TestUpdateLocalQueueWeightReheapifies", manager::run),
    (
        "TestUpdateLocalQueueWeightReheapifiesMultipleWorkloads",
        manager::run,
    ),
    ("TestUpdateLocalQueueWeightZeroReheapifies", manager::run),
    ("TestUpdateWorkload", manager::update),
];
