//! The reference's own cases, as far as they concern what is built, against the public face of the cache and the scheduler.
//! Without the corpus beside the project they are skipped, except in CI.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail where the test would"
)]

mod corpus;
mod queues;
mod quota;
mod tree;
