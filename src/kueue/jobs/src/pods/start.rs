//! Lets pods run with what the admission says: what their flavors need is put in, the gate goes. Pods with a place in a topology keep waiting for it.

use std::sync::Arc;

use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use kueue_api::names::gates;

use super::{Pods, is_gated, role_of, ungate};
use crate::error::JobError;
use crate::job::StartError;
use crate::pod_set_info::PodSetInfo;

impl Pods {
    /// The pods behind the gate as they are to be.
    pub fn started(&self, infos: &[PodSetInfo]) -> Result<Vec<Arc<Pod>>, StartError> {
        if !self.grouped {
            let [info] = infos else {
                return Err(JobError::Infos {
                    want: 1,
                    got: infos.len(),
                }
                .into());
            };
            let waiting = Some(&self.head).filter(|pod| is_gated(pod));
            return waiting.map(|pod| prepared(pod, info)).into_iter().collect();
        }
        let waiting = self.members.iter().filter(|pod| is_gated(pod));
        let started = waiting.map(|pod| {
            let role = role_of(pod);
            let info = infos.iter().find(|info| info.name == role);
            let info = info.ok_or(JobError::NoInfo(role))?;
            prepared(pod, info)
        });
        started.collect()
    }
}

fn prepared(pod: &Pod, info: &PodSetInfo) -> Result<Arc<Pod>, StartError> {
    let mut pod = pod.clone();
    let own = &mut pod.metadata;
    let mut template = PodTemplateSpec {
        metadata: Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
            labels: own.labels.take(),
            annotations: own.annotations.take(),
            ..Default::default()
        }),
        spec: pod.spec.take(),
    };
    info.merge_into(&mut template)?;
    let changed = template.metadata.unwrap_or_default();
    (own.labels, own.annotations) = (changed.labels, changed.annotations);
    let mut spec = template.spec.unwrap_or_default();
    ungate(&mut spec, gates::ADMISSION);
    let placed = info
        .scheduling_gates
        .iter()
        .any(|gate| gate.name == gates::TOPOLOGY);
    if !placed {
        ungate(&mut spec, gates::TOPOLOGY);
    }
    pod.spec = Some(spec);
    Ok(Arc::new(pod))
}
