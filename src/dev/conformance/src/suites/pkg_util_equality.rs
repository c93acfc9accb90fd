//! Whether two lists of pod sets ask for the same.

use jobs::equivalence::same_pod_sets;
use kueue_api::v1beta2::PodSet;

use super::File;
use crate::corpus::{Case, each};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestComparePodSetSlices", compare)];

fn compare(case: Case<'_>) -> Verdict {
    let got = same_pod_sets(
        &each::<PodSet>(&case.input["a"]),
        &each::<PodSet>(&case.input["b"]),
        case.input["ignoreTolerations"] == true,
    );
    Verdict::equal("the same", &got, &(case.want["wantEquivalent"] == true))
}
