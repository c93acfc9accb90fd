//! `workload.codeflare.dev/v1beta2` `AppWrapper`: objects of whatever kinds, created and removed together. Where their pod templates are is said by
//! the wrapper or known from the kind ([`places`]); what an admission adds is noted beside each, and its controller puts it in. Reference section 5.2.

mod places;

#[cfg(test)]
mod tests;

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::v1beta2::{PodSet, PodSetTopologyRequest};
use serde_json::{Map, Value, json};

use crate::error::JobError;
use crate::job::{Change, Finish, GenericJob, StartError};
use crate::kind::JobKind;
use crate::pod_set_info::PodSetInfo;
use crate::topology_request::{self, Ranks};
use crate::untyped::Untyped;

use places::{Place, pointer};

/// `workload.codeflare.dev/v1beta2` `AppWrapper`.
pub const APP_WRAPPER: JobKind = JobKind {
    framework: "workload.codeflare.dev/appwrapper",
    group: "workload.codeflare.dev",
    version: "v1beta2",
    kind: "AppWrapper",
    plural: "appwrappers",
    adopts: true,
    elastic: false,
    checked_unmanaged: true,
    native_controller: "workload.codeflare.dev/appwrapper-controller",
    read: AppWrapper::read,
};

const SUSPEND: &[&str] = &["spec", "suspend"];
const COMPONENTS: &str = "/spec/components";

/// An `AppWrapper`.
#[derive(Clone, Debug)]
pub struct AppWrapper(Untyped);

impl AppWrapper {
    fn read(value: Value) -> Result<Box<dyn GenericJob>, JobError> {
        Ok(Box::new(Self(Untyped::read(APP_WRAPPER.kind, value)?)))
    }

    fn components(&self) -> &[Value] {
        let all = self.0.get(COMPONENTS).and_then(Value::as_array);
        all.map_or(&[], Vec::as_slice)
    }

    /// The places of the pod templates, by component. Once its controller has written them down, changes of the object do not move them.
    fn places(&self) -> Vec<Vec<Place>> {
        let states = self.0.get("/status/componentStatus");
        let states = states.and_then(Value::as_array);
        let components = self.components();
        let settled = states.filter(|states| states.len() == components.len());
        if let Some(states) = settled {
            let declared = states
                .iter()
                .map(|state| places::declared(&state["podSets"]));
            return declared.collect();
        }
        let of = |component: &Value| {
            let own = places::declared(&component["declaredPodSets"]);
            if own.is_empty() {
                places::inferred(&component["template"])
            } else {
                own
            }
        };
        components.iter().map(of).collect()
    }

    /// Puts lists of infos beside the components, or takes them away.
    fn note(&mut self, mut infos: impl Iterator<Item = Option<Value>>) {
        let mut components = self.components().to_vec();
        for component in &mut components {
            let Some(fields) = component.as_object_mut() else {
                continue;
            };
            match infos.next().flatten() {
                Some(infos) => {
                    fields.insert("podSetInfos".to_owned(), infos);
                }
                None => {
                    fields.shift_remove("podSetInfos");
                }
            }
        }
        if !components.is_empty() {
            self.0
                .set(&["spec", "components"], Value::Array(components));
        }
    }

    fn pod_set(&self, index: usize, place: &Place, template: &Value) -> Result<PodSet, JobError> {
        let template = pod_template(template)?;
        let asked = topology_request::of(template.metadata.as_ref(), &Ranks::default())?;
        let mut request = asked.unwrap_or_default();
        request.pod_index_label.clone_from(&place.pod_index_label);
        let groups = &place.sub_group_index_label;
        request.sub_group_index_label.clone_from(groups);
        request.sub_group_count = place.sub_group_count;
        let name = self.0.meta.name.as_deref().unwrap_or_default();
        Ok(PodSet {
            name: format!("{name}-{index}").to_lowercase(),
            count: place.replicas,
            template,
            min_count: None,
            topology_request: Some(request).filter(|own| *own != PodSetTopologyRequest::default()),
        })
    }

    fn is_true(&self, condition: &str) -> bool {
        self.0.true_condition(&[condition]).is_some()
    }
}

/// A pod template, or the part of a pod that one would have.
fn pod_template(found: &Value) -> Result<PodTemplateSpec, JobError> {
    let mut meta = Map::new();
    for field in ["labels", "annotations"] {
        if let Some(map) = found["metadata"].get(field) {
            meta.insert(field.to_owned(), map.clone());
        }
    }
    let mut template = json!({ "spec": found["spec"] });
    if !meta.is_empty() {
        template["metadata"] = Value::Object(meta);
    }
    let kind = APP_WRAPPER.kind;
    serde_json::from_value(template).map_err(|source| JobError::Read { kind, source })
}

fn info(info: &PodSetInfo) -> Value {
    let mut fields = Map::new();
    let maps = [
        ("annotations", &info.annotations),
        ("labels", &info.labels),
        ("nodeSelector", &info.node_selector),
    ];
    for (field, map) in maps.into_iter().filter(|(_, map)| !map.is_empty()) {
        fields.insert(field.to_owned(), json!(map));
    }
    if !info.tolerations.is_empty() {
        fields.insert("tolerations".to_owned(), json!(info.tolerations));
    }
    if !info.scheduling_gates.is_empty() {
        fields.insert("schedulingGates".to_owned(), json!(info.scheduling_gates));
    }
    Value::Object(fields)
}

impl GenericJob for AppWrapper {
    fn kind(&self) -> &'static JobKind {
        &APP_WRAPPER
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.meta
    }

    fn is_suspended(&self) -> bool {
        self.0.is_on(SUSPEND)
    }

    fn suspend(&mut self) {
        self.0.set(SUSPEND, json!(true));
    }

    /// Places that lead nowhere count for nothing; its own webhook refuses them.
    fn pod_sets(&self) -> Result<Vec<PodSet>, JobError> {
        let places = self.places();
        let of_components = self.components().iter().zip(&places);
        let found = of_components.flat_map(|(component, places)| {
            let template = &component["template"];
            places.iter().filter_map(move |place| {
                let found = template.pointer(&pointer(&place.path)?)?;
                found["spec"].is_object().then_some((place, found))
            })
        });
        found
            .enumerate()
            .map(|(index, (place, template))| self.pod_set(index, place, template))
            .collect()
    }

    fn run_with(&mut self, infos: &[PodSetInfo]) -> Result<(), StartError> {
        let places = self.places();
        let want = places.iter().map(Vec::len).sum();
        let got = infos.len();
        if got != want {
            return Err(JobError::Infos { want, got }.into());
        }
        let mut infos = infos.iter().map(info);
        let lists = places.iter().map(|places| {
            let own: Vec<Value> = infos.by_ref().take(places.len()).collect();
            (!own.is_empty()).then_some(Value::Array(own))
        });
        let lists: Vec<_> = lists.collect();
        self.note(lists.into_iter());
        self.0.set(SUSPEND, json!(false));
        Ok(())
    }

    fn stop_step(&self, infos: Option<&[PodSetInfo]>) -> Option<Change> {
        let mut stopped = self.clone();
        stopped.suspend();
        if infos.is_some() {
            stopped.note(std::iter::empty());
        }
        self.0.patch_to(&stopped.0).map(Change::Object)
    }

    /// One that failed has not ended before its objects are gone.
    fn finished(&self) -> Option<Finish> {
        let (success, message) = match self.0.text("/status/phase") {
            Some("Succeeded") => (true, "AppWrapper finished successfully"),
            Some("Failed") if !self.is_true("ResourcesDeployed") => (false, "AppWrapper failed"),
            _ => return None,
        };
        let message = message.to_owned();
        Some(Finish { success, message })
    }

    fn is_active(&self) -> bool {
        self.is_true("QuotaReserved")
    }

    fn pods_ready(&self) -> bool {
        self.is_true("PodsReady")
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn to_value(&self) -> Result<Value, JobError> {
        self.0.to_value()
    }

    fn managed_by(&self) -> Option<&str> {
        self.0.text("/spec/managedBy")
    }

    fn set_managed_by(&mut self, controller: &str) {
        self.0.set(&["spec", "managedBy"], json!(controller));
    }
}
