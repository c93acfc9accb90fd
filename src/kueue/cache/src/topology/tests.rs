//! Assignments on the wire; nodes, pods and topologies that come and go.

mod places;
mod wire;
