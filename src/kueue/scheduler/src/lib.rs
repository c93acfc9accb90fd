//! Decides one admission cycle from values: quota tree, flavors, borrowing, order. Returns a plan and a report. Pure.
//!
//! No client, clock, log or runtime: [`run`] is a function of a snapshot, the heads of the queues, the operator's choices and the number
//! of the cycle. What is not built yet is a value of [`Unsupported`]. Start reading at `cycle.rs`, then `assign.rs` and `quota.rs`.

mod admitted;
mod assign;
mod cycle;
#[cfg(test)]
mod fixture;
mod invariants;
mod labels;
pub mod messages;
mod names;
mod objects;
mod past_usage;
mod places;
mod plan;
mod policy;
pub mod preemption;
mod quota;
mod report;
mod share;
pub mod topology;
mod unsupported;

pub use admitted::{Admitted, AdmittedByQueue, forget, forget_in, remember};
pub use assign::{
    Assigner, Assignment, Attempt, Blocker, Choice, Granular, LastAssignment, Mode, NoFitReason,
    Nomination, PodSetAssignment, Tried, largest_that,
};
pub use cycle::{Contender, Head, Preemptor, Snapshot, Turn, reserved, run};
pub use invariants::{Violation, check_tree};
pub use labels::{
    Effect, Labels, NODE_NAME, NodeAffinity, Requirement, Selector, Taint, Test, Toleration,
};
pub use names::{
    ClusterQueueName, CohortName, FlavorName, FlavorResource, LocalQueueKey, NamespaceName,
    PodSetName, WorkloadKey,
};
pub use objects::{
    ClusterQueue, Defect, Flavor, Fungibility, HeldPodSet, OutOfBounds, PlacesLater, PodSet,
    PodSetAdditions, Preemption, PreemptionPolicy, Preference, Reservation, ResourceGroup, Rule,
    Strategy, Usage, WhenPossible, Workload,
};
pub use past_usage::{Account, AdmissionFairSharing, Ledger, Quantities, Sample};
pub use places::{Delayed, Found, NoRequest, Topologies, Wanted};
pub use plan::{Admission, Eviction, Plan, PodSetAdmission, Preemption as PlannedPreemption};
pub use policy::{FairSharing, FairStrategy, Policy};
pub use preemption::{NoPreemption, Oracle, Possibility, PreemptionReason, Target};
pub use quota::{CohortQuotas, Holder, Level, Member, NodeId, Quota, QuotaTree, Quotas};
pub use report::{Entry, Outcome, PendingReason, Recomputation, Refusal, Report, RequeueReason};
pub use share::{Share, Weight};
pub use unsupported::Unsupported;
