//! Rules about one Workload: what it asks for and holds, its conditions, checks and requeueing.

mod checks;
mod phases;
mod pods;
mod requests;
mod status;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestAdjustResources", requests::adjusted),
    ("TestAdmissionChecksForWorkload", checks::required),
    ("TestApplyPodSetCounts", pods::resize),
    ("TestAssignmentClusterQueueState", requests::untried_flavors),
    ("TestCalcLocalQueueFSUsage", requests::fair_usage),
    ("TestEvictionPendingLatency", phases::released),
    ("TestExtractPodSetCounts", pods::counts),
    ("TestExtractPodSetCountsFromWorkload", pods::counts),
    ("TestFilterChecksForAdmission", checks::required),
    (
        "TestFromQuotaReservedOrAdmittedToPending",
        phases::loses_quota,
    ),
    ("TestGetMaxRetryTime", checks::latest_retry),
    ("TestGetQueueOrderTimestamp", requests::queue_order),
    ("TestIsExplicitlyRequestingTAS", requests::asks_for_topology),
    ("TestIsOnHold", phases::on_hold),
    ("TestLimitReclaimablePodsToPodSetSizes", pods::at_most),
    ("TestNeedsSecondPass", phases::second_pass),
    ("TestNewInfo", requests::totals),
    ("TestPodSetsCounts_HasFewerReplicasThan", pods::fewer),
    ("TestPropagateResourceRequests", requests::told_requests),
    ("TestReclaimablePodsAreEqual", pods::same_given_back),
    ("TestResourceUsage", requests::usage),
    ("TestSchedulingHash", requests::shape),
    ("TestSetConditionAndUpdate", status::condition),
    ("TestSetQuotaReservation", status::reserved),
    ("TestSetRequeueState", status::not_before),
    ("TestShouldSkipClusterNomination", checks::nomination),
    ("TestSyncAdmittedCondition", status::synced),
    ("TestTotalExecutionTime", phases::execution_time),
    ("TestUpdateReclaimablePods", status::giving_back),
    ("TestUpdateWithRebuild", requests::rebuilt),
    ("TestUsedNodes", phases::nodes),
    ("TestValidateLimitRange", requests::outside_limit_range),
    ("TestValidateResources", requests::above_limits),
    ("TestWithPreprocessedDRAResources", requests::devices),
    (
        "TestWithPreprocessedDRAResourcesReplacesExtendedResources",
        requests::devices,
    ),
    ("TestWorkloadPriorityClassChanged", checks::priority_changed),
];
