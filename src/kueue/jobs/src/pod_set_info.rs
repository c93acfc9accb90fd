//! What an admission puts into a pod template when a job starts, and how the template gets its own values back when
//! the job is stopped.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PodSchedulingGate, PodSpec, PodTemplateSpec, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::names::{annotations, gates, labels};
use kueue_api::v1beta2::{PodSet, PodSetAssignment, PodSetUpdate, ResourceFlavorSpec, Workload};
use kueue_api::workload::slices;

use crate::error::{InfoError, InjectError, UnknownFlavor};

/// By what the pods of a podset can be recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Marks {
    /// By their Workload, and by waiting for their place (gate `TopologyAwareScheduling`).
    pub topology: bool,
    /// By the slices of their Workload (gate `ElasticJobsViaWorkloadSlices`).
    pub slices: bool,
    /// By their queues (gate `AssignQueueLabelsForPods`).
    pub queues: bool,
}

/// Values of one podset's template that admission may touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PodSetInfo {
    pub name: String,
    pub count: i32,
    pub labels: BTreeMap<String, String>,
    pub annotations: BTreeMap<String, String>,
    pub node_selector: BTreeMap<String, String>,
    pub tolerations: Vec<Toleration>,
    pub scheduling_gates: Vec<PodSchedulingGate>,
    /// Another name of a slice, or of its Workload, is a conflict and not replaced: the gate `ElasticJobsViaWorkloadSlices` is off.
    pub keeps_slice: bool,
}

impl PodSetInfo {
    /// What the template itself says, for the way back.
    #[must_use]
    pub fn of_pod_set(set: &PodSet) -> Self {
        let meta = set.template.metadata.clone().unwrap_or_default();
        let spec = set.template.spec.clone().unwrap_or_default();
        Self {
            name: set.name.clone(),
            count: set.count,
            labels: meta.labels.unwrap_or_default(),
            annotations: meta.annotations.unwrap_or_default(),
            node_selector: spec.node_selector.unwrap_or_default(),
            tolerations: spec.tolerations.unwrap_or_default(),
            scheduling_gates: spec.scheduling_gates.unwrap_or_default(),
            keeps_slice: false,
        }
    }

    /// What one assignment adds to a podset: labels of its flavors' nodes, their tolerations, and, for pods that get their places later,
    /// the gate that holds them back until then.
    pub fn of_flavors(
        assignment: &PodSetAssignment,
        set: &PodSet,
        flavors: &BTreeMap<String, ResourceFlavorSpec>,
        by_topology: bool,
    ) -> Result<Self, UnknownFlavor> {
        let mut info = Self {
            name: assignment.name.clone(),
            count: assignment.count.unwrap_or(set.count),
            ..Self::default()
        };
        if by_topology && assignment.topology_assignment.is_some() {
            if !names_a_topology(set) {
                let key = annotations::POD_SET_UNCONSTRAINED_TOPOLOGY.to_owned();
                info.annotations.insert(key, "true".to_owned());
            }
            info.scheduling_gates.push(PodSchedulingGate {
                name: gates::TOPOLOGY.to_owned(),
            });
        }
        let mut seen = Vec::new();
        for name in assignment.flavors.values() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let flavor = flavors
                .get(name)
                .ok_or_else(|| UnknownFlavor(name.clone()))?;
            info.node_selector.extend(flavor.node_labels.clone());
            info.tolerations.extend(flavor.tolerations.iter().cloned());
        }
        Ok(info)
    }

    /// What one assignment of a Workload adds: [`Self::of_flavors`], the labels by which its pods are recognised, and what its checks say.
    pub fn of_assignment(
        workload: &Workload,
        assignment: &PodSetAssignment,
        flavors: &BTreeMap<String, ResourceFlavorSpec>,
        marks: Marks,
    ) -> Result<Self, InfoError> {
        let none = PodSet::default();
        let set = workload.spec.pod_set(&assignment.name).unwrap_or(&none);
        // There is a place only where places are chosen, and then its pods wait for it.
        let mut info = Self::of_flavors(assignment, set, flavors, marks.topology)?;
        if marks.topology {
            let name = workload.name().to_owned();
            info.annotations
                .insert(annotations::WORKLOAD.to_owned(), name);
        }
        if marks.slices && slices::is_marked(&workload.metadata) {
            let chain = slices::chain_of(workload).to_owned();
            info.annotations
                .insert(annotations::WORKLOAD_SLICE_NAME.to_owned(), chain);
        }
        info.set_label(labels::POD_SET, &assignment.name);
        let own = workload.metadata.labels.as_ref();
        if own.is_some_and(|own| own.contains_key(labels::MULTIKUEUE_ORIGIN)) {
            info.set_label(labels::MULTIKUEUE_WORKER_WORKLOAD_POD, "true");
        }
        if marks.queues {
            info.set_queues(workload);
        }
        let status = workload.status.as_ref();
        for check in status.iter().flat_map(|status| &status.admission_checks) {
            let mut updates = check.pod_set_updates.iter();
            if let Some(update) = updates.find(|update| update.name == info.name) {
                let conflict = |conflict| InfoError::Conflict {
                    check: check.name.clone(),
                    conflict,
                };
                info.add_update(update).map_err(conflict)?;
            }
        }
        Ok(info)
    }

    fn set_queues(&mut self, workload: &Workload) {
        self.set_label(labels::LOCAL_QUEUE_NAME, workload.spec.queue_name());
        let status = workload.status.as_ref();
        let admission = status.and_then(|status| status.admission.as_ref());
        let queue = admission.map(|admission| admission.cluster_queue.as_str());
        if let Some(name) = queue.filter(|name| crate::admission::names::is_dns_label(name)) {
            self.set_label(labels::CLUSTER_QUEUE_NAME, name);
        }
    }

    /// Adds what an admission check wants of the podset. Two that want different things of the same key cannot both be served.
    fn add_update(&mut self, update: &PodSetUpdate) -> Result<(), InjectError> {
        add("annotations", &mut self.annotations, &update.annotations)?;
        add("labels", &mut self.labels, &update.labels)?;
        add(
            "nodeSelector",
            &mut self.node_selector,
            &update.node_selector,
        )?;
        for toleration in &update.tolerations {
            let mut own = self.tolerations.iter();
            if !own.any(|own| same_toleration(own, toleration)) {
                self.tolerations.push(toleration.clone());
            }
        }
        Ok(())
    }

    /// Adds a label, or gives it another value.
    pub fn set_label(&mut self, key: &str, value: &str) {
        self.labels.insert(key.to_owned(), value.to_owned());
    }

    /// Puts the values into a template. A key that is there with another value is an error that no retry can mend.
    pub fn merge_into(&self, template: &mut PodTemplateSpec) -> Result<(), InjectError> {
        let meta = template.metadata.get_or_insert_default();
        let notes = meta.annotations.get_or_insert_default();
        // The chain of slices that an elastic job belonged to before is over.
        let slice = self
            .annotations
            .contains_key(annotations::WORKLOAD_SLICE_NAME);
        if slice && !self.keeps_slice {
            for key in [annotations::WORKLOAD_SLICE_NAME, annotations::WORKLOAD] {
                notes.remove(key);
            }
        }
        add("annotations", notes, &self.annotations)?;
        add("labels", meta.labels.get_or_insert_default(), &self.labels)?;
        let spec = template.spec.get_or_insert_default();
        add(
            "nodeSelector",
            spec.node_selector.get_or_insert_default(),
            &self.node_selector,
        )?;
        let tolerations = spec.tolerations.get_or_insert_default();
        for toleration in &self.tolerations {
            if !tolerations
                .iter()
                .any(|own| same_toleration(own, toleration))
            {
                tolerations.push(toleration.clone());
            }
        }
        let gates = spec.scheduling_gates.get_or_insert_default();
        for gate in &self.scheduling_gates {
            if !gates.contains(gate) {
                gates.push(gate.clone());
            }
        }
        drop_empty(template);
        Ok(())
    }

    /// Puts the values back as they were, keeping labels named in `kept`, which belong to the job's own controller.
    pub fn restore_into(&self, template: &mut PodTemplateSpec, kept: &[&str]) {
        let had_metadata = template.metadata.is_some();
        let meta = template.metadata.get_or_insert_default();
        let mut labels = self.labels.clone();
        for (key, value) in meta
            .labels
            .iter()
            .flatten()
            .filter(|(key, _)| kept.contains(&key.as_str()))
        {
            labels.insert(key.clone(), value.clone());
        }
        meta.labels = Some(labels);
        meta.annotations = Some(self.annotations.clone());
        let spec = template.spec.get_or_insert_default();
        spec.node_selector = Some(self.node_selector.clone());
        spec.tolerations = Some(self.tolerations.clone());
        spec.scheduling_gates = Some(self.scheduling_gates.clone());
        drop_empty(template);
        template
            .metadata
            .take_if(|meta| !had_metadata && *meta == ObjectMeta::default());
    }
}

/// Whether two tolerations tolerate the same; an absent operator is `Equal`.
#[must_use]
pub fn same_toleration(one: &Toleration, other: &Toleration) -> bool {
    let explicit = |toleration: &Toleration| {
        let operator = toleration.operator.clone().filter(|text| !text.is_empty());
        Toleration {
            operator: operator.or_else(|| Some("Equal".to_owned())),
            ..toleration.clone()
        }
    };
    explicit(one) == explicit(other)
}

fn names_a_topology(set: &PodSet) -> bool {
    set.topology_request.as_ref().is_some_and(|request| {
        request.preferred.is_some() || request.required.is_some() || request.unconstrained.is_some()
    })
}

fn add(
    place: &'static str,
    into: &mut BTreeMap<String, String>,
    from: &BTreeMap<String, String>,
) -> Result<(), InjectError> {
    for (key, new) in from {
        match into.get(key) {
            Some(old) if old != new => {
                return Err(InjectError {
                    place,
                    key: key.clone(),
                    old: old.clone(),
                    new: new.clone(),
                });
            }
            _ => into.insert(key.clone(), new.clone()),
        };
    }
    Ok(())
}

/// An empty map and an absent one are the same to the API server; the shorter form keeps patches small.
fn drop_empty(template: &mut PodTemplateSpec) {
    if let Some(ObjectMeta {
        labels,
        annotations,
        ..
    }) = template.metadata.as_mut()
    {
        labels.take_if(|m| m.is_empty());
        annotations.take_if(|m| m.is_empty());
    }
    if let Some(PodSpec {
        node_selector,
        tolerations,
        scheduling_gates,
        ..
    }) = template.spec.as_mut()
    {
        node_selector.take_if(|m| m.is_empty());
        tolerations.take_if(|m| m.is_empty());
        scheduling_gates.take_if(|m| m.is_empty());
    }
}
