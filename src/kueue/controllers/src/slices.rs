//! Lets the pods of a job that grows start as its slices are granted: takes their gate away, as many of each podset as the active slice has.
//! `jobs::slices::ungate` decides, this carries out. KEP-77; reference section 5.1, "Elastic".

use std::sync::Arc;

use jobs::slices::{self, Release, ungate};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::gates;
use serde_json::json;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::work_queue::Next;
use crate::write::WriteError;

/// Lets the pods of one chain start as far as they may.
pub async fn reconcile(context: Arc<Context>, chain: Key) -> Result<Next, ReconcileError> {
    let stores = &context.world.stores;
    let open = slices::open(&stores.slices_of(&chain));
    let Some(slice) = slices::active(&open) else {
        return Ok(Next::OnChange);
    };
    let pods = stores.pods_of(&chain);
    for release in ungate(slice, pods.iter().map(Arc::as_ref)) {
        let named = |pod: &&Arc<Pod>| pod.metadata.name.as_deref() == Some(&release.pod);
        if let Some(pod) = pods.iter().find(named) {
            start(&context, pod, &release).await?;
            let around = context.world.around(slice);
            let now = (context.clock)();
            let metrics = &context.metrics;
            metrics.gate_removed(gates::ELASTIC_JOB, slice, &around, now);
        }
    }
    Ok(Next::OnChange)
}

async fn start(context: &Context, pod: &Pod, release: &Release) -> Result<(), WriteError> {
    let mut spec = pod.spec.clone().unwrap_or_default();
    jobs::pods::ungate(&mut spec, gates::ELASTIC_JOB);
    let mut selector = spec.node_selector.unwrap_or_default();
    selector.extend(release.node_selector.clone());
    let patch = json!({
        "metadata": {"annotations": release.annotations},
        "spec": {"nodeSelector": selector, "schedulingGates": spec.scheduling_gates.unwrap_or_default()},
    });
    context.wrote_pod(context.writer.namespaced(pod, patch, "start Pod").await)
}
