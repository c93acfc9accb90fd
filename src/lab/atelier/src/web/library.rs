//! The course as it lies in the labs folder: every lab that can be read, and what is wrong with the others.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use course::{Findings, Half, Known, Lab, LabId, LabSource};

/// All labs.
#[derive(Debug, Default)]
pub struct Library {
    /// In the order of the course.
    labs: Vec<Arc<Lab>>,
    /// Folders that are not labs yet.
    pub broken: Vec<(String, Findings)>,
    dir: PathBuf,
}

/// The labs folder cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("read labs in {path}: {source}")]
pub struct LibraryError {
    path: PathBuf,
    source: io::Error,
}

impl Library {
    /// Reads every lab below `dir`. A lab with faults is set aside, not an error.
    ///
    /// # Errors
    /// When the folder itself cannot be read.
    pub fn load(dir: &Path) -> Result<Self, LibraryError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| LibraryError { path, source }
        };
        let known = Known { profiles: profiles(&dir.join("profiles")).map_err(failed(dir))? };
        let mut library = Self { dir: dir.to_owned(), ..Self::default() };
        for folder in folders(dir).map_err(failed(dir))? {
            if !dir.join(&folder).join("lab.yaml").is_file() {
                continue;
            }
            let source = read(dir, &folder).map_err(failed(&dir.join(&folder)))?;
            match Lab::read(&source, &known) {
                Ok(lab) => library.labs.push(Arc::new(lab)),
                Err(findings) => library.broken.push((folder, findings)),
            }
        }
        library.labs.sort_by_key(|lab| (lab.rules.day, lab.rules.half));
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
        self.labs.iter().find(|lab| lab.rules.day == day && lab.rules.half == half)
    }

    /// The folder of a lab.
    #[must_use]
    pub fn folder(&self, id: &LabId) -> PathBuf {
        self.dir.join(id.as_str())
    }
}

fn profiles(dir: &Path) -> io::Result<Vec<String>> {
    let names = names(dir)?;
    Ok(names.iter().filter_map(|name| Some(name.strip_suffix(".yaml")?.to_owned())).collect())
}

fn folders(dir: &Path) -> io::Result<Vec<String>> {
    Ok(names(dir)?.into_iter().filter(|name| dir.join(name).is_dir()).collect())
}

fn read(dir: &Path, folder: &str) -> io::Result<LabSource> {
    let mut files = BTreeMap::new();
    collect(&dir.join(folder), "", &mut files)?;
    Ok(LabSource { folder: folder.to_owned(), files })
}

fn collect(dir: &Path, prefix: &str, files: &mut BTreeMap<String, String>) -> io::Result<()> {
    for name in names(dir)? {
        let path = dir.join(&name);
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            // A file that is no text (a recorded trace may be compressed) is nothing that a lab's page speaks of.
            files.insert(format!("{prefix}{name}"), text);
        }
    }
    Ok(())
}

/// Names in a folder, sorted, without hidden ones; none when there is no such folder.
fn names(dir: &Path) -> io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names: Vec<String> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect::<io::Result<_>>()?;
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    Ok(names)
}
