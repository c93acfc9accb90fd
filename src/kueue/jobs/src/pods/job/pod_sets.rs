//! Podsets of pods: one for a single pod, one a role for a group, or one for all of a group that is admitted with its
//! first pod. Only pods that count for the Workload are counted. Reference section 5.4.

use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{DEFAULT_POD_SET, labels};
use kueue_api::v1beta2::PodSet;

use super::super::members::counts;
use super::super::{GroupError, role_of};
use super::Pods;
use crate::error::JobError;
use crate::topology_request::{self, Ranks};

impl Pods {
    /// The podset of one pod.
    pub(in crate::pods) fn pod_set(&self, pod: &Pod) -> Result<PodSet, JobError> {
        let mut set = PodSet {
            name: DEFAULT_POD_SET.to_owned(),
            count: 1,
            ..PodSet::default()
        };
        set.template.spec.clone_from(&pod.spec);
        if self.switches.topology {
            let ranks = Ranks {
                pod_index_label: Some(labels::POD_GROUP_POD_INDEX),
                ..Ranks::default()
            };
            set.topology_request = topology_request::of(Some(&pod.metadata), &ranks)?;
        }
        Ok(set)
    }

    /// One podset a role, by name, of the pods that count.
    pub(in crate::pods) fn roles(&self) -> Result<Vec<PodSet>, JobError> {
        let mut sets: Vec<PodSet> = Vec::new();
        for pod in self.members.iter().filter(|pod| counts(pod)) {
            let role = role_of(pod);
            if let Some(known) = sets.iter_mut().find(|set| set.name == role) {
                known.count = known.count.saturating_add(1);
            } else {
                let name = role;
                sets.push(PodSet {
                    name,
                    ..self.pod_set(pod)?
                });
            }
        }
        sets.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(sets)
    }

    /// The podset of a group that is admitted as soon as it has one pod.
    pub(super) fn first_role(&self) -> Result<Vec<PodSet>, JobError> {
        let count = self.total()?;
        let first = self.members.iter().find(|pod| counts(pod));
        let pod = first.ok_or(GroupError::NoneRuns)?;
        let name = role_of(pod);
        Ok(vec![PodSet {
            name,
            count,
            ..self.pod_set(pod)?
        }])
    }
}
