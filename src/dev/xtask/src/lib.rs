//! The parts of `cargo xtask`, as a library so that the ordinary test run can call `tidy` too.

pub mod bench;
pub mod bundle;
pub mod frontend;
pub mod images;
pub mod packages;
pub mod run;
pub mod tests;
pub mod tidy;
pub mod up;
