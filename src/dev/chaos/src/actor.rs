//! Plays the Job controller: a Job that may run has pods at once, runs for a while and is complete; one that is suspended takes a moment to
//! lose its pods, so that there is something between the two writes of an eviction.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use k8s_openapi::api::batch::v1::Job;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::load::{RUN, STOP};
use crate::seen::Seen;
use trials::clock::stamp;
use trials::endings::complete;

pub(crate) struct Actor {
    jobs: Api<Job>,
    /// For how many readings a Job has been in its present state.
    ages: BTreeMap<String, u32>,
    /// Whether Jobs become complete at present.
    finishing: Arc<AtomicBool>,
}

impl Actor {
    pub(crate) fn new(client: &Client, finishing: Arc<AtomicBool>) -> Self {
        Self {
            jobs: Api::namespaced(client.clone(), "default"),
            ages: BTreeMap::new(),
            finishing,
        }
    }

    /// Does for each Job what is due. What fails is due again at the next reading.
    pub(crate) async fn act(&mut self, seen: &Seen) {
        for job in seen.jobs.iter().filter(|job| !is_complete(job)) {
            let name = job.metadata.name.clone().unwrap_or_default();
            if let Some(status) = self.due(&name, job) {
                let patch = Patch::Merge(json!({"status": status}));
                let _ = self
                    .jobs
                    .patch_status(&name, &PatchParams::default(), &patch)
                    .await;
            }
        }
    }

    /// The status that a Job has to have now, if another one.
    fn due(&mut self, name: &str, job: &Job) -> Option<Value> {
        let active = job
            .status
            .as_ref()
            .and_then(|status| status.active)
            .unwrap_or(0);
        let pods = job
            .spec
            .as_ref()
            .and_then(|spec| spec.parallelism)
            .unwrap_or(1);
        let suspended = is_suspended(job);
        if (active > 0) == suspended {
            let age = self.ages.entry(name.to_owned()).or_default();
            *age += 1;
            if suspended && *age < number(job, STOP) {
                return None;
            }
            *age = 0;
            return Some(if suspended { gone() } else { running(pods) });
        }
        if suspended {
            self.ages.remove(name);
            return None;
        }
        if !self.finishing.load(Ordering::Relaxed) {
            return None;
        }
        let age = self.ages.entry(name.to_owned()).or_default();
        *age += 1;
        (*age >= number(job, RUN)).then(|| complete(pods))
    }
}

/// A number that a Job is annotated with.
fn number(job: &Job, key: &str) -> u32 {
    let all = job.metadata.annotations.as_ref();
    let value = all.and_then(|all| all.get(key));
    value.and_then(|value| value.parse().ok()).unwrap_or(1)
}

pub(crate) fn is_suspended(job: &Job) -> bool {
    job.spec
        .as_ref()
        .is_some_and(|spec| spec.suspend == Some(true))
}

pub(crate) fn is_complete(job: &Job) -> bool {
    let conditions = job
        .status
        .iter()
        .flat_map(|status| status.conditions.iter().flatten());
    conditions
        .into_iter()
        .any(|condition| condition.type_ == "Complete" && condition.status == "True")
}

fn running(pods: i32) -> Value {
    json!({"active": pods, "ready": pods, "startTime": stamp()})
}

fn gone() -> Value {
    json!({"active": 0, "ready": 0, "startTime": null})
}
