//! What happens to jobs, done as the controllers do it: a job that has to leave is evicted, stopped, and gives its quota back.

use cache::{Draft, Event, Eviction, WorkloadKey, WorkloadPatch};
use jiff::SignedDuration;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::{self as api, StopPolicy, WorkloadStatus};

use super::{Refused, World, expected};
use crate::script::Change;

/// A job, as its Workload.
#[derive(Clone, Debug)]
pub struct Job {
    /// The object as the API server would have it.
    pub object: api::Workload,
    /// How long it runs once it was admitted.
    pub runs: Option<SignedDuration>,
}

/// Something that a reader wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// About which job.
    pub job: WorkloadKey,
    /// The event that was sent.
    pub event: Event,
}

impl World {
    /// A job arrives.
    ///
    /// # Errors
    /// When there is one of that name already.
    pub fn submit(
        &mut self,
        mut object: api::Workload,
        runs: Option<SignedDuration>,
    ) -> Result<(), Refused> {
        let namespace = object
            .metadata
            .namespace
            .get_or_insert("default".to_owned())
            .clone();
        let key = WorkloadKey::new(namespace.as_str(), object.name());
        if self.names.contains_key(object.name()) {
            return Err(format!(
                "expected a name that no job has, found `{}`",
                key.name
            ));
        }
        self.know_namespace(&namespace);
        let number = self.version + 1;
        let metadata = &mut object.metadata;
        metadata
            .uid
            .get_or_insert_with(|| format!("{number:06}-{}", key.name));
        metadata.generation.get_or_insert(1);
        metadata
            .creation_timestamp
            .get_or_insert(kueue_api::Time(self.now));
        self.names.insert(key.name.to_string(), key.clone());
        self.jobs.insert(key.clone(), Job { object, runs });
        self.tell(&key);
        Ok(())
    }

    /// The job of a name, `namespace/name` or a name alone.
    pub(crate) fn find(&self, name: &str) -> Result<WorkloadKey, Refused> {
        let short = name.rsplit('/').next().unwrap_or(name);
        let found = self.names.get(short);
        let found = found.filter(|key| short == name || key.to_string() == name);
        found
            .cloned()
            .ok_or_else(|| expected("a job", name, self.names.keys()))
    }

    /// Something happens to a job.
    ///
    /// # Errors
    /// When there is none of that name, or it is over.
    pub fn change(&mut self, name: &str, change: Change) -> Result<Vec<Happening>, Refused> {
        let key = self.find(name)?;
        let Some(job) = self.jobs.get_mut(&key) else {
            return Ok(Vec::new());
        };
        if job.object.is_finished() {
            return Err(format!("expected a job that is not over, found `{name}`"));
        }
        let generation = job.object.metadata.generation.get_or_insert(1);
        match change {
            Change::Finish => return Ok(self.finish(&key)),
            Change::Priority(priority) => job.object.spec.priority = Some(priority),
            Change::Deactivate => {
                *generation += 1;
                job.object.spec.active = Some(false);
                if job.object.has_quota_reservation() {
                    let eviction = Eviction::deactivation(&job.object);
                    return Ok(self.evict(&key, &eviction));
                }
            }
            Change::Activate => {
                *generation += 1;
                job.object.spec.active = Some(true);
                if job.object.is_evicted() {
                    let text = "The workload was reactivated";
                    self.edit(&key, |draft| draft.requeued(reasons::REACTIVATED, text));
                }
            }
        }
        self.tell(&key);
        Ok(Vec::new())
    }

    pub(super) fn delete_job(&mut self, name: &str) -> Result<(), Refused> {
        let key = self.find(name)?;
        self.jobs.remove(&key);
        self.names.remove(&*key.name);
        let _ = self.cache.delete_workload(&key);
        Ok(())
    }

    fn finish(&mut self, key: &WorkloadKey) -> Vec<Happening> {
        let text = "Job finished successfully";
        self.edit(key, |draft| draft.finished(reasons::SUCCEEDED, text));
        vec![told(key, "Finished", text)]
    }

    /// Jobs whose time is over.
    pub(super) fn finish_due(&mut self) -> Vec<Happening> {
        let now = self.now;
        let over = |job: &Job| {
            let admitted = find(job.object.conditions(), types::ADMITTED)
                .filter(|found| found.status == "True" && !job.object.is_finished());
            let since = admitted.map(|found| now.duration_since(found.last_transition_time.0));
            job.runs
                .zip(since)
                .is_some_and(|(runs, since)| since >= runs)
        };
        let due = self.jobs.iter().filter(|(_, job)| over(job));
        let due: Vec<_> = due.map(|(key, _)| key.clone()).collect();
        due.iter().flat_map(|key| self.finish(key)).collect()
    }

    /// A job has to leave: it is told so, stops, and gives its quota back.
    pub(super) fn evict(&mut self, key: &WorkloadKey, eviction: &Eviction) -> Vec<Happening> {
        self.edit(key, |draft| draft.evicted(eviction));
        self.release(key);
        vec![told(key, &eviction.event(), &eviction.message)]
    }

    /// The job of an evicted workload has stopped.
    pub(super) fn release(&mut self, key: &WorkloadKey) {
        self.edit(key, Draft::released);
    }

    /// Everything admitted in a queue has to leave.
    pub(super) fn drain(&mut self, queue: &str) -> Vec<Happening> {
        let eviction = Eviction::new(
            reasons::CLUSTER_QUEUE_STOPPED,
            "The ClusterQueue is stopped",
        );
        let held = self.jobs.iter().filter(|(_, job)| {
            job.object.has_quota_reservation()
                && !job.object.is_finished()
                && admitted_by(&job.object) == Some(queue)
        });
        let held: Vec<_> = held.map(|(key, _)| key.clone()).collect();
        held.iter()
            .flat_map(|key| self.evict(key, &eviction))
            .collect()
    }

    /// Those that left because the queue was stopped may come back.
    pub(super) fn restart(&mut self, queue: &str) -> Vec<Happening> {
        let waits = |job: &Job| {
            find(job.object.conditions(), types::REQUEUED).is_some_and(|found| {
                found.status == "False" && found.reason == reasons::CLUSTER_QUEUE_STOPPED
            })
        };
        let through = |job: &Job| {
            let leads = self.locals.iter().find(|(key, _)| {
                key.namespace.as_str() == job.object.namespace()
                    && &*key.name == job.object.spec.queue_name()
            });
            leads.is_some_and(|(_, local)| local.spec.cluster_queue() == queue)
        };
        let stopped = self
            .jobs
            .iter()
            .filter(|(_, job)| waits(job) && through(job));
        let stopped: Vec<_> = stopped.map(|(key, _)| key.clone()).collect();
        for key in &stopped {
            let text = "The ClusterQueue was restarted after being stopped";
            self.edit(key, |draft| {
                draft.requeued(reasons::CLUSTER_QUEUE_RESTARTED, text)
            });
        }
        Vec::new()
    }

    /// Writes a new status.
    fn edit(&mut self, key: &WorkloadKey, edit: impl FnOnce(Draft) -> Draft) {
        let now = self.now;
        if let Some(job) = self.jobs.get_mut(key) {
            job.object.status = Some(edit(Draft::of(&job.object, now)).done());
            self.tell(key);
        }
    }

    /// Writes what a cycle decided about a job.
    pub(super) fn write(&mut self, patch: WorkloadPatch) -> Vec<Happening> {
        let Some(job) = self.jobs.get_mut(&patch.key) else {
            return Vec::new();
        };
        // Another field manager owns the pods given back.
        let kept = job.object.status.take().unwrap_or_default();
        job.object.status = Some(WorkloadStatus {
            reclaimable_pods: kept.reclaimable_pods,
            ..patch.status
        });
        self.tell(&patch.key);
        self.cache.written(&patch.key, &self.version.to_string());
        let job = &patch.key;
        let happening = |event| Happening {
            job: job.clone(),
            event,
        };
        patch.events.into_iter().map(happening).collect()
    }

    /// Gives the object a new version and shows it to the cache.
    pub(super) fn tell(&mut self, key: &WorkloadKey) {
        self.version += 1;
        if let Some(job) = self.jobs.get_mut(key) {
            job.object.metadata.resource_version = Some(self.version.to_string());
            let _ = self.cache.apply_workload(&job.object, self.now);
        }
    }

    /// Jobs as another world has them.
    pub(super) fn retell_jobs(&mut self, other: &Self) {
        self.version = other.version;
        for (key, job) in &other.jobs {
            self.names.insert(key.name.to_string(), key.clone());
            self.jobs.insert(key.clone(), job.clone());
            self.tell(key);
        }
    }

    /// Whether a ClusterQueue lets its jobs run at present.
    #[must_use]
    pub fn is_stopped(&self, queue: &str) -> bool {
        self.queues
            .get(queue)
            .is_some_and(|queue| queue.spec.stop_policy() != StopPolicy::None)
    }
}

/// The ClusterQueue whose quota a workload holds.
pub(crate) fn admitted_by(object: &api::Workload) -> Option<&str> {
    let admission = object.status.as_ref()?.admission.as_ref()?;
    Some(&admission.cluster_queue)
}

fn told(key: &WorkloadKey, reason: &str, note: &str) -> Happening {
    let event = Event {
        kind: cache::EventKind::Normal,
        reason: reason.to_owned(),
        note: note.to_owned(),
    };
    Happening {
        job: key.clone(),
        event,
    }
}
