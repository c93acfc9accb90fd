//! Reconcilers of our own kinds: Workloads, queues, flavors, priority classes, and the books of admission fair sharing.

mod queues;
mod shares;
mod workload;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestAdmittedNotReadyWorkload", workload::not_ready),
    ("TestReconcile", workload::reconciled),
    ("TestReconcileDRA", workload::reconciled),
    ("TestReconcileEviction", workload::reconciled),
    ("TestReconcileInadmissible", workload::reconciled),
    ("TestReconcileRequeue", workload::reconciled),
    ("TestReconcileSyncAdmissionChecks", workload::listed_checks),
    ("TestSyncCheckStates", workload::synced_checks),
    ("TestClusterQueueReconcile", queues::cluster_queue),
    ("TestCohortReconcilerFilters", queues::filter),
    ("TestCqHandlerGeneric", queues::filter),
    ("TestLocalQueueReconcile", queues::local_queue),
    ("TestNotifyClusterQueueUpdate", queues::filter),
    ("TestResourceFlavorPredicates", queues::filter),
    ("TestResourceFlavorReconcile", queues::flavor),
    ("TestUpdateAfsConsumedUsage", shares::consumed),
    ("TestUpdateCqStatusIfChanged", queues::cluster_queue_status),
    (
        "TestUpdateDropsUnsettleableAfsEntryPenalty",
        shares::dropped,
    ),
    ("TestUpdateSettlesAfsEntryPenalty", shares::settled),
    ("TestWorkloadPriorityClassPredicates", queues::filter),
    ("TestWorkloadPriorityClassReconcile", queues::priority_class),
];
