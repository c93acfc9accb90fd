//! The visibility API on the wire (`kueue-reference.md` 1.13): who waits in a queue, and in which place. Both versions have the
//! same shape, so the version is a value here.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use serde::{Deserialize, Serialize};

#[cfg(test)]
mod tests;

pub const GROUP: &str = "visibility.kueue.x-k8s.io";
/// The versions served, the preferred one first.
pub const VERSIONS: [&str; 2] = ["v1beta2", "v1beta1"];
/// The subresource of both kinds of queues.
pub const PENDING_WORKLOADS: &str = "pendingworkloads";

const DEFAULT_LIMIT: i64 = 1000;
const MAX_LIMIT: i64 = 100_000;

/// An answer: pending workloads in the order of their queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingWorkloadsSummary {
    pub kind: String,
    pub api_version: String,
    #[serde(default)]
    pub metadata: BTreeMap<String, serde_json::Value>,
    pub items: Vec<PendingWorkload>,
}

impl PendingWorkloadsSummary {
    #[must_use]
    pub fn new(version: &str, items: Vec<PendingWorkload>) -> Self {
        Self {
            kind: "PendingWorkloadsSummary".to_owned(),
            api_version: format!("{GROUP}/{version}"),
            metadata: BTreeMap::new(),
            items,
        }
    }
}

/// One pending workload and its places, from zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingWorkload {
    pub metadata: PendingMeta,
    /// Without any boost.
    pub priority: i32,
    pub local_queue_name: String,
    pub position_in_cluster_queue: i32,
    pub position_in_local_queue: i32,
}

/// As much of a Workload's metadata as is shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingMeta {
    pub name: String,
    pub namespace: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Time>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub owner_references: Vec<OwnerReference>,
}

impl PendingMeta {
    /// Of an owner only what it is and its name; whether it is a controller is of no interest here.
    #[must_use]
    pub fn of(meta: &crate::ObjectMeta) -> Self {
        let owners = meta.owner_references.iter().flatten();
        let shown = |owner: &OwnerReference| OwnerReference {
            controller: None,
            block_owner_deletion: None,
            ..owner.clone()
        };
        Self {
            name: meta.name.clone().unwrap_or_default(),
            namespace: meta.namespace.clone().unwrap_or_default(),
            creation_timestamp: meta.creation_timestamp.clone(),
            owner_references: owners.map(shown).collect(),
        }
    }
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub offset: usize,
    pub limit: usize,
}

impl Page {
    /// From what the query holds, as text; says which parameter is not a number.
    ///
    /// # Errors
    /// The name of a parameter and its text.
    pub fn read<'a>(
        offset: Option<&'a str>,
        limit: Option<&'a str>,
    ) -> Result<Self, (&'static str, &'a str)> {
        let number = |name, text: Option<&'a str>| {
            text.map_or(Ok(0), |text| text.parse().map_err(|_| (name, text)))
        };
        Ok(Self::asked(
            number("offset", offset)?,
            number("limit", limit)?,
        ))
    }

    /// Nothing asked (zero) is the default limit, less than nothing is an empty page, and there is an end to what one may ask for.
    #[must_use]
    pub fn asked(offset: i64, limit: i64) -> Self {
        let limit = if limit == 0 { DEFAULT_LIMIT } else { limit };
        let count = |number: i64| usize::try_from(number.max(0)).unwrap_or(usize::MAX);
        Self {
            offset: count(offset),
            limit: count(limit.min(MAX_LIMIT)),
        }
    }
}
