//! Real processes, terminals and sandboxes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

mod child;
mod environment;
mod pty;
mod sandbox;
