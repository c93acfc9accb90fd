//! Writes volumes so that a running program never sees half of a change: files go to a new folder, then one link is
//! swapped, as kubelets do (`..data` → `..<time>`, and `name` → `..data/name`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::payload::File;

const LINK: &str = "..data";
const NEW_LINK: &str = "..data_tmp";

/// Makes `dir` show exactly `files`. Answers whether anything changed.
pub(super) fn write(
    dir: &Path,
    files: &BTreeMap<String, File>,
    now: Timestamp,
) -> io::Result<bool> {
    fs::create_dir_all(dir)?;
    let old = fs::read_link(dir.join(LINK)).ok();
    if old.as_ref().is_some_and(|old| holds(&dir.join(old), files)) {
        return Ok(false);
    }
    let name = format!("..{}", now.as_nanosecond());
    let folder = dir.join(&name);
    for (path, file) in files {
        write_file(&folder.join(path), file)?;
    }
    fs::create_dir_all(&folder)?;
    swap(dir, Path::new(&name))?;
    link_names(dir, files)?;
    match old {
        Some(old) if old != Path::new(&name) => fs::remove_dir_all(dir.join(old)).map(|()| true),
        _ => Ok(true),
    }
}

fn write_file(path: &Path, file: &File) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut open = fs::OpenOptions::new();
    open.write(true)
        .create(true)
        .truncate(true)
        .mode(file.mode | 0o400);
    open.open(path)?.write_all(&file.bytes)
}

fn swap(dir: &Path, target: &Path) -> io::Result<()> {
    let new = dir.join(NEW_LINK);
    let _ = fs::remove_file(&new);
    symlink(target, &new)?;
    fs::rename(&new, dir.join(LINK))
}

/// One link for the first part of each path; links to what is gone are removed.
fn link_names(dir: &Path, files: &BTreeMap<String, File>) -> io::Result<()> {
    let names: BTreeSet<&str> = files
        .keys()
        .filter_map(|path| path.split('/').next())
        .collect();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let stale = name
            .to_str()
            .is_some_and(|name| !name.starts_with("..") && !names.contains(name));
        if stale {
            fs::remove_file(entry.path())?;
        }
    }
    for name in names {
        let link = dir.join(name);
        if fs::symlink_metadata(&link).is_err() {
            symlink(Path::new(LINK).join(name), link)?;
        }
    }
    Ok(())
}

/// Whether a folder holds these files and no others.
fn holds(folder: &Path, files: &BTreeMap<String, File>) -> bool {
    let same = |(path, file): (&String, &File)| {
        fs::read(folder.join(path)).is_ok_and(|bytes| bytes == file.bytes)
    };
    count(folder) == files.len() && files.iter().all(same)
}

fn count(folder: &Path) -> usize {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    entries
        .iter()
        .map(|path| if path.is_dir() { count(path) } else { 1 })
        .sum()
}
