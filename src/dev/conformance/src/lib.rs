//! Runs the reference's own cases, kept as data in `../shared/conformance`, against this project's code.
//!
//! `corpus.rs` reads a file of cases, `suites.rs` says which function runs the cases of which file, `verdict.rs` holds what comes out, `report.rs`
//! prints it. A suite is one module a folder of the corpus and one function a file; adding one is a line in its table. Nothing here decides
//! anything: suites turn data into the values of the rooms under test, and compare.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a case that cannot be read is a failed case: panics are caught one case at a time and reported as its difference"
)]

pub mod compare;
pub mod corpus;
pub mod report;
pub mod run;
pub mod store;
pub mod suites;
pub mod topology;
pub mod verdict;
pub mod world;
