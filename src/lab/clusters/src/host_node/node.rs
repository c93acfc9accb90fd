//! The Node object of the host node and its heartbeat.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, NodeSpec, Taint};
use kube::api::{ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt as _};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Context, LABEL_VALUE, NODE_NAME, Options, TAINT_KEY, addresses};
use crate::kwok::{NODE_LABEL, node_status, renew_lease};

const HEARTBEAT: Duration = Duration::from_secs(10);
/// The status is refreshed less often than the lease, which is what the cluster looks at.
const BEATS_PER_STATUS: u32 = 30;

/// Creates the Node, or brings the one of an earlier run up to date.
pub(super) async fn register(options: &Options) -> kube::Result<()> {
    let nodes = Api::<Node>::all(options.client.clone());
    let now = (options.clock)();
    let uid = match nodes.create(&PostParams::default(), &object(now)).await {
        Ok(node) => node.uid(),
        Err(kube::Error::Api(status)) if status.code == 409 => {
            report(&nodes, now).await?;
            nodes.get_metadata(NODE_NAME).await?.uid()
        }
        Err(error) => return Err(error),
    };
    renew_lease(&options.client, NODE_NAME, &uid.unwrap_or_default(), now).await
}

fn object(now: Timestamp) -> Node {
    let labels = [
        ("kubernetes.io/hostname", NODE_NAME),
        ("kubernetes.io/os", "linux"),
        ("kubernetes.io/arch", "amd64"),
        (NODE_LABEL, LABEL_VALUE),
    ];
    let taint = Taint {
        key: TAINT_KEY.to_owned(),
        value: Some("reservee".to_owned()),
        effect: "NoSchedule".to_owned(),
        time_added: None,
    };
    Node {
        metadata: ObjectMeta {
            name: Some(NODE_NAME.to_owned()),
            labels: Some(
                labels
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value.to_owned()))
                    .collect(),
            ),
            ..ObjectMeta::default()
        },
        spec: Some(NodeSpec {
            taints: Some(vec![taint]),
            ..NodeSpec::default()
        }),
        status: Some(node_status(
            NODE_NAME,
            &addresses::NODE.to_string(),
            &capacity(),
            now,
        )),
    }
}

/// What pods may request here. It bounds how many there are; each process has limits of its own.
fn capacity() -> BTreeMap<String, String> {
    let amounts = [
        ("cpu", "4"),
        ("memory", "4Gi"),
        ("ephemeral-storage", "4Gi"),
        ("pods", "20"),
    ];
    amounts
        .into_iter()
        .map(|(resource, amount)| (resource.to_owned(), amount.to_owned()))
        .collect()
}

async fn report(nodes: &Api<Node>, now: Timestamp) -> kube::Result<()> {
    let status = node_status(NODE_NAME, &addresses::NODE.to_string(), &capacity(), now);
    let patch = Patch::Strategic(json!({"status": status}));
    nodes
        .patch_status(NODE_NAME, &PatchParams::default(), &patch)
        .await
        .map(drop)
}

/// Renews the node's lease, and now and then its status, until cancelled.
pub(super) async fn heartbeat(context: Arc<Context>, cancel: CancellationToken) {
    let nodes = Api::<Node>::all(context.options.client.clone());
    for beat in 1_u32.. {
        tokio::select! {
            () = cancel.cancelled() => return,
            () = tokio::time::sleep(HEARTBEAT) => {}
        }
        if let Err(error) = once(&context, &nodes, beat).await {
            warn!(%error, "heartbeat of the host node");
        }
    }
}

async fn once(context: &Context, nodes: &Api<Node>, beat: u32) -> kube::Result<()> {
    let now = context.now();
    match nodes.get_metadata_opt(NODE_NAME).await? {
        Some(node) => {
            renew_lease(
                &context.options.client,
                NODE_NAME,
                &node.uid().unwrap_or_default(),
                now,
            )
            .await?;
        }
        // Somebody with every right deleted it: it comes back.
        None => register(&context.options).await?,
    }
    if beat.is_multiple_of(BEATS_PER_STATUS) {
        report(nodes, now).await?;
    }
    Ok(())
}
