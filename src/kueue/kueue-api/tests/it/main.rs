//! Round trips on the wire, the reference's own cases, and the generated CRDs.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests, and say what they skip"
)]

mod corpus;
mod crds;
mod wire;
