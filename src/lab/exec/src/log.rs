//! A log file that a child's output goes to, kept small by turning it over.
//!
//! Nothing here may fail a child: when the disk is full, lines are lost and the child goes on.

#[cfg(test)]
mod tests;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const DEFAULT_MAX_BYTES: u64 = 4 * 1024 * 1024;
const DEFAULT_KEPT: u32 = 2;

/// `name.log`, and after it `name.log.1` (the newest) to `name.log.N`.
#[derive(Debug)]
pub struct RotatingLog {
    path: PathBuf,
    max_bytes: u64,
    kept: u32,
    open: Option<(File, u64)>,
}

impl RotatingLog {
    /// A log at `path` with 4 MiB a file and two old ones kept.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: DEFAULT_MAX_BYTES,
            kept: DEFAULT_KEPT,
            open: None,
        }
    }

    /// Other sizes.
    #[must_use]
    pub fn limits(mut self, max_bytes: u64, kept: u32) -> Self {
        self.max_bytes = max_bytes;
        self.kept = kept;
        self
    }

    /// Where the newest lines are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends, turning the file over first where it would grow too long.
    pub fn write(&mut self, bytes: &[u8]) {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if self
            .open
            .as_ref()
            .is_some_and(|(_, size)| *size > 0 && size.saturating_add(length) > self.max_bytes)
        {
            self.turn_over();
        }
        if self.open.is_none() {
            self.open = self.reopen();
        }
        if let Some((file, size)) = &mut self.open
            && file.write_all(bytes).is_ok()
        {
            *size = size.saturating_add(length);
        }
    }

    fn reopen(&self) -> Option<(File, u64)> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&self.path)
            .ok()?;
        let size = file.metadata().map(|meta| meta.len()).unwrap_or(0);
        Some((file, size))
    }

    fn turn_over(&mut self) {
        self.open = None;
        for number in (1..self.kept).rev() {
            let _ = fs::rename(self.old(number), self.old(number + 1));
        }
        let _ = if self.kept == 0 {
            fs::remove_file(&self.path)
        } else {
            fs::rename(&self.path, self.old(1))
        };
    }

    fn old(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}
