//! The programs an environment is made of, in the versions the course is written for.
//!
//! Each is looked for in an explicit directory, on the search path, in the cache, then downloaded, then built; the
//! first source that has it wins, and an error says what each of the others lacked. The cache is shared by all users
//! of a machine account and never holds a half-made program.

mod build;
mod cache;
mod catalog;
mod download;
mod hashes;
mod obtain;
#[cfg(test)]
mod tests;
mod version;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use catalog::Tool;
pub use hashes::{Hashes, HashesError};
pub use obtain::obtain_all;

/// Where each program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    pub etcd: PathBuf,
    pub kube_apiserver: PathBuf,
    pub kube_controller_manager: PathBuf,
    pub kube_scheduler: PathBuf,
    pub kubectl: PathBuf,
    pub kwok: PathBuf,
    pub helm: PathBuf,
    /// Empty in the records of environments that are older than it.
    #[serde(default)]
    pub kind: PathBuf,
}

impl Tools {
    /// All of them in one folder, under their own names.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self::from_fn(|tool| dir.join(tool.name()))
    }

    /// All of them, each where `place` says.
    pub fn from_fn(mut place: impl FnMut(Tool) -> PathBuf) -> Self {
        Self {
            etcd: place(Tool::Etcd),
            kube_apiserver: place(Tool::KubeApiserver),
            kube_controller_manager: place(Tool::KubeControllerManager),
            kube_scheduler: place(Tool::KubeScheduler),
            kubectl: place(Tool::Kubectl),
            kwok: place(Tool::Kwok),
            helm: place(Tool::Helm),
            kind: place(Tool::Kind),
        }
    }

    /// Where one of them is.
    #[must_use]
    pub fn path(&self, tool: Tool) -> &Path {
        match tool {
            Tool::Etcd => &self.etcd,
            Tool::KubeApiserver => &self.kube_apiserver,
            Tool::KubeControllerManager => &self.kube_controller_manager,
            Tool::KubeScheduler => &self.kube_scheduler,
            Tool::Kubectl => &self.kubectl,
            Tool::Kwok => &self.kwok,
            Tool::Helm => &self.helm,
            Tool::Kind => &self.kind,
        }
    }
}

/// Where to look, and what may be done.
#[derive(Debug, Clone)]
pub struct Options {
    /// Looked in first; a program of another version there is an error, for somebody asked for it.
    pub dir: Option<PathBuf>,
    /// In the form of `PATH`.
    pub search_path: Option<OsString>,
    /// Usually `~/.cache/atelier-kueue/tools`.
    pub cache: PathBuf,
    /// Whether releases may be downloaded.
    pub download: bool,
    /// A mirror: artifacts are below it under the host name and path of their origin.
    pub mirror: Option<String>,
    /// Hashes of releases; those without one are not downloaded.
    pub hashes: Hashes,
    /// Whether programs may be built with Go.
    pub build: bool,
}

impl Options {
    /// Everything is allowed, with the hashes this program was built with.
    #[must_use]
    pub fn new(cache: PathBuf) -> Self {
        Self {
            dir: None,
            search_path: std::env::var_os("PATH"),
            cache,
            download: true,
            mirror: None,
            hashes: Hashes::built_in(),
            build: true,
        }
    }
}

/// Where a program can come from, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    Directory,
    SearchPath,
    Cache,
    Download,
    Build,
}

impl Source {
    /// As in an error message.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Directory => "the given directory",
            Self::SearchPath => "PATH",
            Self::Cache => "the cache",
            Self::Download => "download",
            Self::Build => "building",
        }
    }
}

/// What is going on with one program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolProgress {
    pub tool: Tool,
    pub step: Step,
}

/// One step on the way to a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Step {
    /// It is there.
    Found { source: Source, path: PathBuf },
    /// A source that could have worked did not.
    Refused { source: Source, reason: String },
    /// Another process is filling the cache with it.
    Waiting,
    /// Bytes so far, and all of them where the server says.
    Downloading { bytes: u64, of: Option<u64> },
    /// Packages compiled so far, of at most so many; the rest was compiled earlier.
    Building {
        compiled: u64,
        of: u64,
        seconds: u64,
    },
}

/// Why the programs could not all be had.
#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    #[error("{} {} is not to be had: {}", tool.name(), tool.version(), in_words(reasons))]
    NotToBeHad {
        tool: Tool,
        reasons: Vec<(Source, String)>,
    },
    #[error("obtaining the tools was cancelled")]
    Cancelled,
}

fn in_words(reasons: &[(Source, String)]) -> String {
    let line = |(source, reason): &(Source, String)| format!("\n  {}: {reason}", source.as_str());
    reasons.iter().map(line).collect()
}
