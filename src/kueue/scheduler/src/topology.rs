//! Topology-aware placement: on which domains (blocks, racks, hosts) the pods of a workload go, given what is free there.
//!
//! [`Tree`] is the shape of one flavor's nodes, built once; [`Snapshot`] adds what is free now and is cheap to clone, to fill and to undo.
//! [`Snapshot::find`] gives each [`PodSetRequest`] of a workload a [`TopologyAssignment`], or a typed [`Failure`] that says what stood in the
//! way. Sections 4.14 and 4.14.1 of `kueue-reference.md`, KEP-2724. Start reading at `find.rs`.

mod assignment;
mod assumed;
mod balanced;
mod descend;
mod elastic;
mod failure;
mod field;
mod fill;
mod find;
mod needs;
mod nodes;
mod optimal;
mod replace;
mod request;
mod select;
mod snapshot;
#[cfg(test)]
mod tests;
mod tree;
mod workbench;

pub use assignment::{
    DomainAssignment, DomainRequests, TopologyAssignment, TopologyUsage, lies_within,
};
pub use assumed::AssumedUsage;
pub use failure::{Exclusions, Failure, LayerFit, Reason, Unit};
pub use field::Room;
pub use request::{
    Gates, PodSetRequest, PreferredTerm, Search, SliceConstraint, TopologyRequest, Unhealthy,
};
pub use snapshot::Snapshot;
pub use tree::{Node, Tree};
pub use workbench::Workbench;

/// The label whose values are the names of nodes.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
