//! The one Workload of the pods: found, adopted, corrected or refused; pods that have no place in it are sent away.

use std::sync::Arc;

use jobs::pods::{Composed, GroupError, Match, SortedOut};
use jobs::{GenericJob, JobError, equivalence, merge};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::{Flow, Round, Stop, finish, let_go};
use crate::events::Kind::{Normal, Warning};
use crate::job::decide::running_pod_sets;
use crate::pods::act::{About, Act, Trouble};

/// What was found.
struct Found {
    matching: Option<Arc<Workload>>,
    others: Vec<Arc<Workload>>,
}

impl Round<'_, '_> {
    /// The Workload of the pods, if they have one.
    pub(super) fn ensure(&mut self) -> Flow<Option<Arc<Workload>>> {
        if self.pods.prebuilt().is_some() {
            return self.adopt();
        }
        let mut found = if self.pods.group_name().is_some() {
            self.of_group()?
        } else {
            self.of_single()?
        };
        let job: &dyn GenericJob = &self.pods;
        let suspended = job.is_suspended();
        if found.matching.is_none() && suspended {
            let first = found.others.first().cloned();
            let waits = |workload: &Arc<Workload>| {
                !workload.has_quota_reservation() && (self.pods.is_group() || self.is_of(workload))
            };
            if let Some(waiting) = first.filter(waits) {
                found.others.remove(0);
                self.delete(&found)?;
                return self.correct(&waiting).map(Some);
            }
        }
        if found.matching.is_none() && !suspended && job.finished().is_none() {
            let message = if found.others.len() == 1 {
                "No matching Workload; restoring pod templates according to existent Workload"
            } else {
                "Missing Workload; unable to restore pod templates"
            };
            self.stop(&Stop::NoMatchingWorkload, message);
        }
        self.delete(&found)?;
        let Some(matching) = found.matching else {
            return Ok(None);
        };
        let gated = self.follow_gates(&matching);
        self.follow_priority(&gated).map(Some)
    }

    pub(super) fn fail<T>(&mut self, error: &JobError) -> Flow<T> {
        let text = error.to_string();
        let lasting = matches!(error, JobError::Group(of_group) if of_group.waits_for_a_change());
        self.pass.stuck(if lasting {
            Trouble::ForNow(text)
        } else {
            Trouble::Again(text)
        });
        Err(())
    }

    /// The Workload that somebody else made for these pods.
    fn adopt(&mut self) -> Flow<Option<Arc<Workload>>> {
        let Some(workload) = self.view.prebuilt.clone() else {
            return Ok(None);
        };
        let uid = self.pods.meta().uid.clone();
        let mut owners = workload.metadata.owner_references.iter().flatten();
        if owners.any(|owner| owner.controller == Some(true) && Some(&owner.uid) != uid.as_ref()) {
            return Ok(None);
        }
        let workload = if self.pods.is_group() {
            self.clean_left();
            self.join(&workload)
        } else {
            self.take_over(&workload)
        };
        let fits = if self.pods.is_group() {
            self.pods.fits_prebuilt(&workload)
        } else {
            self.equivalent(&workload)
        };
        match fits {
            Err(error) => self.fail(&error),
            Ok(true) => Ok(Some(workload)),
            Ok(false) => {
                let text = "The prebuilt workload is out of sync with its user job";
                if !workload.is_finished() {
                    finish(
                        self.pass,
                        &workload,
                        reasons::OUT_OF_SYNC,
                        text,
                        self.view.now,
                    );
                }
                Ok(None)
            }
        }
    }

    /// Pods of a serving group that were deleted and have stopped make room for the next ones of their names.
    fn clean_left(&mut self) {
        if self.pods.serves() {
            let (_, ended) = self.pods.partition();
            let deleted = |pod: &Arc<Pod>| pod.metadata.deletion_timestamp.is_some();
            let left: Vec<_> = ended.into_iter().filter(deleted).collect();
            let_go(self.pass, &left);
        }
    }

    fn join(&mut self, workload: &Arc<Workload>) -> Arc<Workload> {
        let mut joined = Workload::clone(workload);
        let added = self.pods.join_owners(&mut joined);
        if added == 0 {
            return workload.clone();
        }
        let owners = json!({"metadata": {"ownerReferences": joined.metadata.owner_references}});
        self.pass
            .push(Act::ChangeWorkload(workload.clone(), owners));
        let joined = Arc::new(joined);
        let note = format!("Added {added} owner reference(s)");
        let about = About::Workload(joined.clone());
        self.pass
            .push(Act::Event(about, Normal, "OwnerReferencesAdded", note));
        joined
    }

    fn take_over(&mut self, workload: &Arc<Workload>) -> Arc<Workload> {
        let mut taken = Workload::clone(workload);
        if !self.pods.take_over(&mut taken) {
            return workload.clone();
        }
        let meta = json!({"metadata": {
            "ownerReferences": taken.metadata.owner_references,
            "labels": taken.metadata.labels,
        }});
        self.pass.push(Act::ChangeWorkload(workload.clone(), meta));
        Arc::new(taken)
    }

    fn of_group(&mut self) -> Flow<Found> {
        let mut found = Found {
            matching: None,
            others: Vec::new(),
        };
        let Some(workload) = self.view.workloads.first().cloned() else {
            return Ok(found);
        };
        match self.pods.look_at(&workload) {
            Err(error) => self.fail(&error),
            Ok(Match::Foreign) => self.refuse(),
            Ok(Match::Different) => {
                found.others.push(workload);
                Ok(found)
            }
            Ok(Match::Ours(sorted)) => {
                found.matching = Some(self.settle(&workload, *sorted)?);
                Ok(found)
            }
        }
    }

    fn refuse(&mut self) -> Flow<Found> {
        let head = self.head();
        let group = self.pods.group_name().unwrap_or_default();
        let note = format!(
            "A Workload named {group:?} already exists but is not a pod group workload; this pod group cannot be admitted"
        );
        self.pass
            .event(&head, Warning, "WorkloadNameConflict", note);
        // They never run, so nobody else lets them go.
        let (_, ended) = self.pods.partition();
        let_go(self.pass, &ended);
        self.pass.stuck(Trouble::ForNow(
            "a workload with the pod group name already exists but was not created by the pod group framework".to_owned(),
        ));
        Err(())
    }

    fn settle(&mut self, workload: &Arc<Workload>, sorted: SortedOut) -> Flow<Arc<Workload>> {
        if !self.view.settled {
            let text = "waiting to observe previous operations on pods";
            self.pass.stuck(Trouble::ForNow(text.to_owned()));
            return Err(());
        }
        self.absent = sorted.absent;
        self.pods = sorted.kept;
        let joined = self.join(workload);
        self.send_away(&sorted.excess);
        let_go(self.pass, &sorted.replaced);
        Ok(joined)
    }

    pub(super) fn send_away(&mut self, excess: &[Arc<Pod>]) {
        let_go(self.pass, excess);
        for pod in excess {
            if pod.metadata.deletion_timestamp.is_none() {
                self.pass.push(Act::DeletePod(pod.clone()));
                self.pass
                    .event(pod, Normal, "ExcessPodDeleted", "Excess pod deleted");
            }
        }
    }

    fn of_single(&mut self) -> Flow<Found> {
        let mut found = Found {
            matching: None,
            others: Vec::new(),
        };
        for workload in self.view.workloads.clone() {
            let same = match self.equivalent(&workload) {
                Ok(same) => same && self.is_of(&workload),
                Err(error) => return self.fail(&error),
            };
            if same && found.matching.is_none() {
                found.matching = Some(workload);
            } else {
                found.others.push(workload);
            }
        }
        Ok(found)
    }

    /// Whether a Workload was made for this very pod, and not for an earlier one of its name.
    fn is_of(&self, workload: &Workload) -> bool {
        let mut owners = workload.metadata.owner_references.iter().flatten();
        let uid = self.pods.meta().uid.as_deref().unwrap_or_default();
        !self.view.rules.jobs.finish_orphans || owners.any(|owner| owner.uid == uid)
    }

    /// Whether a Workload says what the single pod asks for.
    fn equivalent(&self, workload: &Workload) -> Result<bool, JobError> {
        let job: &dyn GenericJob = &self.pods;
        if workload.spec.maximum_execution_time_seconds != job.max_execution_seconds() {
            return Ok(false);
        }
        let own = jobs::construct::pod_sets(job, &self.view.rules.jobs.workloads)?;
        let admitted = workload.is_admitted();
        if workload.has_quota_reservation()
            && let Some(running) =
                running_pod_sets(workload, self.view.flavors, self.view.rules.jobs.marks)
        {
            return Ok(equivalence::same_pod_sets(&own, &running, admitted)
                || job.is_suspended()
                    && equivalence::same_pod_sets(&own, &workload.spec.pod_sets, admitted));
        }
        Ok(equivalence::same_pod_sets(
            &own,
            &workload.spec.pod_sets,
            admitted,
        ))
    }

    fn delete(&mut self, found: &Found) -> Flow<()> {
        let head = self.head();
        let mut deleted = 0_usize;
        for workload in &found.others {
            super::release(self.pass, workload);
            if workload.metadata.deletion_timestamp.is_none() {
                self.pass.push(Act::DeleteWorkload(workload.clone()));
                let note = format!("Deleted not matching Workload: {}", workload.key());
                self.pass.event(&head, Normal, "DeletedWorkload", note);
                deleted += 1;
            }
        }
        if deleted == 0 {
            return Ok(());
        }
        let which = if found.matching.is_none() {
            "no matching workloads"
        } else {
            "extra workloads"
        };
        let text = format!("{which}: deleted {deleted} workloads");
        self.pass.stuck(Trouble::Again(text));
        Err(())
    }

    /// Writes a Workload that still waits anew, as the pods are now.
    fn correct(&mut self, workload: &Arc<Workload>) -> Flow<Arc<Workload>> {
        let wanted = self.composed()?;
        let mut spec = wanted.spec;
        spec.active = workload.spec.active;
        let value = |spec| serde_json::to_value(spec).unwrap_or(Value::Null);
        if let Some(change) = merge::between(&value(&workload.spec), &value(&spec)) {
            let patch = json!({ "spec": change });
            self.pass.push(Act::ChangeWorkload(workload.clone(), patch));
        }
        let head = self.head();
        let note = format!(
            "Updated not matching Workload for suspended job: {}",
            workload.key()
        );
        self.pass.event(&head, Normal, "UpdatedWorkload", note);
        Ok(Arc::new(Workload {
            spec,
            ..Workload::clone(workload)
        }))
    }

    /// The Workload that these pods are to have. Pods of a group that ended are let go, and those that are too many.
    pub(super) fn composed(&mut self) -> Flow<Workload> {
        if self.pods.is_group() {
            let (_, ended) = self.pods.partition();
            let_go(self.pass, &ended);
            match self.pods.compose() {
                Ok(Composed { pods, excess }) => {
                    self.send_away(&excess);
                    self.pods = pods;
                }
                Err(error) => {
                    if matches!(error, GroupError::TooFew(_)) {
                        let head = self.head();
                        let text = error.to_string();
                        self.pass.event(&head, Warning, "ErrWorkloadCompose", text);
                    }
                    return self.fail(&error.into());
                }
            }
        }
        let rules = self.view.rules;
        let Some(priority) = self.view.priority.clone() else {
            return self.class_missing();
        };
        let made = self.pods.workload(priority, &rules.jobs.workloads);
        made.or_else(|error| self.fail(&error))
    }

    pub(super) fn class_missing<T>(&mut self) -> Flow<T> {
        let head = self.head();
        let job: &dyn GenericJob = &self.pods;
        let text = if let Some(name) = job.workload_priority_class() {
            let text = format!("WorkloadPriorityClass {name:?} not found");
            self.pass
                .event(&head, Warning, "WorkloadPriorityClassNotFound", &*text);
            text
        } else {
            "priority class not found".to_owned()
        };
        self.pass.stuck(Trouble::Again(text));
        Err(())
    }
}
