//! Reconcilers of our own kinds: Workloads, queues, flavors, priority classes, and the books of admission fair sharing.

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
];
