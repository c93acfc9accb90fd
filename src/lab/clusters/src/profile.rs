//! Profiles of environments: which nodes a trainee's cluster has, read from `labs/profiles/*.yaml`.
//!
//! A profile is read once, checked completely (every mistake with file, line and column), and becomes a list of
//! nodes that leaves nothing to choose. It creates nothing; [`crate::kwok`] turns the nodes into objects.

mod check;
mod raw;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use gpu::config::NodeGpus;
use serde::{Deserialize, Serialize};

/// Label that says in which rack a node stands.
pub const RACK_LABEL: &str = "topology.atelier.kueue/rack";
/// Label that says in which zone a node stands, as cloud providers write it.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";

/// Name of a profile, the stem of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProfileName(String);

impl ProfileName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text in the two languages of the course.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Title {
    pub fr: String,
    pub en: String,
}

/// A checked profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub name: ProfileName,
    pub title: Title,
    /// Namespaces that are there from the start.
    #[serde(default)]
    pub namespaces: Vec<String>,
    pub nodes: Vec<NodeSpec>,
}

/// One simulated node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSpec {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<TaintSpec>,
    /// Capacity by resource name; what can be allocated is the same.
    pub capacity: BTreeMap<String, String>,
    /// The devices behind `nvidia.com/gpu`, for the device plugin of a node with a kubelet.
    #[serde(default)]
    pub gpus: Option<NodeGpus>,
    /// Whether it runs real pods where the provider has real kubelets; others are always simulated.
    #[serde(default)]
    pub containers: bool,
}

impl NodeSpec {
    /// Whether a provider with real kubelets gives it one.
    #[must_use]
    pub const fn is_real(&self) -> bool {
        self.containers
    }
}

impl Profile {
    /// The same profile with only those nodes that are simulated by every provider.
    #[must_use]
    pub fn simulated(&self) -> Self {
        let mut profile = self.clone();
        profile.nodes.retain(|node| !node.is_real());
        profile
    }
}

/// A taint, written `key=value:Effect` in a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaintSpec {
    pub key: String,
    pub value: Option<String>,
    pub effect: TaintEffect,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaintEffect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
}

impl TaintEffect {
    /// The effect as Kubernetes writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }
}

/// One mistake in a profile, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: u64,
    pub column: u64,
    pub what: String,
}

/// Why a profile could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    #[error("read profile {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{}", in_lines(file, problems))]
    Check {
        file: PathBuf,
        problems: Vec<Problem>,
    },
}

fn in_lines(file: &Path, problems: &[Problem]) -> String {
    let line = |p: &Problem| format!("{}:{}:{}: {}", file.display(), p.line, p.column, p.what);
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

impl Profile {
    /// Reads and checks one profile; `file` is only used to name it and to place errors.
    ///
    /// # Errors
    /// [`ProfileError::Check`] with every mistake found.
    pub fn parse(file: &Path, text: &str) -> Result<Self, ProfileError> {
        let stem = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        raw::read(text)
            .map_err(|problem| vec![problem])
            .and_then(|raw| check::profile(stem, raw))
            .map_err(|problems| ProfileError::Check {
                file: file.to_path_buf(),
                problems,
            })
    }

    /// Reads and checks the profile in `path`.
    ///
    /// # Errors
    /// When the file cannot be read or holds mistakes.
    pub fn load(path: &Path) -> Result<Self, ProfileError> {
        let text = std::fs::read_to_string(path).map_err(|source| ProfileError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Self::parse(path, &text)
    }

    /// Reads every profile of a folder, in the order of their names.
    ///
    /// # Errors
    /// When the folder or one of its profiles cannot be read.
    pub fn load_all(dir: &Path) -> Result<Vec<Self>, ProfileError> {
        let unreadable = |source| ProfileError::Read {
            path: dir.to_path_buf(),
            source,
        };
        let mut files = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(unreadable)? {
            files.push(entry.map_err(unreadable)?.path());
        }
        files.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        });
        files.sort_by_key(|path| path.file_stem().map(std::ffi::OsStr::to_owned));
        files.iter().map(|path| Self::load(path)).collect()
    }

    /// The device plugin's configuration for all nodes that have GPUs. `name` says what each node is called in the cluster.
    #[must_use]
    pub fn gpu_config(&self, name: impl Fn(&NodeSpec) -> String) -> gpu::config::Config {
        let with_gpus = |node: &NodeSpec| Some((name(node), node.gpus.clone()?));
        gpu::config::Config {
            nodes: self.nodes.iter().filter_map(with_gpus).collect(),
        }
    }

    /// Number of devices of one resource over all nodes, for pages and messages.
    #[must_use]
    pub fn total(&self, resource: &str) -> u64 {
        self.nodes
            .iter()
            .filter_map(|node| node.capacity.get(resource)?.parse::<u64>().ok())
            .sum()
    }
}
