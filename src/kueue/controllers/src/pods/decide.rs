//! One pass over a single pod or a group, from values: what to do about its Workload and its pods, in the order of the reference. Reference sections
//! 5.1 ("Reconcile order") and 5.4.

mod ensure;
mod follow;
mod leave;
mod run;

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::Draft;
use jiff::Timestamp;
use jobs::pods::{Pods, has_finalizer, is_managed, parent_framework};
use jobs::{GenericJob, Priority};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::{ResourceFlavorSpec, Workload};

use super::act::{Act, Pass};
use crate::events::Kind;

/// Choices of the operator.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Those that hold for all jobs.
    pub jobs: crate::job::decide::Rules,
    pub manage_without_queue_name: bool,
    /// Only pods of Deployments and the like are looked after: `pod` itself is not among the frameworks.
    pub only_of_parents: bool,
    pub switches: jobs::pods::Switches,
    /// A Workload that dies with its pod is not put back into its queue.
    pub pods_die_alone: bool,
}

/// Everything a pass rests on.
#[derive(Clone, Debug)]
pub struct View<'a> {
    pub rules: &'a Rules,
    /// The pods; none when there are none any more.
    pub pods: Option<Pods>,
    /// Workloads that are theirs by owner or by name.
    pub workloads: Vec<Arc<Workload>>,
    /// The Workload they want to adopt.
    pub prebuilt: Option<Arc<Workload>>,
    /// Whether pods of the namespace are managed; none if it is not known.
    pub namespace_managed: Option<bool>,
    /// Priority that the pods ask for; none while its class does not exist.
    pub priority: Option<Priority>,
    pub flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    /// Names of checks that let the Workload run in another cluster.
    pub remote_checks: Vec<String>,
    /// Whether everything that was told to go was seen to.
    pub settled: bool,
    pub now: Timestamp,
}

/// Decides.
#[must_use]
pub fn pass(view: &View<'_>) -> Pass {
    let mut pass = Pass::default();
    let Some(pods) = &view.pods else {
        orphaned(view, &mut pass);
        return pass;
    };
    let head = pods.head();
    let parentless = parent_framework(head).is_none_or(str::is_empty);
    if !is_managed(head) || view.rules.only_of_parents && parentless {
        return pass;
    }
    if !pods.is_group() && head.metadata.deletion_timestamp.is_some() {
        orphaned(view, &mut pass);
        let_go(&mut pass, std::slice::from_ref(head));
        return pass;
    }
    let job: &dyn GenericJob = pods;
    let wanted = job.queue_name().is_some() || view.rules.manage_without_queue_name;
    if view.namespace_managed == Some(true) && wanted {
        Round {
            view,
            pods: pods.clone(),
            everyone: pods.all().to_vec(),
            absent: 0,
            pass: &mut pass,
        }
        .go();
    }
    pass
}

/// The pods are gone, or going: their Workloads may go.
fn orphaned(view: &View<'_>, pass: &mut Pass) {
    for workload in &view.workloads {
        let owned = workload.metadata.owner_references.iter().flatten();
        let controlled = owned.clone().any(|owner| owner.controller == Some(true));
        let foreign = view.rules.switches.checks_owner
            && view.pods.as_ref().is_none_or(Pods::is_group)
            && !jobs::pods::is_of_group(workload)
            && controlled
            && super::key::single_owner(workload).is_none();
        if foreign {
            continue;
        }
        let over = workload.is_finished() || workload.metadata.deletion_timestamp.is_some();
        if view.rules.jobs.finish_orphans && controlled && !over {
            let text = "The workload's owner no longer exists";
            finish(pass, workload, reasons::OWNER_NOT_FOUND, text, view.now);
        }
        release(pass, workload);
    }
}

fn release(pass: &mut Pass, workload: &Arc<Workload>) {
    let mut finalizers = workload.metadata.finalizers.iter().flatten();
    if finalizers.any(|name| name == kueue_api::names::RESOURCE_IN_USE_FINALIZER) {
        pass.push(Act::Release(workload.clone()));
    }
}

fn finish(pass: &mut Pass, workload: &Arc<Workload>, reason: &str, message: &str, now: Timestamp) {
    let status = Draft::of(workload, now).finished(reason, message).done();
    pass.push(Act::WriteStatus(workload.clone(), Box::new(status)));
}

fn let_go(pass: &mut Pass, pods: &[Arc<Pod>]) {
    for pod in pods.iter().filter(|pod| has_finalizer(pod)) {
        pass.push(Act::LetGo(pod.clone()));
    }
}

/// Why pods are stopped, as it is noted on them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    NoMatchingWorkload,
    WorkloadDeleted,
    NotAdmitted,
    Evicted(String),
}

impl Stop {
    fn reason(&self) -> String {
        match self {
            Self::NoMatchingWorkload => "NoMatchingWorkload".to_owned(),
            Self::WorkloadDeleted => "WorkloadDeleted".to_owned(),
            Self::NotAdmitted => "NotAdmitted".to_owned(),
            Self::Evicted(reason) => format!("WorkloadEvictedDueTo{reason}"),
        }
    }
}

/// A pass under way.
struct Round<'a, 'b> {
    view: &'a View<'a>,
    /// The pods that count.
    pods: Pods,
    /// All pods there are.
    everyone: Vec<Arc<Pod>>,
    /// How many pods the Workload misses.
    absent: i32,
    pass: &'b mut Pass,
}

/// A pass that has come to its end early.
type Flow<T> = Result<T, ()>;

impl Round<'_, '_> {
    fn go(mut self) {
        // Everything there was to do is in the acts; the end of a pass has nothing to say.
        let _ = self.steps();
    }

    fn steps(&mut self) -> Flow<()> {
        let workload = self.ensure()?;
        if let Some(workload) = &workload {
            self.replacement(workload)?;
            self.over(workload)?;
        }
        self.finished(workload.as_ref())?;
        let Some(workload) = workload else {
            return self.create();
        };
        self.progress(&workload)?;
        self.evicted(&workload)?;
        self.run(&workload)
    }

    fn head(&self) -> Arc<Pod> {
        self.pods.head().clone()
    }

    /// Stops every pod that runs; with its Workload deleted, also those that do not.
    fn stop(&mut self, why: &Stop, message: &str) {
        let deleted = *why == Stop::WorkloadDeleted;
        for pod in self.pods.all().to_vec() {
            let going = pod.metadata.deletion_timestamp.is_some();
            if going || !deleted && jobs::pods::is_stopped(&pod) {
                continue;
            }
            let (reason, text) = (why.reason(), message.to_owned());
            self.pass.push(Act::Terminate {
                pod: pod.clone(),
                reason,
                message: text,
            });
            self.pass.event(&pod, Kind::Normal, "Stopped", message);
        }
        // Nobody else would: without a Workload the group is not looked at again.
        if deleted && self.pods.is_group() {
            let_go(self.pass, &self.everyone);
        }
    }
}
