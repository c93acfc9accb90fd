//! The platform: pages, live updates, terminals, recorder and command line of the course.
//!
//! Everything that decides lives in other rooms (`course`, `timeline`); everything that starts processes or
//! clusters does so through `exec` and `clusters`. Start reading at [`cli`] for the commands and at [`web`] for the pages.

pub mod bench;
pub mod bundle;
pub mod cli;
pub mod clock;
pub mod doctor;
pub mod env_cli;
pub mod environments;
pub mod grade;
pub mod judge;
pub mod options;
pub mod recorder;
pub mod serve;
pub mod solve;
pub mod tools_cli;
pub mod web;
