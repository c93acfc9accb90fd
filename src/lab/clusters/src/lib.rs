//! Brings trainee clusters up and down as a list of undoable actions; providers and faked GPU nodes.
//!
//! An environment is one supervisor process that owns everything of one trainee's cluster, so that it outlives the
//! platform. Start reading at [`provider`]; [`local`] runs servers as processes, [`kind`] makes
//! nodes of containers.

pub mod clock;
mod control;
pub mod egress;
pub mod host_node;
pub mod kind;
pub mod kwok;
pub mod local;
pub mod machine;
pub mod pki;
pub mod profile;
pub mod provider;
pub mod tools;
pub mod walls;
