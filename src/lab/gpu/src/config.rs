//! Which GPUs each node has: one JSON file for all nodes, usually a mounted `ConfigMap`, so that an instructor switches a device's
//! health or shares it by an edit. It is checked whole; a file with a mistake changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::model::{self, Model};

/// More devices than any machine of the three models holds.
pub const MOST_DEVICES: u32 = 16;
/// As many as the driver time-slices.
pub const MOST_REPLICAS: u32 = 48;

/// The file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// By name of the node.
    pub nodes: BTreeMap<String, NodeGpus>,
}

/// The devices of one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct NodeGpus {
    pub model: String,
    pub count: u32,
    /// How many containers may share each device by time-slicing.
    #[serde(default = "one")]
    pub replicas: u32,
    /// Refuses a container that asks for several replicas: they would not make it faster (NVIDIA's option of that name).
    #[serde(default)]
    pub fail_requests_greater_than_one: bool,
    /// Indices of devices that are broken.
    #[serde(default)]
    pub unhealthy: BTreeSet<u32>,
}

const fn one() -> u32 {
    1
}

/// What is wrong with a configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("read the GPU configuration: {0}")]
    Read(#[from] std::io::Error),
    #[error("the GPU configuration is not what was expected: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("node `{node}`: {what}")]
    Check { node: String, what: String },
}

impl Config {
    /// Reads and checks the text of the file.
    ///
    /// # Errors
    /// The first mistake, with the node it concerns.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let config: Self = serde_json::from_str(text)?;
        for (node, gpus) in &config.nodes {
            gpus.check().map_err(|what| ConfigError::Check {
                node: node.clone(),
                what,
            })?;
        }
        Ok(config)
    }
}

impl NodeGpus {
    /// Devices of one model, unshared and healthy.
    #[must_use]
    pub fn new(model: &Model, count: u32) -> Self {
        Self {
            model: model.name.to_owned(),
            count,
            replicas: 1,
            fail_requests_greater_than_one: false,
            unhealthy: BTreeSet::new(),
        }
    }

    fn check(&self) -> Result<(), String> {
        if model::find(&self.model).is_none() {
            let (asked, known) = (&self.model, model::names());
            return Err(format!(
                "there is no GPU model `{asked}`; there are: {known}"
            ));
        }
        between("count", self.count, MOST_DEVICES)?;
        between("replicas", self.replicas, MOST_REPLICAS)?;
        match self.unhealthy.iter().find(|index| **index >= self.count) {
            Some(index) => Err(format!(
                "device {index} cannot be unhealthy: the devices are 0 to {}",
                self.count - 1
            )),
            None => Ok(()),
        }
    }
}

fn between(name: &str, value: u32, most: u32) -> Result<(), String> {
    if (1..=most).contains(&value) {
        return Ok(());
    }
    Err(format!("`{name}` is {value}, it must be 1 to {most}"))
}

#[cfg(test)]
mod tests;
