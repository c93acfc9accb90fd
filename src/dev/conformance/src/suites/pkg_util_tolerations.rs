//! Whether two tolerations tolerate the same.

use jobs::pod_set_info::same_toleration;

use super::File;
use crate::corpus::{Case, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestEqual", equal)];

fn equal(case: Case<'_>) -> Verdict {
    let got = same_toleration(&read(&case.input["a"]), &read(&case.input["b"]));
    Verdict::equal("the same", &got, &(case.want["wantEq"] == true))
}
