//! Environments as kind clusters: nodes are containers with a real kubelet each, on a network of their own.
//!
//! The supervisor of [`crate::local`] does the same for them as for its own servers, so that both are created, stopped,
//! adopted and deleted by one piece of code. Here is what differs: [`engine`] speaks to the container engine, [`plan`] says
//! what kind is told, [`life`] makes, starts, watches and removes the containers, and [`words`] says why it failed.

mod engine;
mod life;
mod nodes;
mod plan;
pub mod preflight;
#[cfg(test)]
mod tests;
mod words;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::profile::Profile;

pub(crate) use life::{Cluster, remove};
pub(crate) use nodes::furnish;

/// The image that `cargo xtask images node` makes.
pub const NODE_IMAGE: &str = "docker.io/atelier-kueue/node:dev";
const HASH_DIGITS: usize = 6;

/// What kind clusters are made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The `kind` program.
    pub kind: PathBuf,
    /// The engine's own program: `docker`, or `podman`.
    pub engine: PathBuf,
    /// What every node is made from.
    pub image: String,
    /// Archives of images that a lab needs and the node image may lack.
    #[serde(default)]
    pub archives: Vec<PathBuf>,
}

/// How many workers a cluster of this profile has.
pub(crate) fn worker_count(profile: &Profile) -> usize {
    plan::workers(profile).len()
}

/// How many containers a cluster of this profile is.
pub(crate) fn node_count(profile: &Profile) -> u64 {
    u64::try_from(worker_count(profile) + 1).unwrap_or(u64::MAX)
}

/// What an environment's cluster, its network and its containers are called: two data folders of one machine may hold
/// environments of the same name.
fn cluster_name(dir: &Path) -> String {
    let id = dir.file_name().unwrap_or_default().to_string_lossy();
    let digest = hex::encode(Sha256::digest(dir.as_os_str().as_encoded_bytes()));
    let hash: String = digest.chars().take(HASH_DIGITS).collect();
    format!("ak-{hash}-{id}")
}
