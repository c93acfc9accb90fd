//! What the cache knows of places: Nodes, what foreign pods take on them, Topologies, and assignments in the form of the wire.
//!
//! `nodes.rs` keeps the nodes, `foreign.rs` what pods that Kueue does not place take from them, `world.rs` the view of one flavor that a
//! cycle decides on. `encode.rs` and `decode.rs` translate assignments (reference, section 4.14, "Encoding").

mod decode;
mod encode;
mod prefixes;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub use encode::{encode, encode_by_prefix};
pub use prefixes::{chunks, prefix_keys, runs};
