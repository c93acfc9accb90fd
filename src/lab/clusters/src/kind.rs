//! Environments as kind clusters: nodes are containers with a real kubelet each, on a network of their own.
//!
//! The supervisor of [`crate::local`] does the same for them as for its own servers, so that both are created, stopped,
//! adopted and deleted by one piece of code. Here is what differs: [`engine`] speaks to the container engine, [`plan`] says
//! what kind is told, [`life`] makes, starts, watches and removes the containers, and [`words`] says why it failed.

mod engine;
mod gpus;
mod life;
mod nodes;
mod plan;
pub mod preflight;
pub mod shells;
#[cfg(test)]
mod tests;
mod volumes;
mod words;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::profile::Profile;

pub(crate) use life::{Cluster, remove};
pub(crate) use nodes::furnish;
pub(crate) use volumes::provide as provide_volumes;

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
    /// Where that image is found when the engine does not have it yet.
    #[serde(default)]
    pub node_archive: Option<PathBuf>,
    /// The archive of the image in which trainees' shells run; without it they run in a sandbox of this machine.
    #[serde(default)]
    pub workstation: Option<PathBuf>,
    /// Archives of images that a lab needs and the node image may lack.
    #[serde(default)]
    pub archives: Vec<PathBuf>,
}

impl Settings {
    /// The usual settings: the engine on the search path, and the node image in the folder that `cargo xtask images` fills.
    ///
    /// An archive there is a link to one named by the hash of what it was made from, and that hash is the image's tag in the
    /// engine: after a new build the next cluster is made from it, and nothing is loaded twice.
    #[must_use]
    pub fn usual(kind: PathBuf, images: &Path, image: Option<&str>) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let engine = ["docker", "podman"]
            .into_iter()
            .find_map(|name| exec::find_program(name, &path));
        let node_archive = std::fs::canonicalize(images.join("node.tar")).ok();
        let workstation = std::fs::canonicalize(images.join("workstation.tar")).ok();
        let tagged = node_archive.as_deref().and_then(tag_of);
        let chosen = image.map(str::to_owned).or(tagged);
        Self {
            kind,
            engine: engine.unwrap_or_else(|| "docker".into()),
            image: chosen.unwrap_or_else(|| NODE_IMAGE.to_owned()),
            node_archive: node_archive.filter(|_| image.is_none()),
            workstation,
            archives: Vec::new(),
        }
    }
}

/// `node-0123abcd.tar` holds what the engine calls `atelier-kueue/node:0123abcd`.
fn tag_of(archive: &Path) -> Option<String> {
    let key = archive.file_stem()?.to_str()?.strip_prefix("node-")?;
    let repository = NODE_IMAGE.rsplit_once(':')?.0;
    Some(format!("{repository}:{key}"))
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
