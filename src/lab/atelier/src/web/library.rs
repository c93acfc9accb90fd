//! The course as it lies in the labs folder: every lab that can be read, and what is wrong with the others.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use course::{Half, Lab, LabId};

use crate::judge::shelf::{self, ShelfError};

/// All labs.
#[derive(Debug, Default)]
pub struct Library {
    /// In the order of the course.
    labs: Vec<Arc<Lab>>,
    /// Folders that are not labs yet, and why.
    pub broken: Vec<(String, String)>,
    dir: PathBuf,
}

impl Library {
    /// Reads every lab below `dir`. A lab with faults is set aside, not an error.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub fn load(dir: &Path) -> Result<Self, ShelfError> {
        let mut library = Self {
            dir: dir.to_owned(),
            ..Self::default()
        };
        for (name, lab) in shelf::all(dir)? {
            match lab {
                Ok(shelved) => library.labs.push(Arc::new(shelved.lab)),
                Err(error) => library.broken.push((name, error.to_string())),
            }
        }
        library
            .labs
            .sort_by_key(|lab| (lab.rules.day, lab.rules.half));
        Ok(library)
    }

    /// All labs in order.
    #[must_use]
    pub fn labs(&self) -> &[Arc<Lab>] {
        &self.labs
    }

    /// A lab by its id.
    #[must_use]
    pub fn lab(&self, id: &str) -> Option<&Arc<Lab>> {
        self.labs.iter().find(|lab| lab.rules.id.as_str() == id)
    }

    /// The lab of a half-day.
    #[must_use]
    pub fn at(&self, day: u8, half: Half) -> Option<&Arc<Lab>> {
        self.labs
            .iter()
            .find(|lab| lab.rules.day == day && lab.rules.half == half)
    }

    /// The folder of a lab.
    #[must_use]
    pub fn folder(&self, id: &LabId) -> PathBuf {
        self.dir.join(id.as_str())
    }
}
