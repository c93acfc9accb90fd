//! The folder that programs are kept in: one subfolder a program and version, filled by whoever holds its lock.
//!
//! A program appears in one step, by a rename, after it has told its version. Leftovers of a killed process are in
//! folders of their own and are removed by the next that fills the cache.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::Tool;

/// The cache of one machine account.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    dir: PathBuf,
}

/// Held while the cache is being filled; the system lets go of it however this process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Cache {
    pub(super) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Where a program is or will be.
    pub(super) fn path(&self, tool: Tool) -> PathBuf {
        self.folder(tool.name(), tool.version()).join(tool.name())
    }

    pub(super) fn folder(&self, name: &str, version: &str) -> PathBuf {
        self.dir.join(format!("{name}-{version}"))
    }

    /// A program that is whole: only such ones ever get their name.
    pub(super) fn find(&self, tool: Tool) -> Option<PathBuf> {
        Some(self.path(tool)).filter(|path| path.is_file())
    }

    /// Waits for the right to fill the cache; `waiting` is called if that takes its time.
    pub(super) async fn lock(&self, waiting: impl FnOnce()) -> io::Result<Lock> {
        fs::create_dir_all(&self.dir)?;
        let file = File::create(self.dir.join("lock"))?;
        let mut pause = Duration::from_millis(20);
        let mut waiting = Some(waiting);
        // Asked again and again rather than blocked in the system, so that it can be cancelled.
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(500));
        }
        Ok(Lock { _file: file })
    }

    /// An empty folder to work in, on the same file system as the cache. Only the holder of the lock may ask.
    pub(super) fn scratch(&self, _lock: &Lock) -> io::Result<Scratch> {
        let dir = self.dir.join("being-made");
        match fs::remove_dir_all(&dir) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&dir)?;
        Ok(Scratch(dir))
    }

    /// Gives a finished file its name in the cache.
    pub(super) fn put(&self, finished: &Path, place: &Path) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(finished, fs::Permissions::from_mode(0o755))?;
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(finished, place)
    }

    /// Makes a program another name of a file of the cache.
    pub(super) fn link(&self, scratch: &Scratch, target: &Path, place: &Path) -> io::Result<()> {
        let made = scratch.path().join("link");
        let target = target
            .strip_prefix(&self.dir)
            .map_or_else(|_| target.to_owned(), |rest| Path::new("..").join(rest));
        std::os::unix::fs::symlink(target, &made)?;
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::rename(made, place)
    }
}

/// A working folder that goes away with its holder.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
