//! The quota tree, queues, statuses and topologies as the reference's cache sees them. One module a subject.

use super::File;

mod assignments;

pub(super) const FILES: &[File] = &[
    ("TestAddAssumedUsage", assignments::adds_assumed),
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
    ("TestTruncateAssignment", assignments::truncates),
];
