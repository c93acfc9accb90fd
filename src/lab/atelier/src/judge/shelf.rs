//! The labs on disk. Read anew on every call, so that an author sees a change by reloading the page.

use course::{Findings, Known, Lab, LabSource};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// Texts larger than this are no part of a lab.
const LARGEST_TEXT: u64 = 512 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    #[error("read the labs in {path}: {source}")]
    Folder { path: PathBuf, source: io::Error },
    #[error("no lab is named {name}; there are: {known}")]
    Unknown { name: String, known: String },
    #[error("{name} may be any of: {candidates}")]
    Ambiguous { name: String, candidates: String },
    #[error("lab {name} has faults:\n{findings}")]
    Faulty { name: String, findings: Findings },
}

/// A lab that was read, and where it lies.
#[derive(Debug)]
pub struct Shelved {
    pub lab: Lab,
    pub source: LabSource,
    pub dir: PathBuf,
}

/// The names of all labs, sorted.
///
/// # Errors
/// When the folder cannot be read.
pub fn names(labs: &Path) -> Result<Vec<String>, ShelfError> {
    let failed = |source| ShelfError::Folder {
        path: labs.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(labs).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().join("lab.yaml").is_file() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    names.sort();
    Ok(names)
}

/// The lab of that name, or whose name begins so when there is only one.
///
/// # Errors
/// When there is none, or several, or when it has faults.
pub fn lab(labs: &Path, name: &str) -> Result<Shelved, ShelfError> {
    let all = names(labs)?;
    let exact = all.iter().find(|known| *known == name);
    let begun: Vec<&String> = all.iter().filter(|known| known.starts_with(name)).collect();
    let folder = match (exact, begun.as_slice()) {
        (Some(folder), _) => folder.clone(),
        (None, [folder]) => (*folder).clone(),
        (None, []) => {
            return Err(ShelfError::Unknown {
                name: name.to_owned(),
                known: all.join(", "),
            });
        }
        (None, several) => {
            let candidates = several
                .iter()
                .map(|name| name.as_str())
                .collect::<Vec<_>>()
                .join(", ");
            return Err(ShelfError::Ambiguous {
                name: name.to_owned(),
                candidates,
            });
        }
    };
    let dir = labs.join(&folder);
    let source = source(&dir, &folder)?;
    let known = Known {
        profiles: profiles(&labs.join("profiles")),
    };
    let lab = Lab::read(&source, &known).map_err(|findings| ShelfError::Faulty {
        name: folder,
        findings,
    })?;
    Ok(Shelved { lab, source, dir })
}

/// A lab's name, and the lab or its faults.
pub type Reading = (String, Result<Shelved, ShelfError>);

/// Every lab, each with its faults if it has any, in the order of days.
///
/// # Errors
/// When the folder cannot be read.
pub fn all(labs: &Path) -> Result<Vec<Reading>, ShelfError> {
    Ok(names(labs)?
        .into_iter()
        .map(|name| (name.clone(), lab(labs, &name)))
        .collect())
}

fn source(dir: &Path, folder: &str) -> Result<LabSource, ShelfError> {
    let mut files = BTreeMap::new();
    collect(dir, dir, &mut files).map_err(|source| ShelfError::Folder {
        path: dir.to_owned(),
        source,
    })?;
    Ok(LabSource {
        folder: folder.to_owned(),
        files,
    })
}

/// Text files below a folder; links are not followed, other files are left out.
fn collect(root: &Path, dir: &Path, into: &mut BTreeMap<String, String>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            collect(root, &path, into)?;
            continue;
        }
        if !kind.is_file() || entry.metadata()?.len() > LARGEST_TEXT {
            continue;
        }
        let name = path
            .strip_prefix(root)
            .ok()
            .and_then(Path::to_str)
            .map(str::to_owned);
        if let (Some(name), Ok(text)) = (name, fs::read_to_string(&path)) {
            into.insert(name, text);
        }
    }
    Ok(())
}

fn profiles(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()?
                .strip_suffix(".yaml")
                .map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}
