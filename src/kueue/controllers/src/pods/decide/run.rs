//! From waiting to running: the Workload is made, what the pods tell is written down, and admitted pods pass their gate.

use std::sync::Arc;

use cache::Draft;
use jobs::job::StartError;
use jobs::pods::waiting_for_replacement;
use jobs::{GenericJob, InfoError};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::conditions::{self, reasons};
use kueue_api::v1beta2::{CheckState, Workload};
use kueue_api::workload::{phase, pods as counts};
use serde_json::json;

use super::{Flow, Round, Stop, finish};
use crate::events::Kind::Normal;
use crate::job::decide::{Readiness, infos};
use crate::pods::act::{Act, Trouble};

impl Round<'_, '_> {
    /// Whether pods are waited for in place of those that failed.
    pub(super) fn replacement(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        if !self.pods.is_group() {
            return Ok(());
        }
        let Some(new) = waiting_for_replacement(workload, self.absent, self.view.now) else {
            return Ok(());
        };
        let mut status = Draft::of(workload, self.view.now).done();
        conditions::set(&mut status.conditions, new);
        let act = Act::WriteStatus(workload.clone(), Box::new(status));
        self.pass.push(act);
        Err(())
    }

    /// The pods have no Workload.
    pub(super) fn create(&mut self) -> Flow<()> {
        let prebuilt = self.pods.prebuilt().is_some();
        if prebuilt {
            self.stop(&Stop::NoMatchingWorkload, "missing workload");
        }
        let job: &dyn GenericJob = &self.pods;
        // Pods of an earlier run must be gone before the new ones are counted.
        if job.is_active() {
            return Err(());
        }
        if prebuilt {
            let text = "prebuilt workload not found".to_owned();
            self.pass.stuck(Trouble::Again(text));
            return Err(());
        }
        let made = self.composed()?;
        let note = format!("Created Workload: {}", made.key());
        self.pass.push(Act::CreateWorkload(Box::new(made)));
        let head = self.head();
        self.pass.event(&head, Normal, "CreatedWorkload", note);
        Ok(())
    }

    /// What the pods tell about themselves.
    pub(super) fn progress(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        let job: &dyn GenericJob = &self.pods;
        if self.view.rules.jobs.reclaim {
            let status = workload.status.as_ref();
            let known = status.map_or(&[][..], |status| &status.reclaimable_pods);
            let given = job.reclaimable_pods().unwrap_or_default();
            let given = counts::at_most(&given, &workload.spec.pod_sets);
            if !counts::same_given_back(&given, known) {
                self.pass.push(Act::Reclaim(workload.clone(), given));
                return Err(());
            }
        }
        if !self.view.rules.jobs.track_pods_ready {
            return Ok(());
        }
        let Some(news) = Readiness::news(job, workload) else {
            return Ok(());
        };
        let draft = Draft::of(workload, self.view.now);
        let status = draft.pods_ready(news.is_ready(), news.reason(), news.message());
        let act = Act::WriteStatus(workload.clone(), Box::new(status.done()));
        self.pass.push(act);
        Err(())
    }

    /// Pods of an admitted Workload run, others do not.
    pub(super) fn run(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        let job: &dyn GenericJob = &self.pods;
        if !job.is_suspended() {
            if !workload.is_admitted() {
                self.stop(&Stop::NotAdmitted, "Not admitted by cluster queue");
            }
            return Ok(());
        }
        if workload.is_admitted() {
            return self.start(workload);
        }
        if workload.has_quota_reservation() {
            self.tell_checks(workload);
        }
        let job: &dyn GenericJob = &self.pods;
        let queue = job.queue_name().unwrap_or_default();
        if !self.pods.serves() && workload.spec.queue_name() != queue {
            let patch = json!({"spec": {"queueName": queue}});
            self.pass.push(Act::ChangeWorkload(workload.clone(), patch));
        }
        Ok(())
    }

    fn tell_checks(&mut self, workload: &Workload) {
        let checks = workload.status.iter().flat_map(|s| &s.admission_checks);
        let waiting =
            checks.filter(|check| check.state == CheckState::Pending && !check.message.is_empty());
        let texts: Vec<_> = waiting
            .map(|check| format!("{}: {}", check.name, check.message))
            .collect();
        if texts.is_empty() {
            return;
        }
        let note = texts.join("; ");
        for pod in self.pods.all().to_vec() {
            self.pass
                .event(&pod, Normal, "UpdatedAdmissionCheck", &*note);
        }
    }

    fn start(&mut self, workload: &Arc<Workload>) -> Flow<()> {
        let status = workload.status.as_ref();
        let elsewhere = status.is_some_and(|status| {
            let mut checks = status.admission_checks.iter();
            checks.any(|check| self.view.remote_checks.contains(&check.name))
        });
        if elsewhere {
            return Ok(());
        }
        let infos = match infos(workload, self.view.flavors, self.view.rules.jobs.marks) {
            Ok(infos) => infos,
            Err(error @ InfoError::Conflict { .. }) => return self.cannot_start(workload, &error),
            Err(error @ InfoError::Flavor(_)) => {
                self.pass.stuck(Trouble::Again(error.to_string()));
                return Err(());
            }
        };
        match self.pods.started(&infos) {
            Ok(started) => {
                self.ungate(workload, &started);
                Ok(())
            }
            Err(error @ StartError::Inject(_)) => self.cannot_start(workload, &error),
            Err(StartError::Job(error)) => self.fail(&error),
        }
    }

    /// Trying again cannot help.
    fn cannot_start(&mut self, workload: &Arc<Workload>, why: &impl ToString) -> Flow<()> {
        let text = why.to_string();
        finish(
            self.pass,
            workload,
            reasons::FAILED_TO_START,
            &text,
            self.view.now,
        );
        Err(())
    }

    fn ungate(&mut self, workload: &Workload, started: &[Arc<Pod>]) {
        let status = workload.status.as_ref();
        let admission = status.and_then(|status| status.admission.as_ref());
        let queue = admission.map(|admission| admission.cluster_queue.as_str());
        let queue = queue.unwrap_or_default();
        let seconds = phase::since_admission(workload, self.view.now);
        for after in started {
            let same = |pod: &&Arc<Pod>| pod.metadata.name == after.metadata.name;
            let Some(before) = self.pods.all().iter().find(same).cloned() else {
                continue;
            };
            self.pass.push(Act::Start(before.clone(), after.clone()));
            let note = format!("Admitted by clusterQueue {queue}");
            self.pass.event(&before, Normal, "Started", note);
            if let Some(seconds) = seconds {
                self.pass.push(Act::CountStart {
                    cluster_queue: queue.to_owned(),
                    grouped: self.pods.is_group(),
                    seconds: seconds.as_secs_f64(),
                });
            }
        }
    }
}
