//! What follows for placed workloads when a node fails, is deleted, or comes back. `Cache::remedies` decides, this carries out: the workload
//! notes the node so that a second turn finds another one, or leaves. Reference section 4.14 ("Node failures").

use std::sync::Arc;
use std::time::Duration;

use cache::topology::node_changes;
use cache::{Draft, Eviction, NodeNews, Remedies, Remedy, WorkloadKey};
use k8s_openapi::api::core::v1::{Node, Pod};
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::{UnhealthyNode, Workload, WorkloadStatus};
use scheduler::topology::HOSTNAME;
use serde_json::json;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind;
use crate::key::Key;
use crate::work_queue::Next;
use crate::write::WriteError;

const REPORTER: &str = "kueue-tas-node-controller";

/// The node that a pod runs on or was told to run on.
pub(crate) fn of(pod: &Pod) -> Option<&str> {
    let spec = pod.spec.as_ref()?;
    let told = || {
        spec.node_selector
            .as_ref()?
            .get(HOSTNAME)
            .map(String::as_str)
    };
    spec.node_name
        .as_deref()
        .filter(|name| !name.is_empty())
        .or_else(told)
}

fn readiness(node: &Node) -> Option<&str> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    let ready = conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")?;
    Some(&ready.status)
}

/// Whether a node is not what workloads want: not ready, or tainted.
pub(crate) fn is_troubled(node: &Node) -> bool {
    let tainted = node
        .spec
        .as_ref()
        .and_then(|spec| spec.taints.as_ref())
        .is_some_and(|taints| !taints.is_empty());
    tainted || readiness(node) != Some("True")
}

/// Whether two states of a node differ in what workloads on it depend on.
pub(crate) fn differ(before: &Node, after: &Node) -> bool {
    let changes = node_changes(before, after);
    before.metadata.uid != after.metadata.uid || changes.conditions || changes.taints
}

/// Looks at one node.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let remedies = remedies(&context, &key);
    for (workload, remedy) in &remedies.workloads {
        carry_out(&context, &key.name, workload, remedy).await?;
    }
    for (namespace, name) in &remedies.pods {
        give_up(&context, &Key::new(namespace, name)).await?;
    }
    let again = remedies.again_after.map(Duration::try_from);
    Ok(again
        .and_then(Result::ok)
        .map_or(Next::OnChange, Next::After))
}

fn remedies(context: &Context, key: &Key) -> Remedies {
    let stores = &context.world.stores;
    let node = stores.nodes.get(key);
    let workloads: Vec<_> = stores
        .workloads
        .list()
        .into_iter()
        .filter(|workload| is_placed(workload))
        .collect();
    if workloads.is_empty() {
        return Remedies::default();
    }
    let pods = stores.pods.list();
    let news = NodeNews {
        name: &key.name,
        node: node.as_deref(),
        workloads: &workloads.iter().map(Arc::as_ref).collect::<Vec<_>>(),
        pods: &pods
            .iter()
            .map(Arc::as_ref)
            .filter(|pod| of(pod) == Some(&key.name))
            .collect::<Vec<_>>(),
    };
    context
        .world
        .cache
        .lock()
        .remedies(&news, (context.clock)())
}

/// Whether a workload was given places in a topology and is not over.
pub(crate) fn is_placed(workload: &Workload) -> bool {
    let admission = workload
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    let mut assigned = admission
        .into_iter()
        .flat_map(|admission| &admission.pod_set_assignments);
    !workload.is_finished() && assigned.any(|assigned| assigned.topology_assignment.is_some())
}

async fn carry_out(
    context: &Context,
    node: &str,
    workload: &WorkloadKey,
    remedy: &Remedy,
) -> Result<(), WriteError> {
    let key = Key::new(workload.namespace.as_str(), &workload.name);
    let _right = context.world.locks.hold([key.clone()]).await;
    let Some(workload) = context.world.stores.workloads.get(&key) else {
        return Ok(());
    };
    let now = (context.clock)();
    let mut status: WorkloadStatus = workload.status.clone().unwrap_or_default();
    let mut eviction = None;
    match remedy {
        Remedy::Replace => {
            let name = node.to_owned();
            status.unhealthy_nodes.push(UnhealthyNode { name });
        }
        Remedy::Recovered => status.unhealthy_nodes.retain(|known| known.name != node),
        Remedy::Evict(message) => {
            let leaves = eviction.insert(Eviction::new(reasons::NODE_FAILURES, message));
            status = Draft::of(&workload, now).evicted(leaves).done();
        }
    }
    let written = context.writer.status(&workload, &status).await?;
    context.world.saw_workload(written);
    if let Some(eviction) = eviction {
        let (kind, reason) = (Kind::Normal, eviction.event());
        context.event(&*workload, REPORTER, kind, &reason, eviction.message);
    }
    Ok(())
}

/// A pod that can never run where it was told to, fails, so that its owner makes another one.
async fn give_up(context: &Context, key: &Key) -> Result<(), WriteError> {
    let Some(pod) = context.world.stores.pods.get(key) else {
        return Ok(());
    };
    let patch = json!({"status": {"phase": "Failed"}});
    let written = context.writer.namespaced_status(&*pod, patch, "fail Pod");
    context.wrote_pod(written.await)
}
