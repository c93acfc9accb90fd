//! A single pod, or the pods of a group, as the job of one Workload. Reference section 5.4.

mod pod_sets;
mod switches;

use std::any::Any;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::Features;
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use kueue_api::{field::FieldError, v1beta2::Workload};
use serde_json::Value;

use super::members::{is_ready, phase};
use super::{
    GroupError, admission, group_name, is_fast, is_serving, is_stopped, is_terminated,
    is_unretriable, role_of, total_count,
};
use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;

pub use switches::Switches;

/// `v1` Pod. Not in the table of kinds: pods are watched anyway, and several of them can be one job.
pub const POD: JobKind = JobKind {
    framework: "pod",
    group: "",
    version: "v1",
    kind: "Pod",
    plural: "pods",
    adopts: true,
    elastic: false,
    checked_unmanaged: true,
    native_controller: "",
    read,
};

fn read(object: Value) -> Result<Box<dyn GenericJob>, JobError> {
    let kind = POD.kind;
    let pod: Pod =
        serde_json::from_value(object).map_err(|source| JobError::Read { kind, source })?;
    let job = Pods::single(Arc::new(pod), Switches::default(), Timestamp::default());
    Ok(Box::new(job))
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Pods {
    /// The pod that stands for all; in a group the first by name.
    pub(super) head: Arc<Pod>,
    /// The pods of the group that count for its Workload; empty for a single pod.
    pub(super) members: Vec<Arc<Pod>>,
    /// Pods of the group that do not count any more and may still run.
    pub(super) others: Vec<Arc<Pod>>,
    pub(super) grouped: bool,
    pub(super) switches: Switches,
    pub(super) now: Timestamp,
}

impl Pods {
    /// A pod that is a job of its own.
    #[must_use]
    pub fn single(pod: Arc<Pod>, switches: Switches, now: Timestamp) -> Self {
        Self {
            head: pod,
            members: Vec::new(),
            others: Vec::new(),
            grouped: false,
            switches,
            now,
        }
    }

    /// The pods of one group; none if there are none.
    #[must_use]
    pub fn group(pods: Vec<Arc<Pod>>, switches: Switches, now: Timestamp) -> Option<Self> {
        Some(Self {
            head: pods.first()?.clone(),
            members: pods,
            others: Vec::new(),
            grouped: true,
            switches,
            now,
        })
    }

    /// The group with another pod standing for it.
    #[must_use]
    pub fn led_by(self, head: Arc<Pod>) -> Self {
        Self { head, ..self }
    }

    /// The pod that events about the whole are about.
    #[must_use]
    pub fn head(&self) -> &Arc<Pod> {
        &self.head
    }

    /// Every pod that counts: those of the group, or the single one.
    #[must_use]
    pub fn all(&self) -> &[Arc<Pod>] {
        if self.grouped {
            &self.members
        } else {
            std::slice::from_ref(&self.head)
        }
    }

    #[must_use]
    pub fn is_group(&self) -> bool {
        self.grouped
    }

    /// Name of the group.
    #[must_use]
    pub fn group_name(&self) -> Option<&str> {
        group_name(&self.head, self.switches.annotated)
    }

    /// Whether it serves, and so never finishes.
    #[must_use]
    pub fn serves(&self) -> bool {
        self.grouped && is_serving(&self.head)
    }

    pub(super) fn is_fast(&self) -> bool {
        is_fast(&self.head)
    }

    pub(super) fn total(&self) -> Result<i32, GroupError> {
        total_count(&self.head, self.switches.annotated)
    }

    /// The Workload that the pods want to adopt.
    #[must_use]
    pub fn prebuilt(&self) -> Option<&str> {
        let job: &dyn GenericJob = self;
        job.prebuilt_workload(self.switches.annotated)
    }

    /// Whether a pod takes its resources: it runs, and was not deleted longer ago than it may take to stop.
    fn holds(&self, pod: &Pod) -> bool {
        if phase(pod) != Some("Running") {
            return false;
        }
        let Some(deleted) = &pod.metadata.deletion_timestamp else {
            return true;
        };
        if self.switches.fast_release {
            return false;
        }
        // A pod whose node is lost stays like this for ever.
        pod.metadata
            .deletion_grace_period_seconds
            .is_none_or(|grace| {
                self.now
                    <= deleted
                        .0
                        .saturating_add(SignedDuration::from_secs(grace))
                        .unwrap_or(Timestamp::MAX)
            })
    }
}

impl GenericJob for Pods {
    fn kind(&self) -> &'static JobKind {
        &POD
    }

    fn meta(&self) -> &ObjectMeta {
        &self.head.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut Arc::make_mut(&mut self.head).metadata
    }

    fn is_suspended(&self) -> bool {
        self.all().iter().any(|pod| is_stopped(pod))
    }

    fn suspend(&mut self) {
        let spec = Arc::make_mut(&mut self.head).spec.get_or_insert_default();
        super::gate(spec, kueue_api::names::gates::ADMISSION);
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        if !self.grouped {
            return Ok(vec![self.pod_set(&self.head)?]);
        }
        if self.is_fast() {
            self.first_role()
        } else {
            self.roles()
        }
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        for started in self.started(infos)? {
            let same = |pod: &Arc<Pod>| pod.metadata.name == started.metadata.name;
            if same(&self.head) {
                self.head = started.clone();
            }
            for pod in self.members.iter_mut().filter(|pod| same(pod)) {
                *pod = started.clone();
            }
        }
        Ok(())
    }

    /// Pods cannot be put back behind their gates: they are ended.
    fn stop_step(&self, _: Option<&[PodSetInfo]>) -> Option<Change> {
        None
    }

    fn finished(&self) -> Option<Finish> {
        if !self.grouped {
            let status = self.head.status.clone().unwrap_or_default();
            return is_terminated(&self.head).then(|| Finish {
                success: status.phase.as_deref() == Some("Succeeded"),
                message: status.message.unwrap_or_default(),
            });
        }
        if self.serves() {
            return None;
        }
        let total = self.total().ok()?;
        let succeeded = self
            .members
            .iter()
            .filter(|pod| phase(pod) == Some("Succeeded"))
            .count();
        let all = usize::try_from(total).is_ok_and(|total| total == succeeded);
        let given_up = || {
            self.members.iter().all(|pod| is_terminated(pod))
                && self.members.iter().any(|pod| is_unretriable(pod))
        };
        (all || given_up()).then(|| Finish {
            success: true,
            message: format!("Pods succeeded: {succeeded}/{total}."),
        })
    }

    /// A single pod is never waited for: once it is told to go, what it held is given back.
    fn is_active(&self) -> bool {
        self.members
            .iter()
            .chain(&self.others)
            .any(|pod| self.holds(pod))
    }

    fn pods_ready(&self) -> bool {
        if !self.grouped {
            return is_ready(&self.head);
        }
        let enough = self.total().is_ok_and(|total| {
            usize::try_from(total).is_ok_and(|total| self.members.len() >= total)
        });
        enough && self.members.iter().all(|pod| is_ready(pod))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        let kind = POD.kind;
        serde_json::to_value(self.head.as_ref()).map_err(|source| JobError::Write { kind, source })
    }

    fn reclaimable_pods(&self) -> Option<Vec<ReclaimablePod>> {
        let mut given: Vec<ReclaimablePod> = Vec::new();
        if !self.grouped || self.serves() {
            return Some(given);
        }
        let done = self
            .members
            .iter()
            .filter(|pod| phase(pod) == Some("Succeeded"));
        for name in done.map(|pod| role_of(pod)) {
            match given.iter_mut().find(|one| one.name == name) {
                Some(known) => known.count += 1,
                None => given.push(ReclaimablePod { name, count: 1 }),
            }
        }
        Some(given)
    }

    fn problems(&self, features: &Features) -> Vec<FieldError> {
        admission::problems(self, &features.into())
    }

    fn change_problems(&self, old: &dyn GenericJob) -> Vec<FieldError> {
        let old = old.as_any().downcast_ref::<Self>();
        old.map_or_else(Vec::new, |old| {
            admission::change_problems(&old.head, &self.head, &self.switches)
        })
    }
}

/// Whether a Workload was made for a group of pods.
#[must_use]
pub fn is_of_group(workload: &Workload) -> bool {
    let notes = workload.metadata.annotations.as_ref();
    notes
        .and_then(|notes| notes.get(kueue_api::names::annotations::IS_GROUP_WORKLOAD))
        .is_some_and(|text| text == "true")
}
