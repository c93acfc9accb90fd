//! The Workload of a group: what must hold before one is made, which pods are too many for it, and what it says. Reference section 5.4.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::Workload;

use super::members::{label, name, note, phase};
use super::{GroupError, POD, Pods, index, order};
use crate::construct::{self, Options, Priority};
use crate::error::JobError;
use crate::job::GenericJob;

/// Most roles of a group: a Workload has no more podsets.
pub const MAX_ROLES: usize = 18;

/// A group from which a Workload can be made.
#[derive(Clone, Debug)]
pub struct Composed {
    /// The pods that count for it.
    pub pods: Pods,
    /// Pods beyond the number that the group has.
    pub excess: Vec<Arc<Pod>>,
}

impl Pods {
    /// Checks that all pods of the group are there and agree, and leaves out those that are too many.
    pub fn compose(&self) -> Result<Composed, GroupError> {
        let (mut running, _) = self.partition();
        self.agree(running.len())?;
        let room = usize::try_from(self.total()?).unwrap_or_default();
        if running.len() <= room {
            return Ok(Composed {
                pods: self.clone(),
                excess: Vec::new(),
            });
        }
        order::runnable(&mut running, self.serves());
        let excess = running.split_off(room);
        let pods = Self {
            members: running,
            others: excess.clone(),
            ..self.clone()
        };
        Ok(Composed { pods, excess })
    }

    fn agree(&self, running: usize) -> Result<(), GroupError> {
        let total = self.total()?;
        if label(&self.head, labels::POD_GROUP_POD_INDEX).is_some() {
            let bound = u64::try_from(total).unwrap_or_default();
            index(&self.head, labels::POD_GROUP_POD_INDEX, bound)?;
        }
        if !self.is_fast() && usize::try_from(total).is_ok_and(|total| running < total) {
            return Err(GroupError::TooFew(
                self.group_name().unwrap_or_default().to_owned(),
            ));
        }
        let mut alive = self
            .members
            .iter()
            .filter(|pod| phase(pod) != Some("Failed"));
        alive.try_for_each(|pod| self.agrees(pod, total))
    }

    fn agrees(&self, pod: &Pod, total: i32) -> Result<(), GroupError> {
        let queue = |pod: &Pod| {
            label(pod, labels::QUEUE_NAME)
                .unwrap_or_default()
                .to_owned()
        };
        let (one, other) = (name(&self.head).to_owned(), name(pod).to_owned());
        let (ones, others) = (queue(&self.head), queue(pod));
        if ones != others {
            return Err(GroupError::Queues {
                one,
                other,
                ones,
                others,
            });
        }
        let theirs =
            note(pod, annotations::POD_GROUP_TOTAL_COUNT).and_then(|text| text.parse().ok());
        match theirs {
            None => Err(GroupError::NoTotalOf { pod: other }),
            Some(theirs) if theirs != total => Err(GroupError::Totals {
                one,
                other,
                ones: total,
                others: theirs,
            }),
            Some(_) => Ok(()),
        }
    }

    /// The Workload of these pods. Those of a group own it together.
    pub fn workload(&self, priority: Priority, options: &Options) -> Result<Workload, JobError> {
        let mut made = construct::workload(self, priority, options)?;
        if self.grouped {
            if made.spec.pod_sets.len() > MAX_ROLES {
                return Err(GroupError::TooManyRoles(MAX_ROLES).into());
            }
            let keys = &options.annotations_to_copy;
            let own = self.common(keys, |pod| pod.metadata.annotations.as_ref());
            let notes = made.metadata.annotations.get_or_insert_default();
            notes.extend(own.ok_or(GroupError::Annotations)?);
            notes.insert(annotations::IS_GROUP_WORKLOAD.to_owned(), "true".to_owned());
            let own = self.common(&options.label_keys_to_copy, |pod| {
                pod.metadata.labels.as_ref()
            });
            made.metadata.labels = Some(own.ok_or(GroupError::Labels)?);
            made.metadata.name = Some(self.group_workload_name().to_owned());
            made.metadata.owner_references = None;
            self.join_owners(&mut made);
        }
        Ok(made)
    }

    /// Values of some keys that the pods have; none if two of them disagree.
    fn common(
        &self,
        keys: &[String],
        values: fn(&Pod) -> Option<&BTreeMap<String, String>>,
    ) -> Option<BTreeMap<String, String>> {
        let mut found: BTreeMap<String, String> = BTreeMap::new();
        for pod in self.all() {
            let own = values(pod).into_iter().flatten();
            for (key, value) in own.filter(|(key, _)| keys.contains(key)) {
                if found
                    .insert(key.clone(), value.clone())
                    .is_some_and(|known| known != *value)
                {
                    return None;
                }
            }
        }
        Some(found)
    }

    /// Puts every pod of the group among the owners of a Workload. How many were not there.
    pub fn join_owners(&self, workload: &mut Workload) -> usize {
        let owners = workload.metadata.owner_references.get_or_insert_default();
        let before = owners.len();
        for pod in &self.members {
            let reference = owner(pod);
            match owners
                .iter_mut()
                .find(|own| POD.owns(own) && own.name == reference.name)
            {
                Some(known) => known.uid = reference.uid,
                None => owners.push(reference),
            }
        }
        owners.len() - before
    }

    /// Makes a single pod the controller of a Workload that somebody else made. False if it is already.
    #[must_use]
    pub fn take_over(&self, workload: &mut Workload) -> bool {
        let job: &dyn GenericJob = self;
        let own = job.owner_reference();
        let owners = workload.metadata.owner_references.get_or_insert_default();
        if owners
            .iter()
            .any(|owner| owner.controller == Some(true) && owner.uid == own.uid)
        {
            return false;
        }
        owners.retain(|owner| !(POD.owns(owner) && owner.name == own.name));
        if crate::admission::names::is_label_value(&own.uid) {
            let labels = workload.metadata.labels.get_or_insert_default();
            labels.insert(labels::JOB_UID.to_owned(), own.uid.clone());
        }
        owners.push(own);
        true
    }
}

fn owner(pod: &Pod) -> OwnerReference {
    OwnerReference {
        api_version: POD.api_version(),
        kind: POD.kind.to_owned(),
        name: name(pod).to_owned(),
        uid: pod.metadata.uid.clone().unwrap_or_default(),
        ..OwnerReference::default()
    }
}
