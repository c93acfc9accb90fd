//! `jobset.x-k8s.io/v1alpha2` `JobSet`: several Jobs of several templates that run together. One podset a replicated job.
//! Reference section 5.2.

#[cfg(test)]
mod tests;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use serde_json::{Value, json};

use crate::admission::topology::{self, Template};
use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::topology_request::{self, Ranks};
use crate::untyped::Untyped;

/// `jobset.x-k8s.io/v1alpha2` `JobSet`.
pub const JOB_SET: JobKind = JobKind {
    framework: "jobset.x-k8s.io/jobset",
    group: "jobset.x-k8s.io",
    version: "v1alpha2",
    kind: "JobSet",
    plural: "jobsets",
    adopts: true,
    elastic: false,
    checked_unmanaged: true,
    native_controller: "jobset.sigs.k8s.io/jobset-controller",
    read: JobSet::read,
};

const SUSPEND: &[&str] = &["spec", "suspend"];

/// A `JobSet`.
#[derive(Clone, Debug)]
pub struct JobSet(Untyped);

/// One replicated job of it.
struct Part<'a> {
    index: usize,
    name: &'a str,
    replicas: i32,
    pods_per_replica: i32,
}

impl JobSet {
    /// Reads an object.
    pub fn read(value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        Ok(Box::new(Self::of(value)?))
    }

    /// The same, of which more is known.
    pub(crate) fn of(value: Value) -> Result<Self, JobError> {
        Ok(Self(Untyped::read(JOB_SET.kind, value)?))
    }

    /// Its podsets without what their annotations ask for.
    pub(crate) fn bare_pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        let parts = self.parts();
        parts.iter().map(|part| self.bare_pod_set(part)).collect()
    }

    fn parts(&self) -> Vec<Part<'_>> {
        let parts = self.0.get("/spec/replicatedJobs").and_then(Value::as_array);
        let part = |(index, part): (usize, &'_ Value)| {
            let number = |value: &Value| value.as_i64().and_then(|n| i32::try_from(n).ok());
            let job = &part["template"]["spec"];
            let parallelism = number(&job["parallelism"]).unwrap_or(1);
            let completions = number(&job["completions"]).unwrap_or(parallelism);
            (
                index,
                number(&part["replicas"]).unwrap_or(1),
                parallelism.min(completions),
            )
        };
        parts
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(index, value)| {
                let (index, replicas, pods_per_replica) = part((index, value));
                Part {
                    index,
                    name: value["name"].as_str().unwrap_or_default(),
                    replicas,
                    pods_per_replica,
                }
            })
            .collect()
    }

    fn template(part: &Part<'_>) -> String {
        format!("/spec/replicatedJobs/{}/template/spec/template", part.index)
    }

    fn pod_set(&self, part: &Part<'_>) -> Result<PodSet, JobError> {
        let set = self.bare_pod_set(part)?;
        let ranks = Ranks {
            pod_index_label: Some("batch.kubernetes.io/job-completion-index"),
            sub_groups: Some(("jobset.sigs.k8s.io/job-index", part.replicas)),
        };
        let topology_request = topology_request::of(set.template.metadata.as_ref(), &ranks)?;
        Ok(PodSet {
            topology_request,
            ..set
        })
    }

    /// A podset without what its annotations ask for.
    fn bare_pod_set(&self, part: &Part<'_>) -> Result<PodSet, JobError> {
        Ok(PodSet {
            name: part.name.to_lowercase(),
            template: self.0.template(&Self::template(part))?,
            count: part.replicas.saturating_mul(part.pods_per_replica),
            min_count: None,
            topology_request: None,
        })
    }

    /// The states of the replicated jobs, by name.
    fn states(&self) -> impl Iterator<Item = (&str, &Value)> {
        let states = self
            .0
            .get("/status/replicatedJobsStatus")
            .and_then(Value::as_array);
        let all = states.into_iter().flatten();
        all.map(|state| (state["name"].as_str().unwrap_or_default(), state))
    }

    fn stopped(&self, infos: Option<&[PodSetInfo]>) -> Self {
        let mut stopped = self.clone();
        stopped.suspend();
        let parts = self.parts();
        let infos = infos.filter(|infos| infos.len() == parts.len());
        for (part, info) in parts.iter().zip(infos.into_iter().flatten()) {
            // A template that cannot be read cannot have been changed by us.
            let _ = stopped
                .0
                .change_template(&Self::template(part), |template| {
                    info.restore_into(template, &[]);
                    Ok::<_, JobError>(())
                });
        }
        stopped
    }
}

fn count(state: &Value, field: &str) -> i64 {
    state[field].as_i64().unwrap_or_default()
}

impl GenericJob for JobSet {
    fn kind(&self) -> &'static JobKind {
        &JOB_SET
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.meta
    }

    fn is_suspended(&self) -> bool {
        self.0.is_on(SUSPEND)
    }

    fn suspend(&mut self) {
        self.0.set(SUSPEND, json!(true));
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        self.parts().iter().map(|part| self.pod_set(part)).collect()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let templates: Vec<_> = self.parts().iter().map(Self::template).collect();
        if infos.len() != templates.len() {
            return Err(JobError::Infos {
                want: templates.len(),
                got: infos.len(),
            }
            .into());
        }
        for (template, info) in templates.iter().zip(infos) {
            self.0.change_template(template, |template| {
                info.merge_into(template).map_err(StartError::from)
            })?;
        }
        self.0.set(SUSPEND, json!(false));
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        let patch = self.0.patch_to(&self.stopped(infos).0)?;
        Some(Change::Object(patch))
    }

    fn finished(&self) -> Option<Finish> {
        let (how, message) = self.0.true_condition(&["Completed", "Failed"])?;
        Some(Finish {
            success: how == "Completed",
            message: message.to_owned(),
        })
    }

    fn is_active(&self) -> bool {
        self.states().any(|(_, state)| count(state, "active") > 0)
    }

    fn pods_ready(&self) -> bool {
        let wanted: i64 = self
            .parts()
            .iter()
            .map(|part| i64::from(part.replicas))
            .sum();
        let there: i64 = self
            .states()
            .map(|(_, state)| count(state, "ready") + count(state, "succeeded"))
            .sum();
        wanted == there
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.0.to_value()
    }

    fn managed_by(&self) -> Option<&str> {
        self.0.text("/spec/managedBy")
    }

    fn set_managed_by(&mut self, controller: &str) {
        self.0.set(&["spec", "managedBy"], json!(controller));
    }

    /// What succeeded Jobs held.
    fn reclaimable_pods(&self) -> Option<Vec<ReclaimablePod>> {
        let of_part = |part: &Part<'_>| {
            let (_, state) = self.states().find(|(name, _)| *name == part.name)?;
            let done = i32::try_from(count(state, "succeeded")).ok()?;
            (done > 0 && done <= part.replicas).then(|| ReclaimablePod {
                name: part.name.to_lowercase(),
                count: done.saturating_mul(part.pods_per_replica),
            })
        };
        Some(self.parts().iter().filter_map(of_part).collect())
    }

    fn priority_class(&self) -> Option<&str> {
        self.parts().iter().find_map(|part| {
            let class = format!("{}/spec/priorityClassName", Self::template(part));
            self.0.text(&class)
        })
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        if !features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
            return Vec::new();
        }
        let list = Path::new("spec").child("replicatedJobs");
        let template = |part: &Part<'_>| {
            let job = list.index(part.index).child("template").child("spec");
            Some(Template {
                path: job.child("template").child("metadata"),
                pod_set: self.bare_pod_set(part).ok()?,
            })
        };
        let templates: Vec<_> = self.parts().iter().filter_map(template).collect();
        topology::problems(&templates, features.on(gate::TAS_MULTI_LAYER_TOPOLOGY))
    }
}
