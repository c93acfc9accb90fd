//! Where the trainee is: the step last opened in each lab, kept in the data folder so that it outlives everything.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use course::{LabId, StepId};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The trainee's place in the course.
#[derive(Debug)]
pub struct Positions {
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Kept {
    /// The lab last opened.
    lab: Option<String>,
    /// The step last opened, by lab.
    steps: BTreeMap<String, String>,
}

impl Positions {
    /// Reads what is kept; an unreadable file is like none, because nothing but comfort depends on it.
    #[must_use]
    pub fn load(data_dir: &Path) -> Self {
        let path = data_dir.join("position.json");
        let kept = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        Self { path, kept: Mutex::new(kept) }
    }

    /// The step last opened in a lab.
    #[must_use]
    pub fn step(&self, lab: &LabId) -> Option<StepId> {
        self.kept.lock().steps.get(lab.as_str()).and_then(|step| StepId::new(step))
    }

    /// The lab last opened.
    #[must_use]
    pub fn lab(&self) -> Option<LabId> {
        self.kept.lock().lab.as_deref().and_then(LabId::new)
    }

    /// Remembers.
    pub fn set(&self, lab: &LabId, step: &StepId) {
        let mut kept = self.kept.lock();
        kept.lab = Some(lab.to_string());
        let before = kept.steps.insert(lab.to_string(), step.to_string());
        if before.as_deref() != Some(step.as_str())
            && let Err(error) = self.write(&kept)
        {
            tracing::warn!(path = %self.path.display(), %error, "the position in the course was not kept");
        }
    }

    fn write(&self, kept: &Kept) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(kept)?;
        let next = self.path.with_extension("json.next");
        std::fs::write(&next, text)?;
        std::fs::rename(&next, &self.path)
    }
}
