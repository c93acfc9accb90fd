//! Reviews in process, the whole way over TLS, and the manifest that tells the API server of them.

#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests fail like tests, and say what they skip"
)]

mod manifest;
mod reviews;
mod tls;
mod visibility;
