//! What kind is told about an environment's cluster: its nodes, their names, and the authority that signs for it.
//!
//! Values only. The cluster uses the environment's own certificate authority, so that the kubeconfigs of both providers are
//! made the same way and never read out of a container. Nodes get the names that the course uses, not their containers'.

use std::path::Path;

use serde_json::{Value, json};

use super::volumes;
use crate::host_node;
use crate::pki::AUTHORITY_KEY;
use crate::profile::{NodeSpec, Profile};

/// Where kubeadm keeps its certificate authority; it makes one only if none is there.
const AUTHORITY: [(&str, &str); 2] = [
    ("ca.pem", "/etc/kubernetes/pki/ca.crt"),
    (AUTHORITY_KEY, "/etc/kubernetes/pki/ca.key"),
];

/// Names of the Nodes that are containers, in the order of kind's workers: the one for the platform's programs, then those
/// of the profile that run real pods.
pub(super) fn workers(profile: &Profile) -> Vec<&str> {
    let real = profile.nodes.iter().filter(|node| node.is_real());
    std::iter::once(host_node::NODE_NAME)
        .chain(real.map(|node: &NodeSpec| node.name.as_str()))
        .collect()
}

/// The configuration of `kind create cluster`; JSON is YAML.
pub(super) fn cluster(profile: &Profile, pki: &Path, shared: &Path) -> String {
    let mounts: Vec<Value> = AUTHORITY
        .iter()
        .map(|(file, place)| {
            json!({"hostPath": pki.join(file), "containerPath": place, "readOnly": true})
        })
        .collect();
    let control_plane = json!({
        "role": "control-plane",
        "extraMounts": mounts,
        "kubeadmConfigPatches": [init(), api_server()],
    });
    let shared = json!([{"hostPath": shared, "containerPath": volumes::IN_NODE}]);
    let workers = workers(profile).into_iter().map(
        |name| json!({"role": "worker", "kubeadmConfigPatches": [join(name)], "extraMounts": shared}),
    );
    let nodes: Vec<Value> = std::iter::once(control_plane).chain(workers).collect();
    let config = json!({
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1"},
        "nodes": nodes,
    });
    format!("{config:#}\n")
}

/// The same number of nodes and nothing else.
pub(super) fn bare(profile: &Profile) -> String {
    let workers = workers(profile)
        .into_iter()
        .map(|_| json!({"role": "worker"}));
    let nodes: Vec<Value> = std::iter::once(json!({"role": "control-plane"}))
        .chain(workers)
        .collect();
    json!({"kind": "Cluster", "apiVersion": "kind.x-k8s.io/v1alpha4", "nodes": nodes}).to_string()
}

/// The name of the control plane's Node, which no course mentions.
pub(super) const CONTROL_PLANE: &str = "plan-de-controle";

fn init() -> String {
    json!({"kind": "InitConfiguration", "nodeRegistration": {"name": CONTROL_PLANE}}).to_string()
}

fn join(name: &str) -> String {
    json!({"kind": "JoinConfiguration", "nodeRegistration": {"name": name}}).to_string()
}

/// As the local provider tells its API server: events last a day, and nobody is let in without a name.
fn api_server() -> String {
    json!({
        "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": [{"name": "event-ttl", "value": "24h"}]},
        "etcd": {"local": {"extraArgs": [{"name": "unsafe-no-fsync", "value": "true"}]}},
    })
    .to_string()
}
