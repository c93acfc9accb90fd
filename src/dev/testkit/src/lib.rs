//! What tests of real programs share: finding them, a platform in a folder of its own, and leaving nothing behind.
//!
//! A dev-dependency only. A test begins with [`Programs::find`], which says `skipped: …` when something is missing
//! (and fails where `CI=true`), then makes a [`Platform`], whose end kills every process that worked in its folder.

mod kind;
mod platform;
mod programs;
mod sweep;

pub use kind::kind_clusters;
pub use platform::Platform;
pub use programs::{Programs, lacking, program};
