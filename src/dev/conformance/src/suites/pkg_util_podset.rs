//! Pod sets by name.

use kueue_api::v1beta2::{PodSet, WorkloadSpec};
use serde_json::json;

use super::File;
use crate::corpus::{Case, each, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestFindPodSetByName", find)];

fn find(case: Case<'_>) -> Verdict {
    let spec = WorkloadSpec {
        pod_sets: each(&case.input["podSets"]),
        ..WorkloadSpec::default()
    };
    let name: String = read(&case.input["targetName"]);
    let want = case.want.get("want").map(read::<Option<PodSet>>);
    Verdict::same(&spec.pod_set(&name), &json!(want))
}
