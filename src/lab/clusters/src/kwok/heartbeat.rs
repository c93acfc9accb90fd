//! Leases of the simulated nodes, renewed from the supervisor. KWOK could do it, but then a KWOK that is frozen,
//! restarted or starved makes nodes `NotReady`, and Jobs look broken for no reason of the trainee's.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, OwnerReference};
use kube::api::{ListParams, ObjectMeta, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{NODE_LABEL, SIMULATED};

const RENEW_EVERY: Duration = Duration::from_secs(10);
/// Long enough for a machine that is very busy; the controller manager's grace period should not be shorter.
const LEASE_SECONDS: i32 = 300;
const MANAGER: &str = "atelier-heartbeat";

/// Renews the leases of all simulated nodes until cancelled.
pub async fn keep_alive(client: Client, clock: fn() -> Timestamp, cancel: CancellationToken) {
    loop {
        if let Err(error) = renew_all(&client, clock()).await {
            warn!(%error, "renew the leases of simulated nodes");
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(RENEW_EVERY) => {}
        }
    }
}

async fn renew_all(client: &Client, now: Timestamp) -> kube::Result<()> {
    let simulated = ListParams::default().labels(&format!("{NODE_LABEL}={SIMULATED}"));
    let nodes = Api::<Node>::all(client.clone())
        .list_metadata(&simulated)
        .await?;
    for node in nodes.items {
        let owner = (node.name_any(), node.uid().unwrap_or_default());
        renew(client, &owner.0, &owner.1, now).await?;
    }
    Ok(())
}

/// Renews the lease of one node, creating it when it is not there.
pub(crate) async fn renew(
    client: &Client,
    node: &str,
    uid: &str,
    now: Timestamp,
) -> kube::Result<()> {
    let leases = Api::<Lease>::namespaced(client.clone(), "kube-node-lease");
    let lease = Lease {
        metadata: ObjectMeta {
            name: Some(node.to_owned()),
            owner_references: Some(vec![OwnerReference {
                api_version: "v1".to_owned(),
                kind: "Node".to_owned(),
                name: node.to_owned(),
                uid: uid.to_owned(),
                ..OwnerReference::default()
            }]),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some(node.to_owned()),
            lease_duration_seconds: Some(LEASE_SECONDS),
            renew_time: Some(MicroTime(now)),
            ..LeaseSpec::default()
        }),
    };
    leases
        .patch(
            node,
            &PatchParams::apply(MANAGER).force(),
            &Patch::Apply(&lease),
        )
        .await
        .map(drop)
}
