//! Real processes, terminals and sandboxes.

mod child;
mod pty;
mod sandbox;
