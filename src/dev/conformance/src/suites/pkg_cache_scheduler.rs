//! The quota tree, queues, statuses and topologies as the reference's cache sees them. One module a subject.

use super::File;

mod assignments;
mod domains;
mod nodes;
mod placement;
mod readiness;
mod shares;

pub(super) const FILES: &[File] = &[
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
