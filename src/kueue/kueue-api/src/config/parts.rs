//! The parts of the configuration that are values and no more: where the manager listens, how it leads, which frameworks
//! it has. Read and defaulted with the whole.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::Deserialize;

use super::metrics::{CustomLabel, LocalQueueMetrics};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// Address to listen on; empty is every address.
    pub host: String,
    pub port: u16,
    /// Folder of `tls.crt` and `tls.key`.
    pub cert_dir: String,
}

/// Where the visibility API is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibilityServer {
    pub bind_address: IpAddr,
    pub bind_port: u16,
}

impl VisibilityServer {
    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        SocketAddr::new(self.bind_address, self.bind_port)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    pub leader_elect: bool,
    pub resource_name: String,
    /// Namespace of the lease; the manager's own unless said otherwise.
    pub resource_namespace: String,
    pub lease_duration: Duration,
    pub renew_deadline: Duration,
    pub retry_period: Duration,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Metrics {
    /// `0` switches the endpoint off.
    pub bind_address: String,
    pub enable_cluster_queue_resources: bool,
    pub custom_labels: Vec<CustomLabel>,
    pub local_queues: LocalQueueMetrics,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub bind_address: String,
    pub readiness_endpoint: String,
    pub liveness_endpoint: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InternalCertManagement {
    pub enable: bool,
    pub webhook_service_name: String,
    pub webhook_secret_name: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClientConnection {
    /// Requests a second on average; negative is no limit.
    pub qps: f32,
    /// Requests at once.
    pub burst: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integrations {
    /// Those of the frameworks asked for that this controller has.
    pub frameworks: Vec<String>,
    /// Kinds that other controllers manage in our stead: `Kind.version.group`.
    pub external_frameworks: Vec<String>,
    /// Labels that a Workload takes over from its job.
    pub label_keys_to_copy: Vec<String>,
}

/// Sharing by dominant resource; there is none without this part of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct FairSharing {
    /// Rules of preemption, in the order in which they are tried.
    pub preemption_strategies: Vec<String>,
}
