//! Trials on a bare control plane: the reference's own performance harness on both controllers, and the same script on both.
//!
//! A [`plane`] is an etcd and an API server in a folder; [`reference`] obtains Kueue v0.17.0's programs; [`manager`] starts either
//! controller on a plane. [`harness`] is `cargo xtask bench controller`, [`differential`] is `cargo xtask differential`,
//! [`migration`] is `cargo xtask migration`.

pub mod clock;
pub mod crds;
pub mod differential;
pub mod endings;
pub mod harness;
pub mod manager;
pub mod migration;
pub mod plane;
pub mod programs;
pub mod reference;
