//! The end of a Workload, of its pods, and of an admission.

use std::sync::Arc;
use std::time::Duration;

use cache::Draft;
use jobs::GenericJob;
use kueue_api::conditions::{reasons, workload as types};
use kueue_api::v1beta2::Workload;
use kueue_api::workload::phase;

use super::{Flow, Round, Stop, finish, let_go, release};
use crate::events::Kind::Normal;
use crate::job::decide::finish_reason;
use crate::pods::act::Act;

impl Round<'_, '_> {
    fn declare_finished(&mut self, workload: &Workload) {
        let head = self.head();
        let note = format!("Workload '{}' is declared finished", workload.key());
        self.pass.event(&head, Normal, "FinishedWorkload", note);
    }

    /// The Workload has finished, or is being deleted.
    pub(super) fn over(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        if workload.is_finished() {
            let kept = workload.metadata.finalizers.iter().flatten().count() > 0
                || self
                    .everyone
                    .iter()
                    .any(|pod| jobs::pods::has_finalizer(pod));
            let_go(self.pass, &self.everyone);
            if kept {
                self.declare_finished(workload);
            }
            release(self.pass, workload);
            return Err(());
        }
        if workload.metadata.deletion_timestamp.is_some() {
            self.stop(&Stop::WorkloadDeleted, "Workload is deleted");
            release(self.pass, workload);
            return Err(());
        }
        Ok(())
    }

    /// The pods have done their work.
    pub(super) fn finished(&mut self, workload: Option<&Arc<Workload>>) -> Flow<()> {
        let job: &dyn GenericJob = &self.pods;
        let Some(end) = job.finished() else {
            return Ok(());
        };
        if let Some(workload) = workload {
            let reason = finish_reason(end.success);
            finish(self.pass, workload, reason, &end.message, self.view.now);
            self.declare_finished(workload);
        }
        let_go(self.pass, &self.everyone);
        Err(())
    }

    /// The Workload has to give way: its pods are stopped, and once none holds anything its quota is free.
    pub(super) fn evicted(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        let Some(evicted) = phase::evicted(workload) else {
            return Ok(());
        };
        let why = Stop::Evicted(evicted.reason.clone());
        self.stop(&why, &evicted.message);
        let job: &dyn GenericJob = &self.pods;
        if workload.has_quota_reservation() && !job.is_active() {
            let mut draft = Draft::of(workload, self.view.now).released();
            // It goes with its pod; a new place would be for nobody.
            if self.view.rules.pods_die_alone && !self.pods.is_group() {
                let (reason, message) = (&evicted.reason, &evicted.message);
                draft = draft.saying(types::REQUEUED, false, reason, message);
            }
            let status = Box::new(draft.done());
            self.pass.push(Act::WriteStatus(workload.clone(), status));
        }
        self.deactivated(workload);
        Err(())
    }

    /// Pods whose Workload Kueue itself has deactivated go after a time.
    fn deactivated(&mut self, workload: &Workload) {
        let Some(keep) = self.view.rules.jobs.keep_deactivated else {
            return;
        };
        let by_kueue =
            phase::evicted(workload).filter(|c| c.reason.starts_with(reasons::DEACTIVATED_DUE_TO));
        let Some(evicted) = by_kueue.filter(|_| !workload.is_active()) else {
            return;
        };
        let past = self
            .view
            .now
            .duration_since(evicted.last_transition_time.0)
            .unsigned_abs();
        let left = keep.saturating_sub(past);
        if left > Duration::ZERO {
            self.pass.again = Some(left);
            return;
        }
        let head = self.head();
        self.pass.push(Act::DeletePod(head.clone()));
        let note = "Deleted job: deactivation retention period expired";
        self.pass.event(&head, Normal, "Deleted", note);
        let_go(self.pass, &self.everyone);
    }
}
