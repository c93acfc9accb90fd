//! Leases of the simulated nodes, renewed from the supervisor. KWOK could do it, but then a KWOK that is frozen,
//! restarted or starved makes nodes `NotReady`, and Jobs look broken for no reason of the trainee's. A node that was
//! deleted is registered anew, as the kubelet of a machine that is still there would.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::api::core::v1::Node;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, OwnerReference};
use kube::api::{ListParams, ObjectMeta, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{NODE_LABEL, SIMULATED, create_nodes};
use crate::profile::Profile;

const RENEW_EVERY: Duration = Duration::from_secs(10);
/// Long enough for a machine that is very busy; the controller manager's grace period should not be shorter.
const LEASE_SECONDS: i32 = 300;
const MANAGER: &str = "atelier-heartbeat";

/// How many rounds a node stays away. Shorter than the 40 s after which the controller manager removes the pods of a
/// node that is gone: they go on, as containers do when only their Node object was deleted.
const ROUNDS_AWAY: u32 = 3;

/// Renews the leases of all simulated nodes, and registers deleted ones anew, until cancelled.
pub async fn keep_alive(
    client: Client,
    profile: Profile,
    clock: fn() -> Timestamp,
    cancel: CancellationToken,
) {
    let mut rounds_away = 0;
    loop {
        match renew_all(&client, clock()).await {
            Ok(renewed) if renewed < profile.nodes.len() => rounds_away += 1,
            Ok(_) => rounds_away = 0,
            Err(error) => warn!(%error, "renew the leases of simulated nodes"),
        }
        if rounds_away >= ROUNDS_AWAY {
            rounds_away = 0;
            if let Err(error) = create_nodes(&client, &profile, clock()).await {
                warn!(%error, "register deleted nodes anew");
            }
        }
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(RENEW_EVERY) => {}
        }
    }
}

/// Answers how many there are.
async fn renew_all(client: &Client, now: Timestamp) -> kube::Result<usize> {
    let simulated = ListParams::default().labels(&format!("{NODE_LABEL}={SIMULATED}"));
    let nodes = Api::<Node>::all(client.clone())
        .list_metadata(&simulated)
        .await?;
    for node in &nodes.items {
        let owner = (node.name_any(), node.uid().unwrap_or_default());
        renew(client, &owner.0, &owner.1, now).await?;
    }
    Ok(nodes.items.len())
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
