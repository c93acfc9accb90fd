//! Workload: what a job asks for, as sets of identical pods, and what was decided about it.

use serde::{Deserialize, Serialize};

use super::WorkloadStatus;
use crate::PodTemplateSpec;
use crate::conditions::{self, workload as types};
use crate::names::{DEFAULT_POD_SET, GROUP, SCHEDULING_GROUP};
use crate::wire::kind;

kind! {
    Workload("workloads", NamespaceResourceScope) {
        spec: WorkloadSpec,
        status: Option<WorkloadStatus>,
    }
}

impl Workload {
    /// `namespace/name`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}/{}", self.namespace(), self.name())
    }

    /// `metadata.namespace`, or the empty string before it is known.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The conditions, none while there is no status.
    #[must_use]
    pub fn conditions(&self) -> &[crate::Condition] {
        self.status.as_ref().map_or(&[], |s| &s.conditions)
    }

    #[must_use]
    pub fn has_quota_reservation(&self) -> bool {
        conditions::is_true(self.conditions(), types::QUOTA_RESERVED)
    }

    #[must_use]
    pub fn is_admitted(&self) -> bool {
        conditions::is_true(self.conditions(), types::ADMITTED)
    }

    #[must_use]
    pub fn is_finished(&self) -> bool {
        conditions::is_true(self.conditions(), types::FINISHED)
    }

    #[must_use]
    pub fn is_evicted(&self) -> bool {
        conditions::is_true(self.conditions(), types::EVICTED)
    }

    /// `spec.active`, true unless somebody said otherwise.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.spec.active.unwrap_or(true)
    }

    /// Base priority; absent counts as 0.
    #[must_use]
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadSpec {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_sets: Vec<PodSet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class_ref: Option<PriorityClassRef>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum_execution_time_seconds: Option<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preemption_gates: Vec<PreemptionGate>,
}

impl WorkloadSpec {
    /// The set of this name.
    #[must_use]
    pub fn pod_set(&self, name: &str) -> Option<&PodSet> {
        self.pod_sets.iter().find(|set| set.name == name)
    }

    /// Name of the LocalQueue, empty when none is named.
    #[must_use]
    pub fn queue_name(&self) -> &str {
        self.queue_name.as_deref().unwrap_or_default()
    }
}

/// A set of identical pods.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSet {
    pub name: String,
    pub template: PodTemplateSpec,
    pub count: i32,
    /// Fewest pods that still make sense; absent means all or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology_request: Option<PodSetTopologyRequest>,
}

/// An absent count is 0 as on the reference's wire; the API server fills in 1 before a controller ever sees the object.
impl Default for PodSet {
    fn default() -> Self {
        Self {
            name: DEFAULT_POD_SET.to_owned(),
            template: PodTemplateSpec::default(),
            count: 0,
            min_count: None,
            topology_request: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSetTopologyRequest {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferred: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconstrained: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_index_label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_group_index_label: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_group_count: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_set_group_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_set_slice_required_topology: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_set_slice_size: Option<i32>,
    /// Spelled with a small `s` on the wire.
    #[serde(
        rename = "podsetSliceRequiredTopologyConstraints",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub podset_slice_required_topology_constraints: Vec<SliceTopologyConstraint>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SliceTopologyConstraint {
    pub topology: String,
    pub size: i32,
}

/// Where the priority of a workload comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityClassRef {
    pub group: String,
    pub kind: String,
    pub name: String,
}

impl PriorityClassRef {
    /// A class of ours.
    #[must_use]
    pub fn workload(name: &str) -> Self {
        Self {
            group: GROUP.to_owned(),
            kind: "WorkloadPriorityClass".to_owned(),
            name: name.to_owned(),
        }
    }

    /// A class of pods.
    #[must_use]
    pub fn pod(name: &str) -> Self {
        Self {
            group: SCHEDULING_GROUP.to_owned(),
            kind: "PriorityClass".to_owned(),
            name: name.to_owned(),
        }
    }

    #[must_use]
    pub fn is_workload_class(&self) -> bool {
        self.group == GROUP && self.kind == "WorkloadPriorityClass"
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreemptionGate {
    pub name: String,
}
