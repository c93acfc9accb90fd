//! The quota tree, queues, statuses and topologies as the reference's cache sees them. One module a subject.

use super::File;

mod assignments;
mod books;
mod domains;
mod nodes;
mod placement;
mod readiness;
mod shares;
mod tree;

pub(super) const FILES: &[File] = &[
    ("TestAncestors", books::above_cohort),
    ("TestAvailable", tree::available),
    ("TestCacheClusterQueueOperations", books::cluster_queues),
    (
        "TestCachePodsReadyForAllAdmittedWorkloads",
        books::pods_ready,
    ),
    ("TestCacheQueueOperations", books::local_queues),
    ("TestCacheWorkloadOperations", books::workloads),
    ("TestClusterQueueAncestors", books::above_queue),
    ("TestClusterQueueReadiness", tree::readiness),
    ("TestClusterQueueUpdate", books::generation),
    (
        "TestClusterQueueUpdateWithAdmissionCheck",
        tree::with_checks,
    ),
    ("TestClusterQueueUpdateWithFlavors", tree::with_flavors),
    ("TestClusterQueueUsage", tree::queue_usage),
    ("TestClusterQueuesForResources", books::asked),
    ("TestClusterQueuesUsingAdmissionChecks", books::asked),
    ("TestClusterQueuesUsingFlavor", books::asked),
    ("TestCohortCycles", books::cycles),
    ("TestCohortLendable", books::lendable),
    (
        "TestDeleteCohortUpdatesAncestorSubtreeQuota",
        tree::deleted_cohort,
    ),
    ("TestGetCacheLQ", books::local_queue),
    ("TestIsAddedCheckWorkload", books::added),
    ("TestIsBorrowingOn", books::borrowing),
    ("TestLocalQueueUsage", tree::local_usage),
    ("TestMatchingClusterQueues", books::asked),
    ("TestSnapshot", tree::snapshot),
    ("TestSnapshotAddRemoveWorkload", tree::comings),
    (
        "TestSnapshotAddRemoveWorkloadWithLendingLimit",
        tree::comings,
    ),
    ("TestWorkloadAncestors", books::above_workload),
    ("TestAddAssumedUsage", assignments::adds_assumed),
    ("TestClusterQueueReadinessWithTAS", readiness::with_topology),
    (
        "TestComputeAssumedUsageFromAssignment",
        assignments::assumes,
    ),
    ("TestCountPodsInAssignment", assignments::counts_pods),
    ("TestHasLevel", assignments::has_level),
    (
        "TestIsTopologyAssignmentStale",
        assignments::finds_stale_domain,
    ),
    ("TestMergeTopologyAssignments", assignments::merges),
    ("TestNodesCacheFind", nodes::find),
    ("TestNodesCacheSync", nodes::sync),
    ("TestNonTasUsageCacheIncrementalUpdates", nodes::foreign),
    ("TestDominantResourceShare", shares::dominant),
    ("TestPreciseWeightedShareSerialized", shares::written),
    ("TestTruncateAssignment", assignments::truncates),
    ("TestCompareDomainLevelValues", domains::order),
    ("TestFindTopologyAssignments", placement::finds),
    (
        "TestFindTopologyAssignmentsMultiLayerReplacement",
        placement::replaces,
    ),
    ("TestPlaceSlicesOnDomainsBalanced", domains::spread),
    ("TestSelectOptimalDomainSetToFit", domains::optimal),
    ("TestSortedDomains", domains::sorted),
    ("TestSortedDomainsWithLeader", domains::sorted_with_leader),
];
