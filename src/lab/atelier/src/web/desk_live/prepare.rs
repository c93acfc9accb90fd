//! The objects that a lab starts from, put into the environment before the first of its terminals opens.
//!
//! Once for each environment and lab: a second time would undo what the trainee changed. What was done is noted in the
//! environment's folder, so that a reset, which removes the folder, begins anew.

#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use clusters::provider::Environment;
use course::LabId;

use crate::judge::setup::{self, SetupError};

const NOTES: &str = "labs-set-up";

#[derive(Debug, thiserror::Error)]
pub(super) enum PrepareError {
    #[error(transparent)]
    Apply(#[from] SetupError),
    #[error("note in {path} that the lab's objects are there: {source}")]
    Note { path: PathBuf, source: io::Error },
}

/// Applies what is not there yet. Callers take turns, or two first terminals would both apply.
pub(super) async fn once(
    environment: &Environment,
    lab: &LabId,
    files: &[String],
    folder: &Path,
) -> Result<(), PrepareError> {
    let note = note(environment, lab);
    if files.is_empty() || note.is_file() {
        return Ok(());
    }
    setup::apply(&environment.admin_kubeconfig, folder, files).await?;
    mark(&note).map_err(|source| PrepareError::Note { path: note, source })
}

fn note(environment: &Environment, lab: &LabId) -> PathBuf {
    environment.dir.join(NOTES).join(lab.as_str())
}

fn mark(note: &Path) -> io::Result<()> {
    note.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(note, [])
}
