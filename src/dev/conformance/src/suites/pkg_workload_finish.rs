//! The end of a Workload, which is written once.

use cache::Draft;
use kueue_api::v1beta2::Workload;
use serde_json::json;

use super::File;
use crate::corpus::{Case, now, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestFinish", finish)];

fn finish(case: Case<'_>) -> Verdict {
    let arguments = &case.input["args"];
    let object: Workload = parse(&arguments["wl"]);
    let want: Workload = parse(&case.want["want"]["wl"]);
    if arguments["patchErr"].is_string() {
        let told = case.want["want"]["err"].is_string();
        return Verdict::all([
            Verdict::equal("a failed write is an error", &true, &told),
            Verdict::same(&object.status, &json!(want.status)),
        ]);
    }
    let draft = Draft::of(&object, now());
    let draft = draft.finished(
        &read::<String>(&arguments["reason"]),
        &read::<String>(&arguments["message"]),
    );
    Verdict::same(&draft.done(), &json!(want.status))
}
