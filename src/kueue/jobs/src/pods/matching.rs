//! Which Workload is that of a group, and which of the group's pods count for it: the newest beyond its counts are too many, and of those that
//! ended the ones that were replaced may go. Takes the pods and the Workload named like the group. Reference section 5.4.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::{PodSet, Workload};

use super::job::{Pods, is_of_group};
use super::members::counts;
use super::{group_name, is_terminated, order, role_of};
use crate::error::JobError;
use crate::job::GenericJob;

/// The pods of a group as its Workload sees them.
#[derive(Clone, Debug)]
pub struct SortedOut {
    /// The group with only the pods that count.
    pub kept: Pods,
    /// Pods that run or would run, and have no place.
    pub excess: Vec<Arc<Pod>>,
    /// Pods that ended and that nobody asks about any more.
    pub replaced: Vec<Arc<Pod>>,
    /// How many pods are missing.
    pub absent: i32,
}

/// What a Workload named like a group is to it.
#[derive(Clone, Debug)]
pub enum Match {
    /// It was made for something else.
    Foreign,
    /// It is the group's, and does not say what the group asks for.
    Different,
    /// It is the group's.
    Ours(Box<SortedOut>),
}

impl Pods {
    /// The pods of a group that can run or have done their work, and the others.
    #[must_use]
    pub fn partition(&self) -> (Vec<Arc<Pod>>, Vec<Arc<Pod>>) {
        let counting = |pod: &&Arc<Pod>| counts(pod) && !self.has_left(pod);
        let (running, ended): (Vec<_>, Vec<_>) = self.members.iter().partition(counting);
        let own = |pods: Vec<&Arc<Pod>>| pods.into_iter().cloned().collect();
        (own(running), own(ended))
    }

    /// A pod of a serving group that was deleted and has stopped: nobody counts successes there, and whoever owns the pod may be waiting for its name
    /// to be free.
    fn has_left(&self, pod: &Pod) -> bool {
        self.serves() && pod.metadata.deletion_timestamp.is_some() && is_terminated(pod)
    }

    /// What the Workload named like this group is to it.
    pub fn look_at(&self, workload: &Workload) -> Result<Match, JobError> {
        if self.switches.checks_owner && !is_of_group(workload) {
            return Ok(Match::Foreign);
        }
        let whole: &dyn GenericJob = self;
        let limit = |seconds: Option<i32>| seconds.unwrap_or(-1);
        if limit(workload.spec.maximum_execution_time_seconds)
            != limit(whole.max_execution_seconds())
        {
            return Ok(Match::Different);
        }
        let sorted = self.sort_out(workload);
        let sets = sorted.kept.roles()?;
        if sorted.kept.members.is_empty() || !self.fits(workload, &sets) {
            return Ok(Match::Different);
        }
        Ok(Match::Ours(Box::new(sorted)))
    }

    fn sort_out(&self, workload: &Workload) -> SortedOut {
        let (running, ended) = self.partition();
        let mut kept = Vec::new();
        let (mut excess, mut replaced, mut absent) = (Vec::new(), Vec::new(), 0_i32);
        for set in &workload.spec.pod_sets {
            let of_role = |pods: &[Arc<Pod>]| -> Vec<Arc<Pod>> {
                let own = pods.iter().filter(|pod| role_of(pod) == set.name);
                own.cloned().collect()
            };
            let (mut running, mut ended) = (of_role(&running), of_role(&ended));
            let room = usize::try_from(set.count).unwrap_or_default();
            absent = absent.saturating_add(self.missing(set, running.len()));
            let spare = (running.len() + ended.len())
                .saturating_sub(room)
                .min(ended.len());
            if running.len() > room {
                order::runnable(&mut running, self.serves());
                excess.extend(running.drain(room..));
            }
            order::ended(&mut ended, self.now);
            let (left, mut ended): (Vec<_>, Vec<_>) =
                ended.into_iter().partition(|pod| self.has_left(pod));
            let spare = spare.saturating_sub(left.len()).min(ended.len());
            replaced.extend(ended.drain(ended.len() - spare..));
            replaced.extend(left);
            kept.extend(running);
            kept.extend(ended);
        }
        let mut pods = self.clone();
        pods.others = excess.iter().chain(&replaced).cloned().collect();
        pods.members = kept;
        SortedOut {
            kept: pods,
            excess,
            replaced,
            absent,
        }
    }

    fn missing(&self, set: &PodSet, running: usize) -> i32 {
        if self.is_fast() {
            return i32::from(set.count > 0 && running == 0);
        }
        let running = i32::try_from(running).unwrap_or(i32::MAX);
        set.count.saturating_sub(running).max(0)
    }

    /// Name of the Workload of a group.
    #[must_use]
    pub fn group_workload_name(&self) -> &str {
        self.prebuilt()
            .or_else(|| group_name(&self.head, self.switches.annotated))
            .unwrap_or_default()
    }

    /// Whether a Workload has room for these roles, both in the order of their names.
    fn fits(&self, workload: &Workload, sets: &[PodSet]) -> bool {
        let finished = workload.is_finished();
        let theirs = &workload.spec.pod_sets;
        if workload.name() != self.group_workload_name() || !finished && theirs.len() < sets.len() {
            return false;
        }
        let mut rest = theirs.iter();
        sets.iter().all(|set| {
            let found = rest.find(|theirs| theirs.name == set.name);
            found.is_some_and(|theirs| finished || theirs.count >= set.count)
        })
    }

    /// Whether a Workload that somebody else made says what this group asks for.
    pub fn fits_prebuilt(&self, workload: &Workload) -> Result<bool, JobError> {
        Ok(self.fits(workload, &self.pod_sets()?))
    }
}
