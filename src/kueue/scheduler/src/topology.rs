//! Where pods go: topologies of nodes, what their domains still hold, and the places that pod sets ask for and receive.
//!
//! `request.rs` is what a pod set asks for, `assignment.rs` what it receives and what that takes from each domain.

mod assignment;
mod request;

pub use assignment::{
    DomainAssignment, DomainRequests, TopologyAssignment, TopologyUsage, lies_within,
};
pub use request::{SliceConstraint, TopologyRequest};

/// The label whose values are the names of nodes.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
