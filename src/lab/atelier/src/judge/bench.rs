//! `cargo xtask bench verdict`: how long after the API server's change a verdict is there.
