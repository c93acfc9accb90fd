//! What to write into workloads that a plan tells to leave, and into slices whose place others took (kueue-reference.md, section 4.8).

use jiff::Timestamp;
use kueue_api::conditions::{self, reasons, workload as types};
use scheduler::{Admission, Admitted, Eviction as Planned, PlannedPreemption, messages};

use crate::patch::{event, owned};
use crate::{Cache, Draft, Event, EventKind, Eviction, WorkloadPatch};

impl Cache {
    /// The status of a workload that is preempted; `None` if it is leaving already, or gone.
    #[must_use]
    pub fn preemption_patch(
        &self,
        preemption: &PlannedPreemption,
        now: Timestamp,
    ) -> Option<WorkloadPatch> {
        let message = messages::preemption(preemption);
        let eviction = Eviction::new(reasons::PREEMPTED, &message);
        let by_right = messages::preemption_reason(preemption.reason);
        let leave = |draft: Draft| draft.preempted(by_right, &message).evicted(&eviction);
        let mut patch = self.leaving(&preemption.target, now, leave)?;
        let note = messages::preempted_event(preemption);
        patch.events = vec![
            event(EventKind::Normal, &eviction.event(), message.clone()),
            event(EventKind::Normal, reasons::PREEMPTED, note),
        ];
        Some(patch)
    }

    /// What to tell about a workload for which another one was told to leave.
    #[must_use]
    pub fn preemptor_event(preemption: &PlannedPreemption) -> Event {
        let note = messages::preemptor_event(preemption);
        event(EventKind::Normal, "PreemptedWorkload", note)
    }

    /// The status of a workload that has to leave without being preempted; `None` if it is leaving already, or gone.
    #[must_use]
    pub fn eviction_patch(&self, planned: &Planned, now: Timestamp) -> Option<WorkloadPatch> {
        let (reason, message) = messages::evicted(planned);
        let eviction = Eviction::new(reason, &message);
        let mut patch = self.leaving(planned.evicted(), now, |draft| draft.evicted(&eviction))?;
        patch.events = vec![event(EventKind::Normal, &eviction.event(), message)];
        Some(patch)
    }

    /// The status of the slice whose place an admitted workload took; `None` if there is none, or it is finished already.
    #[must_use]
    pub fn replacement_patch(
        &self,
        admission: &Admission,
        now: Timestamp,
    ) -> Option<WorkloadPatch> {
        let slice = admission.replaces.as_ref()?;
        let state = self.workloads.get(&slice.workload.key)?;
        let same = state.info.uid == slice.workload.uid && !state.finished;
        let draft = Draft::from_status(owned(&state.status), state.generation, now);
        let message = messages::replaced(admission);
        let reason = reasons::WORKLOAD_SLICE_REPLACED;
        same.then(|| WorkloadPatch {
            key: slice.workload.key.clone(),
            uid: slice.workload.uid.clone(),
            status: draft.finished(reason, &message).done(),
            events: vec![event(EventKind::Normal, reason, message)],
        })
    }

    fn leaving(
        &self,
        who: &Admitted,
        now: Timestamp,
        leave: impl FnOnce(Draft) -> Draft,
    ) -> Option<WorkloadPatch> {
        let state = self.workloads.get(&who.workload.key)?;
        let leaves = conditions::is_true(&state.status.conditions, types::EVICTED);
        if leaves || state.finished || state.info.uid != who.workload.uid {
            return None;
        }
        let draft = Draft::from_status(owned(&state.status), state.generation, now);
        Some(WorkloadPatch {
            key: who.workload.key.clone(),
            uid: who.workload.uid.clone(),
            status: leave(draft).done(),
            events: Vec::new(),
        })
    }
}
