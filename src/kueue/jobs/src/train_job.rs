//! `trainer.kubeflow.org/v1alpha1` `TrainJob`: what it runs is described by another object, the runtime that it names, from which its controller
//! makes a `JobSet`. The same is made here for the podsets ([`render`]); whoever holds the runtimes hands the right one over. What an admission adds
//! goes into a patch of the runtime that is ours alone. Reference section 5.2.

mod render;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::{FieldError, Path};
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use serde_json::{Map, Value, json};

use crate::admission::topology::{self, Template};
use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, RuntimeRef, StartError};
use crate::job_set::JobSet;
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::untyped::Untyped;

/// `trainer.kubeflow.org/v1alpha1` `TrainJob`.
pub const TRAIN_JOB: JobKind = JobKind {
    framework: "trainer.kubeflow.org/trainjob",
    group: "trainer.kubeflow.org",
    version: "v1alpha1",
    kind: "TrainJob",
    plural: "trainjobs",
    adopts: true,
    elastic: false,
    checked_unmanaged: true,
    native_controller: "trainer.kubeflow.org/trainjob-controller",
    read: |value| Ok(Box::new(TrainJob::read(value)?)),
};

/// The kinds of runtimes, and how the API server calls them; those of the second are of a namespace.
pub const RUNTIMES: [(&str, &str); 2] = [
    ("ClusterTrainingRuntime", "clustertrainingruntimes"),
    ("TrainingRuntime", "trainingruntimes"),
];

/// Who the patch of the runtime belongs to that we write.
const MANAGER: &str = "kueue.x-k8s.io/manager";
const SUSPEND: &[&str] = &["spec", "suspend"];
const PATCHES: &str = "/spec/runtimePatches";

/// A `TrainJob`, and the runtime that it names, once that was handed over.
#[derive(Clone, Debug)]
pub struct TrainJob {
    object: Untyped,
    runtime: Option<Arc<Value>>,
}

impl TrainJob {
    /// Reads an object.
    fn read(value: Value) -> Result<Self, JobError> {
        Ok(Self {
            object: Untyped::read(TRAIN_JOB.kind, value)?,
            runtime: None,
        })
    }

    /// The `JobSet` that its controller makes, in the state that it tells of.
    fn job_set(&self) -> Result<JobSet, JobError> {
        let runtime = self.runtime.as_ref().ok_or_else(|| {
            let name = self.object.text("/spec/runtimeRef/name");
            JobError::NoRuntime(name.unwrap_or_default().to_owned())
        })?;
        let jobs = render::replicated_jobs(&self.object.to_value()?, runtime);
        let states = self.object.get("/status/jobsStatus");
        JobSet::of(json!({
            "spec": {"replicatedJobs": jobs},
            "status": {"replicatedJobsStatus": states},
        }))
    }

    fn patches(&self) -> &[Value] {
        let patches = self.object.get(PATCHES).and_then(Value::as_array);
        patches.map_or(&[], Vec::as_slice)
    }

    /// Writes what our own patch says of the replicated jobs; nothing takes it away. False if there is no such patch.
    fn patch(&mut self, jobs: Option<Vec<Value>>) -> bool {
        let mut patches = self.patches().to_vec();
        let mut own = patches.iter_mut();
        let Some(own) = own.find(|patch| patch["manager"] == MANAGER) else {
            return false;
        };
        let spec = &mut own["trainingRuntimeSpec"]["template"]["spec"];
        match (jobs, spec.as_object_mut()) {
            (Some(jobs), _) => spec["replicatedJobs"] = json!(jobs),
            (None, Some(fields)) => {
                fields.shift_remove("replicatedJobs");
            }
            (None, None) => {}
        }
        let place = ["spec", "runtimePatches"];
        self.object.set(&place, Value::Array(patches));
        true
    }
}

/// Takes away our patch from the specification of a copy: each cluster writes its own.
pub(crate) fn without_own_patch(spec: &mut Value) {
    let patches = spec.get_mut("runtimePatches").and_then(Value::as_array_mut);
    let Some(patches) = patches else { return };
    patches.retain(|patch| patch["manager"] != MANAGER);
    if patches.is_empty()
        && let Some(fields) = spec.as_object_mut()
    {
        fields.shift_remove("runtimePatches");
    }
}

/// What an admission adds to the pods of a replicated job, as a patch of it.
fn job_patch(info: &PodSetInfo) -> Value {
    let mut meta = Map::new();
    for (field, map) in [("annotations", &info.annotations), ("labels", &info.labels)] {
        if !map.is_empty() {
            meta.insert(field.to_owned(), json!(map));
        }
    }
    let mut spec = Map::new();
    if !info.node_selector.is_empty() {
        spec.insert("nodeSelector".to_owned(), json!(info.node_selector));
    }
    if !info.tolerations.is_empty() {
        spec.insert("tolerations".to_owned(), json!(info.tolerations));
    }
    if !info.scheduling_gates.is_empty() {
        spec.insert("schedulingGates".to_owned(), json!(info.scheduling_gates));
    }
    let template = json!({"metadata": meta, "spec": spec});
    json!({"name": info.name, "template": {"spec": {"template": template}}})
}

impl GenericJob for TrainJob {
    fn kind(&self) -> &'static JobKind {
        &TRAIN_JOB
    }

    fn meta(&self) -> &ObjectMeta {
        &self.object.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.object.meta
    }

    fn is_suspended(&self) -> bool {
        self.object.is_on(SUSPEND)
    }

    fn suspend(&mut self) {
        self.object.set(SUSPEND, json!(true));
    }

    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        self.job_set()?.pod_sets()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let want = self.pod_sets()?.len();
        if infos.len() != want {
            let got = infos.len();
            return Err(JobError::Infos { want, got }.into());
        }
        if !self.patch(Some(infos.iter().map(job_patch).collect())) {
            return Err(JobError::NoRuntimePatch.into());
        }
        self.object.set(SUSPEND, json!(false));
        Ok(())
    }

    /// Its own webhook refuses other patches as long as there are pods; so first it is stopped, and then brought back.
    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        let mut stopped = self.clone();
        if !self.is_suspended() {
            stopped.suspend();
        } else if infos.is_some() {
            stopped.patch(None);
        }
        self.object.patch_to(&stopped.object).map(Change::Object)
    }

    fn finished(&self) -> Option<Finish> {
        let (how, message) = self.object.true_condition(&["Complete", "Failed"])?;
        Some(Finish {
            success: how == "Complete",
            message: message.to_owned(),
        })
    }

    fn is_active(&self) -> bool {
        let states = self.object.get("/status/jobsStatus");
        let mut states = states.and_then(Value::as_array).into_iter().flatten();
        states.any(|state| state["active"].as_i64().unwrap_or_default() > 0)
    }

    fn pods_ready(&self) -> bool {
        self.job_set().is_ok_and(|set| set.pods_ready())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.object.to_value()
    }

    fn again(&self, value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        let runtime = self.runtime.clone();
        Ok(Box::new(Self {
            runtime,
            ..Self::read(value)?
        }))
    }

    fn runtime_ref(&self) -> Option<RuntimeRef> {
        let text = |field: &str| self.object.text(&format!("/spec/runtimeRef/{field}"));
        let group = text("apiGroup").unwrap_or(TRAIN_JOB.group);
        let [(of_all, _), (of_namespace, _)] = RUNTIMES;
        let kind = text("kind").unwrap_or(of_all);
        if group != TRAIN_JOB.group || ![of_all, of_namespace].contains(&kind) {
            return None;
        }
        let namespace = self.object.meta.namespace.clone();
        Some(RuntimeRef {
            namespace: namespace.filter(|_| kind == of_namespace),
            name: text("name")?.to_owned(),
        })
    }

    fn set_runtime(&mut self, runtime: Arc<Value>) {
        self.runtime = Some(runtime);
    }

    fn lacks_runtime(&self) -> bool {
        self.runtime.is_none()
    }

    fn managed_by(&self) -> Option<&str> {
        self.object.text("/spec/managedBy")
    }

    fn set_managed_by(&mut self, controller: &str) {
        self.object.set(&["spec", "managedBy"], json!(controller));
    }

    /// Only patches that are there when it is created can be changed later.
    fn default_own(&mut self, _: &Features) {
        if self
            .patches()
            .iter()
            .any(|patch| patch["manager"] == MANAGER)
        {
            return;
        }
        let mut patches = self.patches().to_vec();
        let empty = json!({"template": {"spec": {}}});
        patches.push(json!({"manager": MANAGER, "trainingRuntimeSpec": empty}));
        self.object
            .set(&["spec", "runtimePatches"], Value::Array(patches));
    }

    fn reclaimable_pods(&self) -> Option<Vec<ReclaimablePod>> {
        self.job_set().ok()?.reclaimable_pods()
    }

    /// A runtime that is not known yet is looked for by its own webhook.
    fn problems(&self, features: &Features) -> Vec<FieldError> {
        let sets = self.job_set().and_then(|set| set.bare_pod_sets());
        let Some(sets) = sets
            .ok()
            .filter(|_| features.on(gate::TOPOLOGY_AWARE_SCHEDULING))
        else {
            return Vec::new();
        };
        let template = |pod_set: PodSet| Template {
            path: Path::new("job").key(&pod_set.name),
            pod_set,
        };
        let templates: Vec<_> = sets.into_iter().map(template).collect();
        let layers = features.on(gate::TAS_MULTI_LAYER_TOPOLOGY);
        let mut found = topology::problems_of_each(&templates, layers);
        for fault in &mut found {
            fault.detail.push_str(
                ". Adjust either the \"TrainJob.spec.runtimePatches\" or the \"TrainingRuntime.Template\" annotations for the corresponding Job",
            );
        }
        found
    }
}
