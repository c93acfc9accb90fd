//! Pods and groups of pods: what their webhooks do, what a Workload is made of, and whole passes of their reconciler.

mod passes;
mod rules;

use super::File;

pub(super) const FILES: &[File] = &[
    (
        "TestConstructComposableWorkloadPodGroupRoleLimit",
        rules::role_limit,
    ),
    ("TestDefault", rules::default),
    ("TestGetRoleHash", rules::role),
    ("TestIndexPodGroupName", rules::group_name),
    ("TestIsPodOwnerManagedByQueue", rules::owner),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestPodSets", rules::pod_sets),
    ("TestPod_IsActive", rules::active),
    ("TestPodsReady", rules::ready),
    ("TestReconciler", passes::reconcile),
    ("TestRecordPodSchedulingGateRemovalSeconds", passes::ungated),
    ("TestRun", rules::run),
    ("TestStop", passes::stop),
    ("TestValidateCreate", rules::create),
    ("TestValidateUpdate", rules::update),
    ("TestWorkloadHandlerDelete", rules::asked_after_deletion),
];
