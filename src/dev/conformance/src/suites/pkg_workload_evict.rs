//! Why a Workload had to leave.

use kueue_api::conditions::reasons;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::phase;
use serde_json::json;

use super::File;
use crate::corpus::{Case, parse};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestIsEvictedByDeactivation", by_deactivation),
    ("TestIsEvictedByPodsReadyTimeout", by_timeout),
];

fn by_deactivation(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["workload"]);
    let got = phase::evicted_by_deactivation(&object);
    Verdict::equal("by deactivation", &got, &(case.want["want"] == true))
}

fn by_timeout(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["workload"]);
    let got = phase::evicted_for(&object, reasons::PODS_READY_TIMEOUT);
    let shown = got
        .map(|found| json!({"type": found.type_, "status": found.status, "reason": found.reason}));
    Verdict::all([
        Verdict::equal(
            "by timeout",
            &got.is_some(),
            &(case.want["wantEvictedByTimeout"] == true),
        ),
        Verdict::same(&json!(shown), &case.want["wantCondition"]),
    ])
}
