//! Unpacks a bundle. Files of the cache are named by what they are, so each appears when it is whole; programs and labs appear
//! together at the end, so that a broken installation never takes the place of one that works.

use std::fs::{self, File, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::manifest::{Listed, Manifest, ManifestError, Place};

/// Name of the list in the archive.
const LIST: &str = "bundle.json";

/// The two folders that a bundle fills.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) app: PathBuf,
    pub(super) cache: PathBuf,
}

/// What was in a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) version: String,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

/// Why a bundle could not be installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleError {
    #[error("read it: {0}")]
    Read(#[source] io::Error),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("it does not begin with its list: this is not a bundle of Atelier Kueue")]
    NoList,
    #[error("it ends after {found} of {listed} files: it was not copied whole")]
    Truncated { found: usize, listed: usize },
    #[error("`{0}` is not what the list says: the archive is damaged, or was changed")]
    Altered(String),
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Reads everything and writes nothing.
pub(super) fn check(file: &Path) -> Result<Done, BundleError> {
    walk(file, |listed, data| {
        if listed.link.is_some() {
            return Ok(());
        }
        copy(listed, data, io::sink())
            .map_err(|failure| failure.at(Path::new(&listed.path), listed))
    })
}

/// Puts everything in place.
pub(super) fn install(file: &Path, places: &Places) -> Result<Done, BundleError> {
    let staged = Staged::new(&places.app)?;
    let done = walk(file, |listed, data| match listed.place()? {
        Place::App(path) => put(listed, data, &staged.folder.join(path)),
        Place::Cache(path) => put(listed, data, &places.cache.join(path)),
    })?;
    staged.take_the_place_of(&places.app)?;
    Ok(done)
}

/// Goes through the archive in the order of its list.
fn walk(
    file: &Path,
    mut act: impl FnMut(&Listed, &mut dyn Read) -> Result<(), BundleError>,
) -> Result<Done, BundleError> {
    let open = File::open(file).map_err(BundleError::Read)?;
    let mut archive = tar::Archive::new(BufReader::new(open));
    let mut entries = archive.entries().map_err(BundleError::Read)?;
    let mut first = entries
        .next()
        .ok_or(BundleError::NoList)?
        .map_err(|_| BundleError::NoList)?;
    if first.path().map_err(BundleError::Read)?.as_os_str() != LIST {
        return Err(BundleError::NoList);
    }
    let mut text = Vec::new();
    first.read_to_end(&mut text).map_err(BundleError::Read)?;
    let manifest = Manifest::read(&text, std::env::consts::ARCH)?;
    let listed = manifest.files.len();
    for (found, file) in manifest.files.iter().enumerate() {
        let truncated = BundleError::Truncated { found, listed };
        // What ends within a header and what ends between two files are the same fault.
        let Some(Ok(mut entry)) = entries.next() else {
            return Err(truncated);
        };
        let path = entry.path().map_err(BundleError::Read)?;
        if path.as_os_str() != file.path.as_str() {
            return Err(BundleError::Altered(file.path.clone()));
        }
        act(file, &mut entry)?;
    }
    Ok(Done {
        version: manifest.version,
        files: listed,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
    })
}

enum CopyFailure {
    Altered,
    Write(io::Error),
}

impl CopyFailure {
    fn at(self, path: &Path, listed: &Listed) -> BundleError {
        match self {
            Self::Altered => BundleError::Altered(listed.path.clone()),
            Self::Write(source) => BundleError::Write {
                path: path.to_owned(),
                source,
            },
        }
    }
}

fn copy(listed: &Listed, data: &mut dyn Read, mut out: impl Write) -> Result<(), CopyFailure> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 16];
    let mut bytes = 0;
    loop {
        // Reading fails only where the archive ends too early.
        let read = data.read(&mut buffer).map_err(|_| CopyFailure::Altered)?;
        let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
            break;
        };
        hash.update(part);
        bytes += u64::try_from(read).unwrap_or_default();
        out.write_all(part).map_err(CopyFailure::Write)?;
    }
    out.flush().map_err(CopyFailure::Write)?;
    let same = bytes == listed.bytes && hex::encode(hash.finalize()) == listed.sha256;
    if same {
        Ok(())
    } else {
        Err(CopyFailure::Altered)
    }
}

/// Writes one file beside its place, and moves it there when it is what the list says.
fn put(listed: &Listed, data: &mut dyn Read, to: &Path) -> Result<(), BundleError> {
    let failed = |source| BundleError::Write {
        path: to.to_owned(),
        source,
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    let written = match &listed.link {
        Some(target) => replace_link(target, &partial).map_err(failed),
        None => File::create(&partial).map_err(failed).and_then(|file| {
            copy(listed, data, &file).map_err(|failure| failure.at(to, listed))?;
            let mode = Permissions::from_mode(listed.mode & 0o777);
            file.set_permissions(mode).map_err(failed)?;
            file.sync_all().map_err(failed)
        }),
    };
    let placed = written.and_then(|()| fs::rename(&partial, to).map_err(failed));
    if placed.is_err() {
        // It is of no use, and the error that counts is the first one.
        let _ = fs::remove_file(&partial);
    }
    placed
}

fn replace_link(target: &str, at: &Path) -> io::Result<()> {
    match fs::remove_file(at) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    symlink(target, at)
}

/// A folder beside the one that will be replaced; gone again unless it took its place.
struct Staged {
    folder: PathBuf,
}

impl Staged {
    fn new(app: &Path) -> Result<Self, BundleError> {
        let mut name = app.as_os_str().to_owned();
        name.push(".new");
        let folder = PathBuf::from(name);
        let prepared = remove(&folder).and_then(|()| fs::create_dir_all(&folder));
        prepared.map_err(|source| BundleError::Write {
            path: folder.clone(),
            source,
        })?;
        Ok(Self { folder })
    }

    fn take_the_place_of(self, app: &Path) -> Result<(), BundleError> {
        let mut name = app.as_os_str().to_owned();
        name.push(".old");
        let old = PathBuf::from(name);
        let replaced = remove(&old)
            .and_then(|()| {
                if app.exists() {
                    fs::rename(app, &old)
                } else {
                    Ok(())
                }
            })
            .and_then(|()| fs::rename(&self.folder, app))
            .and_then(|()| remove(&old));
        replaced.map_err(|source| BundleError::Write {
            path: app.to_owned(),
            source,
        })
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        // After success it is not there any more.
        let _ = remove(&self.folder);
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
