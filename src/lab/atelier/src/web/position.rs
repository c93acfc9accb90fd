//! Where the trainee is: the step last opened in each lab. Read from the store at the start, written as it changes.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use course::{LabId, StepId};
use jiff::Timestamp;
use parking_lot::Mutex;
use store::{Store, StoreError};

use crate::environments::local::SOLO;

/// The trainee's place in the course.
#[derive(Debug)]
pub struct Positions {
    store: Store,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The lab last opened.
    lab: Option<LabId>,
    /// The step last opened, by lab.
    steps: BTreeMap<LabId, StepId>,
}

impl Positions {
    /// Reads what is kept about these labs.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn load(
        store: Store,
        labs: impl IntoIterator<Item = LabId>,
    ) -> Result<Self, StoreError> {
        let mut kept = Kept {
            lab: store.latest(SOLO).await?.map(|(lab, _)| lab),
            ..Kept::default()
        };
        for lab in labs {
            if let Some(step) = store.step(SOLO, &lab).await? {
                kept.steps.insert(lab, step);
            }
        }
        Ok(Self {
            store,
            kept: Mutex::new(kept),
        })
    }

    /// The step last opened in a lab.
    #[must_use]
    pub fn step(&self, lab: &LabId) -> Option<StepId> {
        self.kept.lock().steps.get(lab).cloned()
    }

    /// The lab last opened.
    #[must_use]
    pub fn lab(&self) -> Option<LabId> {
        self.kept.lock().lab.clone()
    }

    /// Remembers. A full disk must not keep anybody from reading, so that a failure is only logged.
    pub async fn set(&self, lab: &LabId, step: &StepId, now: Timestamp) {
        {
            let mut kept = self.kept.lock();
            kept.lab = Some(lab.clone());
            kept.steps.insert(lab.clone(), step.clone());
        }
        if let Err(error) = self.store.set_step(SOLO, lab, step, now).await {
            tracing::warn!(%error, "the position in the course was not kept");
        }
    }
}
