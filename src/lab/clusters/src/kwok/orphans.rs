//! Pods that are being deleted on a node that is gone: no kubelet, real or simulated, will ever finish the deletion,
//! and the controller manager's own collector takes a minute. Here they go at once.

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::api::DeleteParams;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Finishes the deletion of pods whose node no longer exists, until cancelled.
pub async fn remove_orphans(client: Client, cancel: CancellationToken) {
    let pods = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default());
    let mut pods = pods.default_backoff().touched_objects().boxed();
    loop {
        let pod = tokio::select! {
            () = cancel.cancelled() => return,
            pod = pods.next() => pod,
        };
        match pod {
            Some(Ok(pod)) => finish_if_orphan(&client, &pod).await,
            Some(Err(error)) => warn!(%error, "watch pods for orphans"),
            None => return,
        }
    }
}

async fn finish_if_orphan(client: &Client, pod: &Pod) {
    let Some(node) = deleted_on(pod) else { return };
    let nodes = Api::<Node>::all(client.clone());
    if !matches!(nodes.get_metadata_opt(node).await, Ok(None)) {
        return;
    }
    let (namespace, name) = (pod.namespace().unwrap_or_default(), pod.name_any());
    info!(%namespace, %name, node, "finish the deletion of a pod whose node is gone");
    let at_once = DeleteParams::default().grace_period(0);
    if let Err(error) = Api::<Pod>::namespaced(client.clone(), &namespace)
        .delete(&name, &at_once)
        .await
    {
        warn!(%namespace, %name, %error, "delete a pod whose node is gone");
    }
}

/// The node of a pod that waits for its kubelet to finish a deletion.
fn deleted_on(pod: &Pod) -> Option<&str> {
    let waits = pod.metadata.deletion_timestamp.is_some()
        && pod.metadata.deletion_grace_period_seconds != Some(0);
    waits.then_some(pod.spec.as_ref()?.node_name.as_deref()?)
}
