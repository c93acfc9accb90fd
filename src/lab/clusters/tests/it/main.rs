//! Real environments: the whole life of one, what happens when things die, and what two cannot do to each other.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says why")]

mod faults;
mod kind;
mod life;
mod machine;
