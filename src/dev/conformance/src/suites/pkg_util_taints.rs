//! Taints by key.

use k8s_openapi::api::core::v1::Taint;

use super::File;
use crate::corpus::{Case, each};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[("TestTaintKeyExists", key_exists)];

fn key_exists(case: Case<'_>) -> Verdict {
    let _: Vec<Taint> = each(&case.common["testingTaints"]);
    Verdict::Skipped(Skip::Internal("a search through a list"))
}
