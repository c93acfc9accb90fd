//! A map of the reference's that remembers the order of its keys.

use super::File;
use crate::corpus::Case;
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[("TestInOrder", container), ("TestInsert", container)];

fn container(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("a container of the reference's own"))
}
