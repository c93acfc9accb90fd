//! What the cache knows of places: Nodes, what foreign pods take on them, Topologies, and assignments in the form of the wire.
//!
//! `nodes.rs` keeps the nodes, `foreign.rs` what pods that Kueue does not place take from them, `places.rs` the places of each flavor as a
//! cycle sees them. `encode.rs` and `decode.rs` translate assignments (reference, section 4.14, "Encoding").

mod changes;
mod decode;
mod encode;
mod feed;
mod foreign;
mod nodes;
mod places;
mod prefixes;
mod ungate;
mod used;

#[cfg(test)]
mod tests;

pub use changes::{NodeChanges, node_changes};
pub use decode::decode;
pub use encode::{encode, encode_by_prefix};
pub use foreign::{Change, Foreign, Taken, asks_for_topology, is_foreign};
pub use nodes::Nodes;
pub(crate) use places::Places;
pub use prefixes::{chunks, prefix_keys, runs};
pub use ungate::{OffsetError, Placement, is_gated, ungate};
pub use used::nodes_used;
