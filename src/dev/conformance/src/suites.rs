//! Which function runs the cases of which file: one module a folder of the corpus, in it one table.
//!
//! A module `pkg_scheduler` holds `pub(super) const FILES: &[File] = &[("TestSchedule", schedule::run), …]`. Files without a line are reported as
//! not built. Files that test a helper without an outcome of its own have a line that answers `Skip::Internal`, and a sentence in `INTERNAL.md`.

use crate::corpus::Case;
use crate::verdict::Verdict;

mod pkg_cache_scheduler;
mod pkg_resources;
mod pkg_scheduler;
mod pkg_scheduler_flavorassigner;
mod pkg_util_tas;
mod pkg_webhooks;

/// Runs one case.
pub type Suite = fn(Case<'_>) -> Verdict;
type File = (&'static str, Suite);

const FOLDERS: &[(&str, &[File])] = &[
    ("pkg-resources", pkg_resources::FILES),
    ("pkg-scheduler", pkg_scheduler::FILES),
    (
        "pkg-scheduler-flavorassigner",
        pkg_scheduler_flavorassigner::FILES,
    ),
    ("pkg-util-tas", pkg_util_tas::FILES),
    ("pkg-webhooks", pkg_webhooks::FILES),
    ("pkg-cache-scheduler", pkg_cache_scheduler::FILES),
    ("pkg-resources", pkg_resources::FILES),
];

/// The function for the cases of a file.
#[must_use]
pub fn find(folder: &str, test: &str) -> Option<Suite> {
    let (_, files) = FOLDERS.iter().find(|(name, _)| *name == folder)?;
    let (_, suite) = files.iter().find(|(name, _)| *name == test)?;
    Some(*suite)
}
