//! From the specification of a cluster to its podsets: the head, each group of workers, and who submits the job; and what is wrong with it.

use k8s_openapi::api::core::v1::{PodTemplateSpec, ResourceRequirements};
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::PodSet;
use kueue_api::workload::slices;
use serde_json::Value;

use super::{Ray, extras};
use crate::admission::topology::{self, Template};
use crate::error::JobError;
use crate::job::GenericJob as _;
use crate::topology_request::{self, Ranks};

const HEAD: &str = "head";
const SUBMITTER: &str = "/spec/submitterPodTemplate";

/// No Workload has more podsets.
const MOST_POD_SETS: usize = 18;

/// A pod template of the object.
pub(super) struct Place {
    /// Its JSON pointer.
    pub(super) pointer: String,
    path: Path,
    name: String,
    count: i32,
    of: Of,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Head,
    Workers,
    Submitter,
}

impl Ray {
    /// Its templates in the order of their podsets.
    pub(super) fn templates(&self) -> Vec<Place> {
        let mut all = vec![Place {
            pointer: self.at("headGroupSpec/template"),
            path: self.path().child("headGroupSpec").child("template"),
            name: HEAD.to_owned(),
            count: 1,
            of: Of::Head,
        }];
        let groups = self.groups().iter().enumerate();
        all.extend(groups.map(|(index, group)| {
            Place {
                pointer: self.at(&format!("workerGroupSpecs/{index}/template")),
                path: self
                    .path()
                    .child("workerGroupSpecs")
                    .index(index)
                    .child("template"),
                name: name_of(group).to_lowercase(),
                count: pods_of(group),
                of: Of::Workers,
            }
        }));
        if self.submits("K8sJobMode") {
            all.push(Place {
                pointer: SUBMITTER.to_owned(),
                path: Path::new("spec").child("submitterPodTemplate"),
                name: "submitter".to_owned(),
                count: 1,
                of: Of::Submitter,
            });
        }
        all
    }

    pub(super) fn all_pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        let templates = self.templates();
        templates.iter().map(|place| self.pod_set(place)).collect()
    }

    /// The template of the one that submits is written down before something is put into it: the operator would take its own otherwise.
    pub(super) fn write_submitter(&mut self) -> Result<(), JobError> {
        if !self.submits("K8sJobMode") || self.object.get(SUBMITTER).is_some() {
            return Ok(());
        }
        let template = serde_json::to_value(extras::submitter_template());
        let kind = self.shape.kind.kind;
        let template = template.map_err(|source| JobError::Write { kind, source })?;
        self.object.set(&["spec", "submitterPodTemplate"], template);
        Ok(())
    }

    /// Whether the job runs in a cluster that is there without it.
    pub(super) fn selects_cluster(&self) -> bool {
        let selector = self.object.get("/spec/clusterSelector");
        let labels = selector.and_then(Value::as_object);
        self.shape.ends && labels.is_some_and(|labels| !labels.is_empty())
    }

    fn pod_set(&self, place: &Place) -> Result<PodSet, JobError> {
        let set = self.bare_pod_set(place)?;
        let meta = set.template.metadata.as_ref();
        let topology_request = topology_request::of(meta, &Ranks::default())?;
        Ok(PodSet {
            topology_request,
            ..set
        })
    }

    /// A podset without what its annotations ask for.
    fn bare_pod_set(&self, place: &Place) -> Result<PodSet, JobError> {
        let template = match place.of {
            Of::Submitter if self.object.get(SUBMITTER).is_none() => extras::submitter_template(),
            _ => self.object.template(&place.pointer)?,
        };
        let template = match place.of {
            Of::Head => self.with_company(template)?,
            Of::Workers | Of::Submitter => template,
        };
        Ok(PodSet {
            name: place.name.clone(),
            template,
            count: place.count,
            min_count: None,
            topology_request: None,
        })
    }

    /// The head with the containers that the operator puts beside it.
    fn with_company(&self, mut head: PodTemplateSpec) -> Result<PodTemplateSpec, JobError> {
        if self.cleans_up() {
            extras::make_room_to_clean_up(&mut head)?;
        }
        let spec = head.spec.get_or_insert_default();
        if self.scales() {
            let own = self.object.get(&self.at("autoscalerOptions/resources"));
            let own = own.map(|own| serde_json::from_value::<ResourceRequirements>(own.clone()));
            let kind = self.shape.kind.kind;
            let own = own.transpose();
            let own = own.map_err(|source| JobError::Read { kind, source })?;
            spec.containers.push(extras::autoscaler(own));
        }
        if self.submits("SidecarMode") {
            spec.containers.push(extras::submitter());
        }
        Ok(head)
    }

    pub(super) fn all_problems(&self, features: &Features) -> Vec<FieldError> {
        let mut found = self.of_job();
        if self.object.get(&self.at("")).is_some() {
            found.extend(self.of_groups(features));
        }
        if features.on(gate::TOPOLOGY_AWARE_SCHEDULING) {
            let templates = self.templates();
            let template = |place: &Place| {
                Some(Template {
                    path: place.path.child("metadata"),
                    pod_set: self.bare_pod_set(place).ok()?,
                })
            };
            let templates: Vec<_> = templates.iter().filter_map(template).collect();
            let layers = features.on(gate::TAS_MULTI_LAYER_TOPOLOGY);
            found.extend(topology::problems(&templates, layers));
        }
        found
    }

    /// A job brings its cluster along and takes it away again.
    fn of_job(&self) -> Vec<FieldError> {
        let mut found = Vec::new();
        if !self.shape.ends {
            return found;
        }
        let spec = Path::new("spec");
        if self.object.get("/spec/shutdownAfterJobFinishes") != Some(&Value::Bool(true)) {
            let detail = "a kueue managed job should delete the cluster after finishing";
            let path = spec.child("shutdownAfterJobFinishes");
            found.push(FieldError::invalid(&path, false, detail));
        }
        if self.selects_cluster() {
            let selector = self.object.get("/spec/clusterSelector");
            let detail = "a kueue managed job should not use an existing cluster";
            let path = spec.child("clusterSelector");
            let selector = selector.cloned().unwrap_or_default();
            found.push(FieldError::invalid(&path, selector, detail));
        } else if self.object.get(&self.at("")).is_none() {
            let detail =
                "rayClusterSpec is required for Kueue-managed jobs that don't use clusterSelector";
            found.push(FieldError::required(&self.path(), detail));
        }
        found
    }

    fn of_groups(&self, features: &Features) -> Vec<FieldError> {
        let mut found = Vec::new();
        let grows = self.path().child("enableInTreeAutoscaling");
        let elastic = features.on(gate::ELASTIC_JOBS) && slices::is_marked(&self.object.meta);
        if self.scales() && !elastic {
            found.push(FieldError::invalid(&grows, true, self.shape.grows));
        } else if self.scales() && self.managed_by() == Some(MULTIKUEUE_CONTROLLER) {
            let kind = self.shape.kind.kind;
            let detail = format!(
                "in-tree autoscaling is not supported for a MultiKueue-managed elastic {kind}"
            );
            found.push(FieldError::forbidden(&grows, &detail));
        }
        let list = self.path().child("workerGroupSpecs");
        let groups = self.groups();
        let pod_sets = self.templates().len();
        if pod_sets > MOST_POD_SETS {
            found.push(FieldError::too_many(&list, pod_sets, MOST_POD_SETS));
        }
        let named = groups.iter().enumerate();
        found.extend(
            named
                .filter(|(_, group)| name_of(group) == HEAD)
                .map(|(index, _)| {
                    let path = list.index(index).child("groupName");
                    FieldError::forbidden(&path, "\"head\" is reserved for the head group")
                }),
        );
        found
    }

    /// The JSON pointer of a field of the cluster's specification.
    fn at(&self, field: &str) -> String {
        let mut pointer = format!("/{}", self.shape.cluster.join("/"));
        if !field.is_empty() {
            pointer.push('/');
            pointer.push_str(field);
        }
        pointer
    }

    /// Its place in texts, under the name that the reference gives it.
    fn path(&self) -> Path {
        let named = |field: &&'static str| match *field {
            "rayClusterConfig" => "rayClusterSpec",
            other => other,
        };
        let fields: Vec<_> = self.shape.cluster.iter().map(named).collect();
        let mut fields = fields.iter();
        let first = Path::new(fields.next().copied().unwrap_or_default());
        fields.fold(first, |path, field| path.child(field))
    }

    fn groups(&self) -> &[Value] {
        let groups = self.object.get(&self.at("workerGroupSpecs"));
        groups
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    }

    fn scales(&self) -> bool {
        self.object.get(&self.at("enableInTreeAutoscaling")) == Some(&Value::Bool(true))
    }

    /// Whether the head survives, and something is left behind that has to be cleaned up.
    pub(super) fn cleans_up(&self) -> bool {
        let notes = self.object.meta.annotations.as_ref();
        let noted = notes.and_then(|notes| notes.get("ray.io/ft-enabled"));
        noted.is_some_and(|value| value == "true")
            || self
                .object
                .get(&self.at("gcsFaultToleranceOptions"))
                .is_some()
    }

    /// Whether the job is submitted in this way.
    fn submits(&self, mode: &str) -> bool {
        self.shape.ends && self.object.text("/spec/submissionMode") == Some(mode)
    }
}

fn name_of(group: &Value) -> &str {
    group["groupName"].as_str().unwrap_or_default()
}

fn pods_of(group: &Value) -> i32 {
    let number = |field: &str| {
        let value = group[field].as_i64();
        value.and_then(|value| i32::try_from(value).ok())
    };
    let hosts = number("numOfHosts").unwrap_or(1).max(1);
    number("replicas").unwrap_or(1).saturating_mul(hosts)
}
