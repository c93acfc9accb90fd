//! A pending workload with all that its queue has to know about it.

use std::sync::Arc;

use jiff::Timestamp;
use kueue_api::conditions::{self, workload as types};
use kueue_api::v1beta2::{self as api, WorkloadStatus};
use scheduler::{LocalQueueKey, Workload, WorkloadKey};

use crate::{Options, Surroundings, TrackedLabel, convert};

/// A pending workload.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// What it asks for.
    pub workload: Arc<Workload>,
    /// The version of its object's spec.
    pub generation: i64,
    /// That version when it was last tried; `None` if it was not.
    pub evaluated: Option<i64>,
    /// Differs when it changed in a way that may help it.
    pub chances: u64,
    /// Equal for workloads that get the same answer; `None` if nobody asks.
    pub shape: Option<u64>,
    /// How long it has to wait, whatever quota there is.
    pub backoff: Backoff,
    /// Whether its last search left flavors out.
    pub untried_flavors: bool,
    /// The values by which metrics tell it apart, if there are any.
    pub tracked: Tracked,
}

/// Values of labels, in the order in which these were configured; `None` without such labels.
pub type Tracked = Option<Arc<Vec<String>>>;

impl Waiting {
    /// What an object says.
    #[must_use]
    pub fn of(object: &api::Workload, options: &Options, around: &Surroundings) -> Self {
        let workload = convert::workload(object, options, around);
        let status = object.status.as_ref();
        Self {
            generation: object.metadata.generation.unwrap_or_default(),
            evaluated: None,
            chances: convert::chances(object, &workload),
            shape: shape(&workload, options),
            backoff: status.map(Backoff::of).unwrap_or_default(),
            untried_flavors: false,
            tracked: tracked(object, options),
            workload: Arc::new(workload),
        }
    }

    /// Which workload.
    #[must_use]
    pub fn key(&self) -> &WorkloadKey {
        &self.workload.key
    }

    /// The LocalQueue it came through.
    #[must_use]
    pub fn door(&self) -> &LocalQueueKey {
        &self.workload.local_queue
    }

    /// Whether it may get another answer than it got as `before`.
    pub(super) fn deserves_another_try(&self, before: &Self) -> bool {
        let tried = before.evaluated;
        self.chances != before.chances || tried.is_some_and(|tried| tried != self.generation)
    }
}

/// The values by which metrics tell a workload apart.
pub(crate) fn tracked(object: &api::Workload, options: &Options) -> Tracked {
    if options.tracked_labels.is_empty() {
        return None;
    }
    let value = |label: &TrackedLabel| {
        let meta = &object.metadata;
        let from = if label.annotation {
            &meta.annotations
        } else {
            &meta.labels
        };
        let value = from.as_ref().and_then(|all| all.get(&label.key)).cloned();
        let value = value.unwrap_or_default();
        if label.values.is_empty() || label.values.contains(&value) {
            value
        } else {
            TrackedLabel::UNTRACKED.to_owned()
        }
    };
    Some(Arc::new(options.tracked_labels.iter().map(value).collect()))
}

/// The shape of what a workload asks for, where equal ones are to be treated alike.
pub(crate) fn shape(workload: &Workload, options: &Options) -> Option<u64> {
    let hashing = options.features.scheduling_equivalence_hashing;
    hashing.then_some(workload.shape)
}

/// How long a workload has to wait before it is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Backoff {
    /// Until somebody says otherwise: the condition Requeued is False.
    pub held: bool,
    /// Until this moment.
    pub until: Option<Timestamp>,
}

impl Backoff {
    /// What a status says.
    #[must_use]
    pub fn of(status: &WorkloadStatus) -> Self {
        let requeue_at = status.requeue_state.as_ref();
        let requeue_at = requeue_at.and_then(|state| state.requeue_at.as_ref());
        Self {
            held: conditions::is_false(&status.conditions, types::REQUEUED),
            until: requeue_at.map(|at| at.0),
        }
    }

    /// Whether it is not over yet. Moments have a precision of seconds.
    #[must_use]
    pub fn waits(self, now: Timestamp) -> bool {
        let early = |until: Timestamp| now.as_second() < until.as_second();
        self.held || self.until.is_some_and(early)
    }
}
