//! What a decision about a Workload of several clusters rests on, and what it consists of.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jobs::multikueue::{Adapter, Foreign};
use kueue_api::conditions::{MAX_CONDITION_MESSAGE, truncate};
use kueue_api::v1beta2::{AdmissionCheckState, CheckState, Workload, WorkloadSpec};
use serde_json::Value;

/// Who proposes the clusters that a Workload is offered to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatcher {
    /// All of them at once.
    AllAtOnce,
    /// A few more every five minutes.
    Incremental { step: usize, config_order: bool },
    /// Somebody else, in `status.nominatedClusterNames`.
    External,
}

/// Choices of the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub origin: String,
    pub worker_lost_timeout: Duration,
    pub dispatcher: Dispatcher,
    /// Copies wait at a gate before they preempt (gate `MultiKueueOrchestratedPreemption`).
    pub gated: bool,
    /// Workloads are named in annotations (gate `WorkloadIdentifierAnnotations`).
    pub annotated: bool,
    /// Kinds of jobs that are managed here; the others cannot be handed over either.
    pub kinds: BTreeSet<&'static str>,
    /// Whether annotations raise priorities (gate `PriorityBoost`).
    pub boost: bool,
}

/// What a worker cluster holds of a Workload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remote {
    pub workload: Option<Workload>,
    /// The objects that have the names of the job (or of its pods).
    pub jobs: Vec<Value>,
}

/// All that a decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub workload: &'a Workload,
    pub check: &'a AdmissionCheckState,
    /// It is deleted, or about to be.
    pub leaving: bool,
    pub adapter: &'static Adapter,
    /// The job here, or the pods of its group.
    pub jobs: &'a [Value],
    /// The clusters that can be reached.
    pub remotes: BTreeMap<String, Remote>,
    /// The others, with the time since when, if that is known.
    pub lost: &'a BTreeMap<String, Option<Timestamp>>,
    /// All clusters, as the configuration orders them.
    pub order: &'a [String],
    /// When the incremental dispatcher last proposed something.
    pub round: Option<Timestamp>,
    /// The other Workloads of its job, if that may have several.
    pub siblings: Option<Siblings>,
    pub rules: &'a Rules,
    pub now: Timestamp,
}

/// What the Workloads of one job know of each other: they go to one cluster, which the first of them finds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Siblings {
    /// Whether all of them are there.
    pub complete: bool,
    /// Whether it is the first.
    pub first: bool,
    /// Where the others run.
    pub clusters: BTreeSet<String>,
}

/// One thing to do. They are done in order, up to the first that fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Delete what a cluster holds: the copy of the job first, if it is one, then the Workload.
    Remove(String),
    /// Create the Workload in a cluster.
    Offer(String, Box<Workload>),
    /// Replace the specification of the Workload in a cluster.
    Respecify(String, Box<WorkloadSpec>),
    /// Open the gate before preemption in a cluster.
    OpenGate(String),
    /// Have the Workload in a cluster deactivated, in these words.
    Deactivate(String, String),
    /// Create an object in a cluster.
    CreateJob(String, Value),
    /// Apply a merge patch to an object of this name in a cluster.
    ChangeJob(String, String, Value),
    /// Give the object of this name here this status.
    JobStatus(String, Value),
    /// The Workload here is over.
    Finish { reason: String, message: String },
    /// Write these clusters as those that it is offered to.
    Nominate(Vec<String>),
    /// A new round of the incremental dispatcher has begun.
    Round,
    /// The answer to the check.
    Answer(Answer),
}

/// What the check is to say, and what else the status says with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub state: CheckState,
    pub message: String,
    /// It runs there.
    pub cluster: Option<String>,
    /// The cluster decided where its pods go.
    pub placed: bool,
    pub event: Option<Tone>,
}

/// How an event sounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Normal,
    Warning,
}

/// Why a plan stops where it does.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Foreign(#[from] Foreign),
    #[error("cluster {0}: no remote client for nominated cluster")]
    NoClient(String),
    #[error("attempting to change immutable ClusterName from {from:?} to {to:?}")]
    OtherCluster { from: String, to: String },
    #[error("component workloads assigned to different clusters: {0:?}")]
    ApartFromEachOther(BTreeSet<String>),
    #[error("assigned worker cluster {0:?} is not available")]
    Unavailable(String),
    #[error("no more workers to nominate")]
    NoMoreWorkers,
}

/// What to do now, and when to look again at the latest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    pub acts: Vec<Act>,
    pub after: Option<Duration>,
    pub trouble: Option<Trouble>,
}

impl Plan {
    pub(super) fn of(acts: Vec<Act>) -> Self {
        Self {
            acts,
            ..Self::default()
        }
    }

    pub(super) fn answer(state: CheckState, message: &str, before: CheckState) -> Self {
        Self::of(vec![Act::Answer(Answer {
            state,
            message: previously(message, before),
            cluster: None,
            placed: false,
            event: None,
        })])
    }

    pub(super) fn after(self, wait: Duration) -> Self {
        Self {
            after: Some(wait),
            ..self
        }
    }
}

fn previously(message: &str, before: CheckState) -> String {
    let text = format!("{message}, Previously: {:?}", before.to_string());
    truncate(&text, MAX_CONDITION_MESSAGE)
}
