//! Where a bundle is unpacked before it is known to be whole: a folder beside the programs and one within the cache, so that
//! moving is a rename. Both are gone afterwards; what a killed installation left is removed by the next.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FlockOperation, RenameFlags};

use super::install::Places;
use super::manifest::{Manifest, Place};
use super::read::BundleError;

/// In the cache.
const UNPACKED: &str = "being-installed";
const LOCK: &str = "bundle.lock";
const IMAGES: &str = "images";
/// Digits of an image's key, which is part of its archive's name.
const KEY: usize = 16;
/// Left free beside what is written: other programs use the disk, too.
const MARGIN: u64 = 64 * 1024 * 1024;

/// Held while a bundle is installed; the system lets go of it however this process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    pub(super) fn take(cache: &Path) -> Result<Self, BundleError> {
        let path = cache.join(LOCK);
        let opened = fs::create_dir_all(cache).and_then(|()| File::create(&path));
        let file = opened.map_err(at(&path))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Self { _file: file }),
            Err(_) => Err(BundleError::Busy(path)),
        }
    }
}

/// The two folders to unpack into.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) app: PathBuf,
    pub(super) cache: PathBuf,
}

impl Stage {
    /// Empty ones. Only the holder of the lock may ask.
    pub(super) fn new(places: &Places) -> Result<Self, BundleError> {
        let mut app = places.app.as_os_str().to_owned();
        app.push(".new");
        let stage = Self {
            app: app.into(),
            cache: places.cache.join(UNPACKED),
        };
        for folder in [&stage.app, &stage.cache] {
            let made = remove(folder).and_then(|()| fs::create_dir_all(folder));
            made.map_err(at(folder))?;
        }
        Ok(stage)
    }

    /// Refuses before the first byte what the disk cannot hold.
    pub(super) fn has_room(&self, manifest: &Manifest) -> Result<(), BundleError> {
        let (app, cache) = manifest.bytes_by_place();
        let wanted = if same_disk(&self.app, &self.cache) {
            vec![(&self.app, app + cache)]
        } else {
            vec![(&self.app, app), (&self.cache, cache)]
        };
        for (folder, bytes) in wanted {
            let Ok(disk) = rustix::fs::statvfs(folder) else {
                continue;
            };
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            if free < bytes + MARGIN {
                return Err(BundleError::NoSpace {
                    path: folder.clone(),
                    free: free / 1_000_000,
                    needed: (bytes + MARGIN) / 1_000_000,
                });
            }
        }
        Ok(())
    }

    /// Gives every file its place. A file of the cache is named by what it is, so each may appear for itself; the programs
    /// appear together, last, and never without the labs that belong to them.
    pub(super) fn move_into(self, places: &Places, manifest: &Manifest) -> Result<(), BundleError> {
        // After a power cut there must be no names without contents.
        flush(&self.app)?;
        flush(&self.cache)?;
        for listed in &manifest.files {
            if let Place::Cache(path) = listed.place()? {
                let to = places.cache.join(&path);
                let folder = to.parent().unwrap_or(&places.cache);
                fs::create_dir_all(folder)
                    .and_then(|()| fs::rename(self.cache.join(&path), &to))
                    .map_err(at(&to))?;
            }
        }
        self.swap(&places.app)?;
        forget_older_images(&places.cache, manifest);
        Ok(())
    }

    /// The new programs in the place of the old in one step; the old ones go with this stage.
    fn swap(&self, app: &Path) -> Result<(), BundleError> {
        let new = fs::rename(&self.app, app);
        match new {
            Err(_) if app.exists() => {
                rustix::fs::renameat_with(CWD, &self.app, CWD, app, RenameFlags::EXCHANGE)
                    .map_err(|error| at(app)(error.into()))
            }
            other => other.map_err(at(app)),
        }
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be removed now is removed before the next installation.
        let _ = remove(&self.app);
        let _ = remove(&self.cache);
    }
}

/// Images are large: of those in this bundle only the ones in this bundle stay.
fn forget_older_images(cache: &Path, manifest: &Manifest) {
    let listed = |name: &str| {
        let path = format!("cache/{IMAGES}/{name}");
        manifest.files.iter().any(|file| file.path == path)
    };
    let entries = fs::read_dir(cache.join(IMAGES));
    for entry in entries.into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let replaced = image_of(&name).is_some_and(|image| listed(&format!("{image}.tar")));
        if replaced && !listed(&name) {
            // It costs space, and nothing else.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// `outils` for `outils-0123456789abcdef.tar`.
fn image_of(name: &str) -> Option<&str> {
    let (image, key) = name.strip_suffix(".tar")?.rsplit_once('-')?;
    let is_key = key.len() == KEY && key.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key.then_some(image)
}

fn same_disk(one: &Path, other: &Path) -> bool {
    let disk = |path: &Path| {
        let stat = rustix::fs::statat(CWD, path, AtFlags::empty());
        stat.ok().map(|stat| stat.st_dev)
    };
    disk(one) == disk(other)
}

fn flush(folder: &Path) -> Result<(), BundleError> {
    let open = File::open(folder).map_err(at(folder))?;
    rustix::fs::syncfs(open).map_err(|error| at(folder)(error.into()))
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> BundleError + use<> {
    let path = path.to_owned();
    move |source| BundleError::Write { path, source }
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
