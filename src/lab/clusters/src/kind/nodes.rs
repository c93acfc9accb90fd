//! What a cluster made by kind still lacks: its nodes' labels and taints, and system pods kept off simulated nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Secret};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::{Value, json};

use super::{gpus, plan, volumes};
use crate::host_node::{LABEL_VALUE, NODE_NAME, TAINT_KEY};
use crate::kwok::{NODE_LABEL, SIMULATED};
use crate::profile::{NodeSpec, Profile};

/// Value of [`NODE_LABEL`] on nodes that run real pods.
const REAL: &str = "reel";
/// How long a node's kubelet may take to say that it is ready; its network comes after its range.
const PATIENCE: Duration = Duration::from_secs(180);
const GPU: &str = "nvidia.com/gpu";
const PAUSE: Duration = Duration::from_millis(250);

/// Gives every container node its labels and taints, and waits until each is ready.
pub(crate) async fn furnish(client: &Client, profile: &Profile) -> Result<(), String> {
    keep_system_pods_off_simulated_nodes(client).await?;
    let nodes = Api::<Node>::all(client.clone());
    apply(&nodes, NODE_NAME, &host_patch()).await?;
    for spec in profile.nodes.iter().filter(|node| node.is_real()) {
        apply(&nodes, &spec.name, &real_patch(spec)).await?;
    }
    forget_the_way_in(client).await?;
    let class = volumes::class(client).await;
    class.map_err(|error| format!("make the class of volumes: {error}"))?;
    gpus::apply(client, profile).await?;
    let names = plan::workers(profile);
    let counted = |name: &str| {
        let spec = profile.nodes.iter().find(|node| node.name == name);
        spec.and_then(|node| node.capacity.get(GPU).cloned())
    };
    let each = names.iter().map(|name| ready(&nodes, name, counted(name)));
    let waiting = futures::future::join_all(each);
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .map(drop)
        .map_err(|_| {
            format!(
                "not every node of {} is ready, with its GPUs, after {} s",
                names.join(", "),
                PATIENCE.as_secs()
            )
        })
}

/// Every node has joined. The token it did that with is the same in all clusters of kind, and lets whoever knows it become a node.
async fn forget_the_way_in(client: &Client) -> Result<(), String> {
    let secrets = Api::<Secret>::namespaced(client.clone(), "kube-system");
    let tokens = ListParams::default().fields("type=bootstrap.kubernetes.io/token");
    let deleted = secrets
        .delete_collection(&DeleteParams::default(), &tokens)
        .await;
    deleted
        .map(drop)
        .map_err(|error| format!("remove the token with which nodes join: {error}"))
}

async fn apply(nodes: &Api<Node>, name: &str, patch: &Value) -> Result<(), String> {
    let params = PatchParams::default();
    nodes
        .patch(name, &params, &Patch::Strategic(patch))
        .await
        .map(drop)
        .map_err(|error| format!("label node {name}: {error}"))
}

fn host_patch() -> Value {
    json!({
        "metadata": {"labels": {NODE_LABEL: LABEL_VALUE}},
        "spec": {"taints": [{"key": TAINT_KEY, "value": "reservee", "effect": "NoSchedule"}]},
    })
}

fn real_patch(spec: &NodeSpec) -> Value {
    let mut labels: BTreeMap<&str, &str> = BTreeMap::new();
    for (key, value) in &spec.labels {
        labels.insert(key, value);
    }
    labels.insert(NODE_LABEL, REAL);
    let taints: Vec<Value> = spec
        .taints
        .iter()
        .map(|taint| json!({"key": taint.key, "value": taint.value, "effect": taint.effect.as_str()}))
        .collect();
    json!({"metadata": {"labels": labels}, "spec": {"taints": taints}})
}

/// Until the node's kubelet is ready and its device plugin has told of so many GPUs.
async fn ready(nodes: &Api<Node>, name: &str, gpus: Option<String>) {
    loop {
        let node = nodes.get_opt(name).await.ok().flatten();
        if node.is_some_and(|node| is_ready(&node, gpus.as_deref())) {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn is_ready(node: &Node, gpus: Option<&str>) -> bool {
    let Some(status) = &node.status else {
        return false;
    };
    let kubelet = status
        .conditions
        .iter()
        .flatten()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let told = status.allocatable.as_ref().and_then(|all| all.get(GPU));
    kubelet && gpus.is_none_or(|wanted| told.is_some_and(|told| told.0 == wanted))
}

/// A simulated node plays any pod that lands on it: DNS that is only played answers nobody.
async fn keep_system_pods_off_simulated_nodes(client: &Client) -> Result<(), String> {
    use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
    let elsewhere = json!({"spec": {"template": {"spec": {"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": NODE_LABEL, "operator": "NotIn", "values": [SIMULATED]},
        ]}]},
    }}}}}});
    let params = PatchParams::default();
    let patch = Patch::Strategic(&elsewhere);
    let failed =
        |what: &str, error: kube::Error| format!("keep {what} off simulated nodes: {error}");
    let proxies = Api::<DaemonSet>::namespaced(client.clone(), "kube-system");
    proxies
        .patch("kube-proxy", &params, &patch)
        .await
        .map_err(|error| failed("kube-proxy", error))?;
    let names = Api::<Deployment>::namespaced(client.clone(), "kube-system");
    let one = json!({"spec": {"replicas": 1, "template": elsewhere["spec"]["template"]}});
    names
        .patch("coredns", &params, &Patch::Strategic(&one))
        .await
        .map(drop)
        .map_err(|error| failed("DNS", error))
}
