//! Lets pods start where the topology assignment of their Workload puts them: takes their scheduling gate away and tells their nodes by the
//! node selector. `cache::topology::ungate` decides, this carries out. Reference section 4.14 ("Pods").

use std::sync::Arc;

use cache::topology::{Placement, ungate};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::gates;
use serde_json::json;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::work_queue::Next;
use crate::write::WriteError;

const REPORTER: &str = "kueue-topology-ungater";

/// Lets the pods of one Workload start as far as they may.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let stores = &context.world.stores;
    let Some(workload) = stores.workloads.get(&key) else {
        return Ok(Next::OnChange);
    };
    let pods = stores.pods_of(&key);
    let placed = match ungate(&workload, pods.iter().map(Arc::as_ref)) {
        Ok(placed) => placed,
        Err(error) => {
            // Nobody but the owner of the pods can mend it, and they look at the Workload.
            context.event(
                &*workload,
                REPORTER,
                Kind::Warning,
                "InvalidPodIndexOffset",
                error.to_string(),
            );
            return Ok(Next::OnChange);
        }
    };
    for placement in &placed {
        let pod = pods
            .iter()
            .find(|pod| pod.metadata.name.as_deref() == Some(&placement.pod));
        if let Some(pod) = pod {
            place(&context, pod, placement).await?;
            context.metrics.gate_removed(
                gates::TOPOLOGY,
                &workload,
                &context.world.around(&workload),
                (context.clock)(),
            );
        }
    }
    Ok(Next::OnChange)
}

async fn place(context: &Context, pod: &Pod, placement: &Placement) -> Result<(), WriteError> {
    let spec = pod.spec.clone().unwrap_or_default();
    let mut selector = spec.node_selector.unwrap_or_default();
    selector.extend(placement.node_selector.clone());
    let held: Vec<_> = spec
        .scheduling_gates
        .into_iter()
        .flatten()
        .filter(|gate| gate.name != gates::TOPOLOGY)
        .collect();
    let patch = json!({"spec": {"nodeSelector": selector, "schedulingGates": held}});
    context.wrote_pod(context.writer.namespaced(pod, patch, "place Pod").await)
}
