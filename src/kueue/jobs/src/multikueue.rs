//! How a job runs in another cluster (MultiKueue): whether it is handed over at all, what its copy there looks like, and how the state of the
//! copy comes back to the job here. Objects in, writes out; the Workload that both belong to has the same name in both clusters.
//! Reference section 4.17, "Job adapters".

mod sync;

#[cfg(test)]
mod tests;

use kueue_api::names::{MULTIKUEUE_CONTROLLER, annotations, labels};
use serde_json::{Map, Value};

use crate::serving::leader_worker_set::{GroupsError, too_many};
pub use sync::{Sync, Write};

/// How the state of a copy comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The whole status, always.
    Plain,
    /// As `Plain`, but not while only the job here is suspended: its start time would forbid the change that lets it run.
    Batch,
    /// The job is one pod or a group of them; a pod that waits at a gate says so until its copy has a node.
    Pods,
    /// Nothing: its pods are jobs of their own.
    Nothing,
    /// Nothing, and it has a Workload for each of its groups.
    Groups,
}

/// How one kind of job is handed over.
#[derive(Debug)]
pub struct Adapter {
    pub group: &'static str,
    pub version: &'static str,
    pub kind: &'static str,
    pub plural: &'static str,
    /// The field that says who runs a job; kinds without one are always handed over, their pods wait at a gate here.
    managed_by: Option<&'static [&'static str]>,
    flow: Flow,
    /// A field of the specification whose changes here reach the copy.
    forwards: Option<&'static str>,
}

const MANAGED_BY: &[&str] = &["spec", "managedBy"];
const RUN_POLICY: &[&str] = &["spec", "runPolicy", "managedBy"];

/// Every kind that can be handed over.
pub static ADAPTERS: &[Adapter] = &[
    adapter("batch/v1", "Job", "jobs", Some(MANAGED_BY), Flow::Batch),
    adapter(
        "jobset.x-k8s.io/v1alpha2",
        "JobSet",
        "jobsets",
        Some(MANAGED_BY),
        Flow::Plain,
    ),
    kubeflow("PyTorchJob", "pytorchjobs"),
    kubeflow("TFJob", "tfjobs"),
    kubeflow("XGBoostJob", "xgboostjobs"),
    kubeflow("PaddleJob", "paddlejobs"),
    kubeflow("JAXJob", "jaxjobs"),
    adapter(
        "kubeflow.org/v2beta1",
        "MPIJob",
        "mpijobs",
        Some(RUN_POLICY),
        Flow::Plain,
    ),
    adapter(
        "ray.io/v1",
        "RayJob",
        "rayjobs",
        Some(MANAGED_BY),
        Flow::Plain,
    ),
    adapter(
        "ray.io/v1",
        "RayCluster",
        "rayclusters",
        Some(MANAGED_BY),
        Flow::Plain,
    ),
    Adapter {
        forwards: Some("serveConfigV2"),
        ..adapter(
            "ray.io/v1",
            "RayService",
            "rayservices",
            Some(MANAGED_BY),
            Flow::Plain,
        )
    },
    adapter(
        "workload.codeflare.dev/v1beta2",
        "AppWrapper",
        "appwrappers",
        Some(MANAGED_BY),
        Flow::Plain,
    ),
    adapter(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        "trainjobs",
        Some(MANAGED_BY),
        Flow::Plain,
    ),
    adapter("v1", "Pod", "pods", None, Flow::Pods),
    adapter(
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        None,
        Flow::Nothing,
    ),
    adapter(
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        "leaderworkersets",
        None,
        Flow::Groups,
    ),
];

const fn adapter(
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    managed_by: Option<&'static [&'static str]>,
    flow: Flow,
) -> Adapter {
    let (group, version) = split(api_version);
    Adapter {
        group,
        version,
        kind,
        plural,
        managed_by,
        flow,
        forwards: None,
    }
}

const fn kubeflow(kind: &'static str, plural: &'static str) -> Adapter {
    adapter(
        "kubeflow.org/v1",
        kind,
        plural,
        Some(RUN_POLICY),
        Flow::Plain,
    )
}

/// `group/version`, where the core group has no name.
const fn split(api_version: &'static str) -> (&'static str, &'static str) {
    let bytes = api_version.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'/' {
            let (group, rest) = api_version.split_at(at);
            return (group, rest.split_at(1).1);
        }
        at += 1;
    }
    ("", api_version)
}

/// What a copy is marked with.
#[derive(Clone, Copy, Debug)]
pub struct Hand<'a> {
    /// Name of the Workload, there as here.
    pub workload: &'a str,
    /// Name of this manager among those that share worker clusters.
    pub origin: &'a str,
    /// The Workload is named in an annotation instead of a label (gate `WorkloadIdentifierAnnotations`).
    pub annotated: bool,
}

/// An object of a worker cluster that has the name of a job and is not its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("remote object is not owned by MultiKueue")]
pub struct Foreign;

/// The adapter for jobs of a kind, in exactly that version.
#[must_use]
pub fn of(api_version: &str, kind: &str) -> Option<&'static Adapter> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    ADAPTERS
        .iter()
        .find(|one| one.kind == kind && one.group == group && one.version == version)
}

/// Group, version and kind as the reference's texts have them.
#[must_use]
pub fn gvk(api_version: &str, kind: &str) -> String {
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={kind}")
}

/// Name of the Workload that an object of a worker cluster was made for.
#[must_use]
pub fn workload_of(object: &Value) -> Option<&str> {
    let meta = object.get("metadata")?;
    let name = |map: &str, key: &str| meta.get(map)?.get(key)?.as_str();
    name("annotations", annotations::PREBUILT_WORKLOAD_NAME)
        .or_else(|| name("labels", labels::PREBUILT_WORKLOAD_NAME))
        .filter(|name| !name.is_empty())
}

/// Whether an object of a worker cluster was made by this manager.
#[must_use]
pub fn is_of_origin(object: &Value, origin: &str) -> bool {
    let label = object.pointer("/metadata/labels");
    let label = label.and_then(|labels| labels.get(labels::MULTIKUEUE_ORIGIN));
    label.and_then(Value::as_str) == Some(origin)
}

impl Adapter {
    /// `group/version`, or the version alone for the core group.
    #[must_use]
    pub fn api_version(&self) -> String {
        crate::kind::api_version(self.group, self.version)
    }

    /// Whether jobs of the kind are pods, which may form groups.
    #[must_use]
    pub fn is_pods(&self) -> bool {
        self.flow == Flow::Pods
    }

    /// Whether changes of a job here reach its copy.
    #[must_use]
    pub fn forwards(&self) -> bool {
        self.forwards.is_some()
    }

    /// Whether a job has several Workloads, which go to one cluster together.
    #[must_use]
    pub fn has_groups(&self) -> bool {
        self.flow == Flow::Groups
    }

    /// How many Workloads a job is to have, if that may be several.
    ///
    /// # Errors
    /// When it asks for a number of them that nobody can want.
    pub fn workloads_wanted(&self, job: &Value) -> Result<Option<i32>, GroupsError> {
        if !self.has_groups() {
            return Ok(None);
        }
        let says = job.pointer("/spec/replicas").and_then(Value::as_i64);
        let groups = i32::try_from(says.unwrap_or(1)).unwrap_or(i32::MAX);
        too_many(groups).map_or(Ok(Some(groups)), Err)
    }

    /// Why a job is not handed over; none if it is.
    #[must_use]
    pub fn refusal(&self, job: &Value) -> Option<String> {
        let path = self.managed_by?;
        let says = path.iter().try_fold(job, |value, name| value.get(name));
        let says = says.and_then(Value::as_str).unwrap_or_default();
        (says != MULTIKUEUE_CONTROLLER).then(|| {
            let field = path.join(".");
            format!("Expecting {field} to be {MULTIKUEUE_CONTROLLER:?} not {says:?}")
        })
    }

    /// What is created in a worker cluster for a job (or for one pod of a group).
    #[must_use]
    pub fn copy(&self, job: &Value, hand: Hand<'_>) -> Value {
        let mut spec = job.get("spec").cloned().unwrap_or(Value::Null);
        if let Some([_, path @ .., last]) = self.managed_by {
            let parent = path.iter().try_fold(&mut spec, |v, name| v.get_mut(name));
            // Whoever runs such jobs over there is to take it.
            parent
                .and_then(Value::as_object_mut)
                .map(|parent| parent.shift_remove(*last));
        }
        if self.flow == Flow::Batch {
            without_generated(&mut spec);
        }
        crate::train_job::without_own_patch(&mut spec);
        let mut object = Map::new();
        object.insert("apiVersion".to_owned(), Value::from(self.api_version()));
        object.insert("kind".to_owned(), Value::from(self.kind));
        object.insert("metadata".to_owned(), self.metadata(job, hand));
        object.insert("spec".to_owned(), spec);
        Value::Object(object)
    }

    fn metadata(&self, job: &Value, hand: Hand<'_>) -> Value {
        let of = |name: &str| job.pointer("/metadata").and_then(|meta| meta.get(name));
        let map = |name: &str| of(name).and_then(Value::as_object).cloned();
        let (mut marks, mut notes) = (
            map("labels").unwrap_or_default(),
            map("annotations").unwrap_or_default(),
        );
        marks.insert(labels::MULTIKUEUE_ORIGIN.to_owned(), hand.origin.into());
        if self.has_groups() {
            // It has no single Workload that it could name.
        } else if hand.annotated {
            let key = annotations::PREBUILT_WORKLOAD_NAME.to_owned();
            notes.insert(key, hand.workload.into());
        } else {
            let key = labels::PREBUILT_WORKLOAD_NAME.to_owned();
            marks.insert(key, hand.workload.into());
        }
        if matches!(self.flow, Flow::Nothing | Flow::Groups) {
            // The names of its Workloads over there are derived from it.
            let uid = of("uid").cloned().unwrap_or_else(|| Value::from(""));
            notes.insert(annotations::MULTIKUEUE_ORIGIN_UID.to_owned(), uid);
        }
        let mut meta = Map::new();
        for name in ["name", "namespace"] {
            meta.extend(of(name).map(|value| (name.to_owned(), value.clone())));
        }
        meta.insert("labels".to_owned(), Value::Object(marks));
        if !notes.is_empty() {
            meta.insert("annotations".to_owned(), Value::Object(notes));
        }
        Value::Object(meta)
    }
}

/// Takes away what the API server adds to a batch Job and would not let anybody set.
fn without_generated(spec: &mut Value) {
    const GENERATED: [&str; 4] = [
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
    ];
    if let Some(spec) = spec.as_object_mut() {
        spec.shift_remove("selector");
    }
    let template = spec.pointer_mut("/template/metadata");
    let Some(meta) = template.and_then(Value::as_object_mut) else {
        return;
    };
    if let Some(marks) = meta.get_mut("labels").and_then(Value::as_object_mut) {
        marks.retain(|key, _| !GENERATED.contains(&key.as_str()));
        if marks.is_empty() {
            meta.shift_remove("labels");
        }
    }
}
