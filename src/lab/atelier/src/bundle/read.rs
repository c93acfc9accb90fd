//! Goes through an archive in the order of its list and hands each file over; what is not as listed ends it, in words.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::manifest::{Listed, Manifest, ManifestError};

/// Name of the list in the archive.
const LIST: &str = "bundle.json";
/// A list is a few hundred kilobytes; what claims to be larger is none.
const LONGEST_LIST: u64 = 16 * 1024 * 1024;

/// What was in a bundle.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    pub(super) version: String,
    pub(super) files: usize,
    pub(super) bytes: u64,
}

/// How far it is, in bytes.
#[derive(Debug)]
pub(super) struct Progress<'a> {
    pub(super) passed: u64,
    pub(super) total: u64,
    pub(super) path: &'a str,
}

/// Is told how far it is; answers whether to go on.
pub(super) type Told<'a> = &'a mut dyn FnMut(Progress<'_>) -> bool;

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
    #[error("it ends in the middle of `{0}`: it was not copied whole")]
    Cut(String),
    #[error("`{0}` is not what the list says: the archive is damaged, or was changed")]
    Altered(String),
    #[error("write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "{} has {free} MB free, and {needed} MB are needed: free some space, or choose another place with --to and HOME",
        path.display()
    )]
    NoSpace {
        path: PathBuf,
        free: u64,
        needed: u64,
    },
    #[error("another installation is going on: {} is locked", .0.display())]
    Busy(PathBuf),
    #[error("interrupted: nothing was changed")]
    Interrupted,
}

/// An archive whose list was read and accepted.
pub(super) struct Bundle {
    pub(super) manifest: Manifest,
    archive: tar::Archive<BufReader<File>>,
}

impl Bundle {
    /// Reads the list.
    pub(super) fn open(file: &Path) -> Result<Self, BundleError> {
        // Twice, because a reader of entries lives in its archive.
        let mut first = archive(file)?;
        let manifest = list(&mut first)?;
        Ok(Self {
            manifest,
            archive: archive(file)?,
        })
    }

    /// Hands every file over in the order of the list.
    pub(super) fn each(
        mut self,
        told: Told<'_>,
        mut act: impl FnMut(&Listed, &mut Content<'_>) -> Result<(), BundleError>,
    ) -> Result<(Done, Manifest), BundleError> {
        let manifest = self.manifest;
        let mut entries = self.archive.entries().map_err(BundleError::Read)?.skip(1);
        let (listed, total) = (manifest.files.len(), manifest.bytes());
        let mut passed = 0;
        for (found, file) in manifest.files.iter().enumerate() {
            // What ends within a header and what ends between two files are the same fault.
            let Some(Ok(mut entry)) = entries.next() else {
                return Err(BundleError::Truncated { found, listed });
            };
            let path = entry.path().map_err(BundleError::Read)?;
            if path.as_os_str() != file.path.as_str() {
                return Err(BundleError::Altered(file.path.clone()));
            }
            let mut content = Content {
                listed: file,
                size: entry.size(),
                data: &mut entry,
                passed: &mut passed,
                total,
                told: &mut *told,
            };
            act(file, &mut content)?;
        }
        let done = Done {
            version: manifest.version.clone(),
            files: listed,
            bytes: total,
        };
        Ok((done, manifest))
    }
}

fn archive(file: &Path) -> Result<tar::Archive<BufReader<File>>, BundleError> {
    let open = File::open(file).map_err(BundleError::Read)?;
    Ok(tar::Archive::new(BufReader::with_capacity(1 << 20, open)))
}

fn list(archive: &mut tar::Archive<BufReader<File>>) -> Result<Manifest, BundleError> {
    let mut entries = archive.entries().map_err(BundleError::Read)?;
    let first = entries
        .next()
        .ok_or(BundleError::NoList)?
        .map_err(|_| BundleError::NoList)?;
    if first.path().map_err(|_| BundleError::NoList)?.as_os_str() != LIST {
        return Err(BundleError::NoList);
    }
    let length = first.size();
    let mut text = Vec::new();
    let read = first.take(LONGEST_LIST).read_to_end(&mut text);
    if read.map_err(BundleError::Read)?.try_into() != Ok(length) {
        return Err(BundleError::Cut(LIST.to_owned()));
    }
    Ok(Manifest::read(&text, std::env::consts::ARCH)?)
}

/// The bytes of one file, still to be read.
pub(super) struct Content<'a> {
    listed: &'a Listed,
    /// As the archive has it.
    size: u64,
    data: &'a mut dyn Read,
    passed: &'a mut u64,
    total: u64,
    told: &'a mut dyn FnMut(Progress<'_>) -> bool,
}

impl Content<'_> {
    /// Copies them to `out`, called `to` in errors, if they are what the list says.
    pub(super) fn copy(&mut self, mut out: impl Write, to: &Path) -> Result<(), BundleError> {
        let failed = |source| BundleError::Write {
            path: to.to_owned(),
            source,
        };
        let mut hash = Sha256::new();
        let mut buffer = vec![0_u8; 1 << 18];
        let mut bytes = 0;
        loop {
            let read = self.data.read(&mut buffer).map_err(BundleError::Read)?;
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
                break;
            };
            hash.update(part);
            out.write_all(part).map_err(failed)?;
            let read = u64::try_from(read).unwrap_or_default();
            bytes += read;
            self.pass(read)?;
        }
        out.flush().map_err(failed)?;
        if bytes < self.size {
            return Err(BundleError::Cut(self.listed.path.clone()));
        }
        if bytes == self.listed.bytes && hex::encode(hash.finalize()) == self.listed.sha256 {
            return Ok(());
        }
        Err(BundleError::Altered(self.listed.path.clone()))
    }

    fn pass(&mut self, bytes: u64) -> Result<(), BundleError> {
        *self.passed += bytes;
        let progress = Progress {
            passed: *self.passed,
            total: self.total,
            path: &self.listed.path,
        };
        if (self.told)(progress) {
            Ok(())
        } else {
            Err(BundleError::Interrupted)
        }
    }
}
