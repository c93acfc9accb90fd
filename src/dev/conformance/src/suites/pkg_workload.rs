//! Rules about one Workload: what it asks for and holds, its conditions, checks and requeueing.

mod requests;

use super::File;

pub(super) const FILES: &[File] = &[
    ("TestAdjustResources", requests::adjusted),
    ("TestGetQueueOrderTimestamp", requests::queue_order),
    ("TestIsExplicitlyRequestingTAS", requests::asks_for_topology),
    ("TestNewInfo", requests::totals),
    ("TestSchedulingHash", requests::shape),
    ("TestUpdateWithRebuild", requests::rebuilt),
    ("TestValidateLimitRange", requests::outside_limit_range),
    ("TestValidateResources", requests::above_limits),
];
