//! Reconcilers, the scheduling loop, leader election, events, metrics: all that holds a Kubernetes client.
//!
//! Watches feed the [`world`]; work queues name what has to be looked at; each reconciler fetches from the stores, decides
//! by a pure function (`decide`), and carries out one step at a time. Start reading at [`run`], then `job.rs`, `workload.rs`
//! and `scheduling.rs`. Nothing here decides about quota: that is `scheduler`, behind `cache`.

mod access;
pub mod certificate;
pub mod cluster_queue;
pub mod cohort;
pub mod connect;
pub mod context;
pub mod dump;
pub mod error;
pub mod events;
pub mod flavor;
pub mod front_proxy;
pub mod job;
pub mod keepers;
pub mod key;
pub mod leader_worker_set;
pub mod lease;
pub mod local_queue;
pub mod locks;
pub mod metrics;
pub mod multikueue;
pub mod nodes;
pub mod places;
pub mod pods;
pub mod provisioning;
pub mod recovery;
pub mod role;
pub mod run;
pub mod scheduling;
pub mod scrape;
pub mod slices;
pub mod stateful_set;
pub mod store;
pub mod stores;
pub mod surroundings;
pub mod visibility;
pub mod watch;
pub mod work_queue;
pub mod workload;
pub mod world;
pub mod write;

#[cfg(test)]
mod tests;
