//! Whose devices they are: the kubelet's pod resources interface, as the real exporter asks it.

use std::path::Path;

use crate::plugin::rpc::{self, CallError};
use crate::usage::Owner;
use crate::{RESOURCE, wire};

/// Every container that holds devices of ours, with their ids.
pub(super) async fn list(socket: &Path) -> Result<Vec<(Owner, Vec<String>)>, CallError> {
    let channel = rpc::connect(socket).await?;
    let method = "/v1.PodResourcesLister/List";
    let answer: wire::ListPodResourcesResponse = rpc::call(channel, method, wire::Empty {}).await?;
    Ok(holders(answer))
}

fn holders(answer: wire::ListPodResourcesResponse) -> Vec<(Owner, Vec<String>)> {
    let mut holders = Vec::new();
    for pod in answer.pods {
        for container in pod.containers {
            let ours = container
                .devices
                .into_iter()
                .filter(|devices| devices.resource == RESOURCE);
            let mut ids: Vec<String> = ours.flat_map(|devices| devices.ids).collect();
            ids.sort();
            if ids.is_empty() {
                continue;
            }
            let owner = Owner {
                namespace: pod.namespace.clone(),
                pod: pod.name.clone(),
                container: container.name,
            };
            holders.push((owner, ids));
        }
    }
    holders
}
