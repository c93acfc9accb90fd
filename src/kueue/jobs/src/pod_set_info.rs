//! What an admission puts into a pod template when a job starts, and how the template gets its own values back when
//! the job is stopped.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{PodSchedulingGate, PodSpec, PodTemplateSpec, Toleration};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::names::{annotations, labels};
use kueue_api::v1beta2::{PodSet, PodSetAssignment, ResourceFlavorSpec, Workload};

use crate::error::InjectError;

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
        }
    }

    /// What one assignment adds: labels of its flavors' nodes, their tolerations, and the labels by which the pods
    /// are recognised.
    #[must_use]
    pub fn of_assignment(
        workload: &Workload,
        assignment: &PodSetAssignment,
        flavors: &BTreeMap<String, ResourceFlavorSpec>,
    ) -> Self {
        let mut info = Self {
            name: assignment.name.clone(),
            count: assignment.count.unwrap_or_default(),
            ..Self::default()
        };
        let mut seen = Vec::new();
        for name in assignment.flavors.values() {
            let Some(flavor) = flavors.get(name).filter(|_| !seen.contains(&name)) else {
                continue;
            };
            seen.push(name);
            info.node_selector.extend(flavor.node_labels.clone());
            info.tolerations.extend(flavor.tolerations.iter().cloned());
        }
        info.labels
            .insert(labels::POD_SET.to_owned(), assignment.name.clone());
        info.labels.insert(
            labels::LOCAL_QUEUE_NAME.to_owned(),
            workload.spec.queue_name().to_owned(),
        );
        let cluster_queue = workload
            .status
            .as_ref()
            .and_then(|s| s.admission.as_ref())
            .map(|a| a.cluster_queue.clone());
        if let Some(name) =
            cluster_queue.filter(|name| crate::admission::names::is_label_value(name))
        {
            info.labels
                .insert(labels::CLUSTER_QUEUE_NAME.to_owned(), name);
        }
        info.annotations
            .insert(annotations::WORKLOAD.to_owned(), workload.name().to_owned());
        info
    }

    /// Puts the values into a template. A key that is there with another value is an error that no retry can mend.
    pub fn merge_into(&self, template: &mut PodTemplateSpec) -> Result<(), InjectError> {
        let meta = template.metadata.get_or_insert_default();
        // The chain of slices that an elastic job belonged to before is over.
        if self
            .annotations
            .contains_key(annotations::WORKLOAD_SLICE_NAME)
        {
            let notes = meta.annotations.get_or_insert_default();
            notes.remove(annotations::WORKLOAD_SLICE_NAME);
        }
        add(
            "annotations",
            meta.annotations.get_or_insert_default(),
            &self.annotations,
        )?;
        add("labels", meta.labels.get_or_insert_default(), &self.labels)?;
        let spec = template.spec.get_or_insert_default();
        add(
            "nodeSelector",
            spec.node_selector.get_or_insert_default(),
            &self.node_selector,
        )?;
        let tolerations = spec.tolerations.get_or_insert_default();
        for toleration in &self.tolerations {
            if !tolerations.contains(toleration) {
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
