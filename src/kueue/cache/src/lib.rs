//! Watched objects become scheduler inputs, plans become patches. Synchronous, no client.
//!
//! A [`Cache`] is fed with `apply_…` and `delete_…` in any order and says what has to be looked at again ([`Affected`]). A scheduling
//! loop takes a [`Cycle`] out, runs it without holding the cache, assumes what the plan admits and settles the rest. It neither
//! talks to the API server nor knows the time. Start reading at `cache.rs`, then `workloads.rs` and `cycle.rs`.

mod affected;
mod cache;
mod check;
mod cluster_queues;
pub mod convert;
mod cycle;
mod evictions;
mod fair_shares;
mod holdings;
mod local_queues;
mod messages;
mod node_failure;
mod options;
mod patch;
pub mod pending;
mod readiness;
mod requeue;
mod second_pass;
mod shared_names;
mod status;
mod surroundings;
pub mod topology;
mod transition;
mod users;
mod visibility;
mod workloads;

#[cfg(test)]
mod tests;

pub use affected::Affected;
pub use cache::Cache;
pub use convert::limits_as_requests;
pub use cycle::{AssumeError, Cycle, Settled};
pub use node_failure::{Health, NodeNews, Remedies, Remedy};
pub use options::{
    Features, Options, PodsReadyTimestamp, QuotaCheck, TrackedLabel, Transformation,
};
pub use patch::{Event, EventKind, WorkloadPatch, told_requests};
pub use pending::Pending;
pub use readiness::Readiness;
pub use status::{Obstacles, PendingReason};
pub use surroundings::Surroundings;
pub use transition::{Draft, Eviction, Words};
pub use visibility::{ClusterQueueCounts, PendingWorkload};

pub use scheduler::{
    Admission, AdmissionFairSharing, ClusterQueueName, CohortName, FairSharing, FairStrategy,
    FlavorName, LocalQueueKey, NamespaceName, Outcome, Plan, Report, Unsupported, Violation,
    WorkloadKey,
};
