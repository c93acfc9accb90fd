//! What is kept on disk about an environment: how it was made, and who runs it.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use exec::process::ProcessIdentity;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::layout::Layout;
use crate::profile::Profile;
use crate::provider::EnvironmentId;
use crate::tools::Tools;

/// How an environment was made and what it runs with. Written by the provider before each start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) id: EnvironmentId,
    pub(crate) profile: Profile,
    pub(crate) created: Timestamp,
    /// What was last asked for: an environment that should run is started again after a crash.
    pub(crate) wanted: Wanted,
    pub(crate) programs: Programs,
    /// Its servers are containers, made with these.
    #[serde(default)]
    pub(crate) kind: Option<crate::kind::Settings>,
}

/// What an environment should be doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wanted {
    /// It was never usable yet; if its creator is gone, so is it.
    Created,
    Running,
    Stopped,
}

/// The programs of this machine that an environment starts.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Programs {
    pub tools: Tools,
    pub sandbox_relay: PathBuf,
    /// The controller that the host node runs for its image; without it such pods stay pending.
    pub manager: Option<PathBuf>,
}

/// Who runs an environment now. Written by the supervisor.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Runtime {
    pub(crate) pid: u32,
    pub(crate) started: u64,
    pub(crate) port: Option<u16>,
}

impl Runtime {
    pub(crate) fn process(&self) -> ProcessIdentity {
        ProcessIdentity {
            pid: self.pid,
            started: self.started,
        }
    }
}

/// A file of an environment that cannot be read, written or understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("write {}: {source}{}", path.display(), advice(source))]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} is damaged: {source}", path.display())]
    Damaged {
        path: PathBuf,
        source: serde_json::Error,
    },
}

/// What to do about an error of the file system, where that is clear.
pub(crate) fn advice(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            ": the disk is full, free some space or choose another --data-dir"
        }
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            ": choose a --data-dir that you may write to"
        }
        _ => "",
    }
}

impl Record {
    pub(crate) fn read(layout: &Layout) -> Result<Self, RecordError> {
        read(&layout.record())
    }

    pub(crate) fn write(&self, layout: &Layout) -> Result<(), RecordError> {
        write(&layout.record(), self)
    }
}

impl Runtime {
    pub(crate) fn read(layout: &Layout) -> Option<Self> {
        read(&layout.runtime()).ok()
    }

    pub(crate) fn write(&self, layout: &Layout) -> Result<(), RecordError> {
        write(&layout.runtime(), self)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let text = fs::read_to_string(path).map_err(|source| RecordError::Read {
        path: path.to_owned(),
        source,
    })?;
    serde_json::from_str(&text).map_err(|source| RecordError::Damaged {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let text = serde_json::to_string_pretty(value).map_err(|source| RecordError::Damaged {
        path: path.to_owned(),
        source,
    })?;
    write_file(path, &text).map_err(|source| RecordError::Write {
        path: path.to_owned(),
        source,
    })
}

/// Readers see the old text or the new one, whatever happens in between.
pub(crate) fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension(format!("new-{}", std::process::id()));
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&new)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}
