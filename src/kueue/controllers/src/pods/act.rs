//! What a pass over pods asks for, as values: writes, deletions, events. Whoever carries them out keeps their order.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::{ReclaimablePod, Workload, WorkloadStatus};
use serde_json::Value;

use crate::events::Kind;

/// The object of an event.
#[derive(Clone, Debug)]
pub enum About {
    Pod(Arc<Pod>),
    Workload(Arc<Workload>),
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Act {
    CreateWorkload(Box<Workload>),
    /// A merge patch of a Workload's metadata or spec.
    ChangeWorkload(Arc<Workload>, Value),
    WriteStatus(Arc<Workload>, Box<WorkloadStatus>),
    Reclaim(Arc<Workload>, Vec<ReclaimablePod>),
    /// Takes our finalizer from a Workload.
    Release(Arc<Workload>),
    DeleteWorkload(Arc<Workload>),
    /// A pod past its gate, as it was and as it is to be.
    Start(Arc<Pod>, Arc<Pod>),
    /// Takes our finalizer from a pod.
    LetGo(Arc<Pod>),
    /// Notes on a pod why it has to go, and deletes it.
    Terminate {
        pod: Arc<Pod>,
        reason: String,
        message: String,
    },
    DeletePod(Arc<Pod>),
    /// A pod is past its gate, so many seconds after the admission of its Workload.
    CountStart {
        cluster_queue: String,
        grouped: bool,
        seconds: f64,
    },
    Event(About, Kind, &'static str, String),
}

/// Why a pass did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Nothing can be done until something changes.
    ForNow(String),
    /// It has to be tried again.
    Again(String),
}

/// What a pass came to.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    pub acts: Vec<Act>,
    pub trouble: Option<Trouble>,
    /// To be looked at again after this time, whatever happens.
    pub again: Option<Duration>,
}

impl Pass {
    pub(super) fn push(&mut self, act: Act) {
        self.acts.push(act);
    }

    pub(super) fn event(
        &mut self,
        about: &Arc<Pod>,
        kind: Kind,
        reason: &'static str,
        note: impl Into<String>,
    ) {
        self.push(Act::Event(
            About::Pod(about.clone()),
            kind,
            reason,
            note.into(),
        ));
    }

    /// The pass ends here.
    pub(super) fn stuck(&mut self, trouble: Trouble) {
        self.trouble = Some(trouble);
    }
}
