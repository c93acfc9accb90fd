//! Each job kind to and from a Workload: one interface with optional capabilities, one folder a kind.
//! Everything is a function of the job's object: no client, no clock. `controllers` carries out what is said here, and
//! `webhooks` calls [`admission`].

pub mod admission;
pub mod ancestors;
pub mod app_wrapper;
pub mod batch_job;
pub mod construct;
pub mod equivalence;
mod error;
pub mod integrations;
pub mod job;
pub mod job_set;
pub mod kind;
pub mod merge;
pub mod multikueue;
pub mod naming;
pub mod pod_set_info;
pub mod pods;
pub mod ray;
pub mod replicated;
pub mod serving;
pub mod slices;
pub mod spark_application;
pub mod topology_request;
pub mod train_job;
mod untyped;

#[cfg(test)]
mod tests;

pub use construct::{Priority, workload};
pub use error::{InfoError, InjectError, JobError, UnknownFlavor};
pub use job::{Change, Finish, GenericJob, RuntimeRef};
pub use kind::{JobKind, KINDS};
pub use pod_set_info::{Marks, PodSetInfo};
