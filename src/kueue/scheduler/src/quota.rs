//! Who may use how much: ClusterQueues and cohorts as a tree of quotas, with what is used at every node.
//!
//! `shape.rs` builds the tree from objects, `tree.rs` answers questions and moves usage along the path to the root. The shape is
//! shared between a cache and its snapshots, usage is copied node by node when it is written, so that a snapshot costs one pointer a node.

mod shape;
mod tree;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use quantity::Amount;

pub use shape::{CohortQuotas, Member};
pub use tree::{Holder, Level, NodeId, QuotaTree};

use crate::names::FlavorResource;

/// The quota of one resource in one flavor at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Quota {
    /// What the node brings in.
    pub nominal: Amount,
    /// How much more than its share it may use; no limit if `None`.
    pub borrowing_limit: Option<Amount>,
    /// How much of its share others may use; all of it if `None`.
    pub lending_limit: Option<Amount>,
}

/// Quotas by flavor and resource.
pub type Quotas = BTreeMap<FlavorResource, Quota>;
