//! Who may be preempted by whom as far as priority and age go.

use kueue_api::v1beta2::Workload;
use scheduler::PreemptionPolicy;
use scheduler::preemption::satisfies;
use serde_json::Value;

use super::File;
use super::pkg_scheduler_preemption::converted;
use crate::corpus::{Case, parse};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestSatisfiesPreemptionPolicy", allowed)];

fn allowed(case: Case<'_>) -> Verdict {
    let workload = |name: &str| {
        let own = &case.input[name];
        let object = if own.is_null() {
            &case.common[name]
        } else {
            own
        };
        converted(&case, &parse::<Workload>(object))
    };
    let got = satisfies(
        policy(&case.input["policy"]),
        &workload("preemptor"),
        &workload("candidate"),
    );
    let want = case.want["want"] == true;
    Verdict::equal("may be preempted", &got, &want)
}

fn policy(value: &Value) -> PreemptionPolicy {
    match value.as_str().unwrap_or("Never") {
        "Never" => PreemptionPolicy::Never,
        "LowerPriority" => PreemptionPolicy::LowerPriority,
        "LowerOrNewerEqualPriority" => PreemptionPolicy::LowerOrNewerEqualPriority,
        "Any" => PreemptionPolicy::Any,
        _ => PreemptionPolicy::Never,
    }
}
