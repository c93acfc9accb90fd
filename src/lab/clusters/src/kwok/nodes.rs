//! Node objects of a profile. They are created Ready, with everything a kubelet would have reported, so that
//! scheduling can start before KWOK does.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    DaemonEndpoint, Namespace, Node, NodeAddress, NodeCondition, NodeDaemonEndpoints,
    NodeSpec as KubeNodeSpec, NodeStatus, NodeSystemInfo, Taint,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};

use super::{KwokError, NODE_LABEL, SIMULATED};
use crate::profile::{NodeSpec, Profile, TaintSpec};

/// Port on which the API server looks for a node's kubelet.
pub(crate) const KUBELET_PORT: u16 = 10_250;
const VERSION: &str = "v1.37.2";
/// Conditions of a healthy node: type, status, reason, message.
const CONDITIONS: [(&str, &str, &str, &str); 4] = [
    (
        "Ready",
        "True",
        "KubeletReady",
        "kubelet is posting ready status",
    ),
    (
        "MemoryPressure",
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    (
        "DiskPressure",
        "False",
        "KubeletHasNoDiskPressure",
        "kubelet has no disk pressure",
    ),
    (
        "PIDPressure",
        "False",
        "KubeletHasSufficientPID",
        "kubelet has sufficient PID available",
    ),
];

/// Creates the nodes of `profile`; those that exist already are left as they are.
///
/// # Errors
/// When the API server refuses a node.
pub async fn create_nodes(
    client: &Client,
    profile: &Profile,
    now: Timestamp,
) -> Result<(), KwokError> {
    let nodes = Api::<Node>::all(client.clone());
    for (index, spec) in profile.nodes.iter().enumerate() {
        let created = nodes
            .create(&PostParams::default(), &node_object(spec, index, now))
            .await;
        if let Err(source) = unless_there(created) {
            return Err(KwokError::CreateNode {
                node: spec.name.clone(),
                source,
            });
        }
    }
    Ok(())
}

/// Creates the namespaces of `profile`; those that exist already are left as they are.
///
/// # Errors
/// When the API server refuses a namespace.
pub async fn create_namespaces(client: &Client, profile: &Profile) -> Result<(), KwokError> {
    let namespaces = Api::<Namespace>::all(client.clone());
    for name in &profile.namespaces {
        let namespace = Namespace {
            metadata: ObjectMeta {
                name: Some(name.clone()),
                ..ObjectMeta::default()
            },
            ..Namespace::default()
        };
        if let Err(source) =
            unless_there(namespaces.create(&PostParams::default(), &namespace).await)
        {
            return Err(KwokError::CreateNamespace {
                namespace: name.clone(),
                source,
            });
        }
    }
    Ok(())
}

fn unless_there<T>(created: kube::Result<T>) -> kube::Result<()> {
    match created {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}

/// The Node object of one simulated node; `index` gives it an address of its own.
#[must_use]
pub fn node_object(spec: &NodeSpec, index: usize, now: Timestamp) -> Node {
    let mut labels = spec.labels.clone();
    labels.insert(NODE_LABEL.to_owned(), SIMULATED.to_owned());
    Node {
        metadata: ObjectMeta {
            name: Some(spec.name.clone()),
            labels: Some(labels),
            ..ObjectMeta::default()
        },
        spec: Some(KubeNodeSpec {
            taints: taints(&spec.taints),
            ..KubeNodeSpec::default()
        }),
        status: Some(status(&spec.name, &address(index), &spec.capacity, now)),
    }
}

/// An address that exists nowhere; only the egress proxy knows who answers for it.
fn address(index: usize) -> String {
    let number = index + 1;
    format!("10.246.{}.{}", number / 250, number % 250 + 1)
}

fn taints(specs: &[TaintSpec]) -> Option<Vec<Taint>> {
    let taint = |spec: &TaintSpec| Taint {
        key: spec.key.clone(),
        value: spec.value.clone(),
        effect: spec.effect.as_str().to_owned(),
        time_added: None,
    };
    (!specs.is_empty()).then(|| specs.iter().map(taint).collect())
}

/// What a healthy kubelet reports.
pub(crate) fn status(
    name: &str,
    address: &str,
    capacity: &BTreeMap<String, String>,
    now: Timestamp,
) -> NodeStatus {
    let capacity: BTreeMap<String, Quantity> = capacity
        .iter()
        .map(|(resource, amount)| (resource.clone(), Quantity(amount.clone())))
        .collect();
    let node_address = |type_: &str, address: &str| NodeAddress {
        type_: type_.to_owned(),
        address: address.to_owned(),
    };
    NodeStatus {
        addresses: Some(vec![
            node_address("InternalIP", address),
            node_address("Hostname", name),
        ]),
        allocatable: Some(capacity.clone()),
        capacity: Some(capacity),
        conditions: Some(conditions(now)),
        daemon_endpoints: Some(NodeDaemonEndpoints {
            kubelet_endpoint: Some(DaemonEndpoint {
                port: i32::from(KUBELET_PORT),
            }),
        }),
        node_info: Some(NodeSystemInfo {
            architecture: "amd64".to_owned(),
            operating_system: "linux".to_owned(),
            kubelet_version: VERSION.to_owned(),
            os_image: "Atelier Kueue".to_owned(),
            container_runtime_version: "atelier://0.1".to_owned(),
            ..NodeSystemInfo::default()
        }),
        ..NodeStatus::default()
    }
}

/// The conditions of a healthy node, as of `now`.
pub(crate) fn conditions(now: Timestamp) -> Vec<NodeCondition> {
    let condition = |(type_, status, reason, message): (&str, &str, &str, &str)| NodeCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_heartbeat_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    };
    CONDITIONS.into_iter().map(condition).collect()
}
