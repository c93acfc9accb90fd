//! The manager's configuration file, `config.kueue.x-k8s.io/v1beta2` (`v1beta1` becomes that in `older.rs`). Decoding is strict: every field that is unknown, or known
//! to the reference but without effect here, is an error that names it. Nothing is read from the environment.

pub mod devices;
mod duration;
mod life;
mod metrics;
mod multikueue;
mod older;
mod parts;
mod profiles;
mod read;
mod resources;
mod rules;
mod tls;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelectorRequirement;

use crate::LabelSelector;
use crate::features::Features;
use crate::field::{FieldError, aggregate};
use crate::names::{SYSTEM_NAMESPACE, WEBHOOK_SECRET, WEBHOOK_SERVICE};
use read::Reader;
use resources::quota_check;

pub use duration::parse_duration;
pub use life::{AdmissionFairSharing, RequeuingTimestamp, WaitForPodsReady};
pub use metrics::{CustomLabel, LocalQueueMetrics};
pub use multikueue::{Dispatcher, MultiKueue};
pub use parts::{
    ClientConnection, FairSharing, Health, Integrations, InternalCertManagement, LeaderElection,
    Metrics, VisibilityServer, Webhook,
};
pub use resources::{QuotaCheckStrategy, ResourceTransformation, Resources};
pub use tls::Tls;

/// Label every namespace carries with its own name.
pub const NAMESPACE_NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Settings of the manager, complete.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// Where the manager runs, and keeps its Secret and its lease.
    pub namespace: String,
    pub webhook: Webhook,
    pub leader_election: LeaderElection,
    pub metrics: Metrics,
    pub health: Health,
    /// Reconcilers at work at once, by `Kind.group`.
    pub group_kind_concurrency: BTreeMap<String, u32>,
    pub manage_jobs_without_queue_name: bool,
    pub managed_jobs_namespace_selector: LabelSelector,
    pub internal_cert_management: InternalCertManagement,
    pub client_connection: ClientConnection,
    pub integrations: Integrations,
    pub resources: Resources,
    pub fair_sharing: Option<FairSharing>,
    pub visibility: VisibilityServer,
    pub tls: Tls,
    /// Has an effect unless a gate switches it off: see [`Configuration::pods_ready`].
    pub wait_for_pods_ready: WaitForPodsReady,
    pub admission_fair_sharing: Option<AdmissionFairSharing>,
    /// Has an effect unless the gate `MultiKueue` is off.
    pub multikueue: MultiKueue,
    /// How long finished Workloads are kept; absent for ever.
    pub retain_finished_workloads: Option<Duration>,
    /// How long jobs are kept whose Workloads Kueue deactivated; absent for ever.
    pub retain_deactivated_jobs: Option<Duration>,
    pub features: Features,
    /// What was asked for and is not there yet, to be said at start.
    pub warnings: Vec<String>,
}

/// The file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("configuration is not YAML: {0}")]
    Parse(String),
    #[error(
        "configuration has apiVersion {found:?} and kind {kind:?}: want apiVersion config.kueue.x-k8s.io/v1beta2 and kind Configuration"
    )]
    Version { found: String, kind: String },
    #[error("configuration cannot be used: {}", aggregate(.0))]
    Fields(Vec<FieldError>),
}

impl Configuration {
    /// Reads the file's text. `own_namespace` is where the process runs, when it runs in a pod.
    ///
    /// # Errors
    /// Names every field that is unknown, not supported, or has a value that cannot be used.
    pub fn parse(text: &str, own_namespace: Option<&str>) -> Result<Self, ConfigError> {
        let mut reader = Reader::parse(text)?;
        let configuration = Self::read(&mut reader, own_namespace.unwrap_or(SYSTEM_NAMESPACE));
        let mut errors = reader.finish();
        errors.extend(rules::check(&configuration));
        errors.extend(not_yet(&configuration));
        if errors.is_empty() {
            Ok(configuration)
        } else {
            Err(ConfigError::Fields(errors))
        }
    }

    /// What holds without a file.
    #[must_use]
    pub fn defaults(own_namespace: Option<&str>) -> Self {
        Self::read(
            &mut Reader::empty(),
            own_namespace.unwrap_or(SYSTEM_NAMESPACE),
        )
    }

    fn read(r: &mut Reader, own_namespace: &str) -> Self {
        let namespace = r.or("namespace", own_namespace.to_owned());
        Self {
            webhook: Webhook {
                host: r.or("webhook.host", String::new()),
                port: r.or("webhook.port", 9443),
                cert_dir: r.or(
                    "webhook.certDir",
                    "/tmp/k8s-webhook-server/serving-certs".to_owned(),
                ),
            },
            leader_election: leader_election(r, &namespace),
            metrics: Metrics {
                bind_address: r.or("metrics.bindAddress", ":8443".to_owned()),
                enable_cluster_queue_resources: r.or("metrics.enableClusterQueueResources", false),
                custom_labels: r.or("metrics.customLabels", Vec::new()),
                local_queues: r.or("metrics.localQueueMetrics", LocalQueueMetrics::default()),
            },
            health: Health {
                bind_address: r.or("health.healthProbeBindAddress", ":8081".to_owned()),
                readiness_endpoint: r.or("health.readinessEndpointName", "readyz".to_owned()),
                liveness_endpoint: r.or("health.livenessEndpointName", "healthz".to_owned()),
            },
            group_kind_concurrency: r.or("controller.groupKindConcurrency", BTreeMap::new()),
            manage_jobs_without_queue_name: r.or("manageJobsWithoutQueueName", false),
            managed_jobs_namespace_selector: r.or(
                "managedJobsNamespaceSelector",
                outside(&["kube-system", &namespace]),
            ),
            internal_cert_management: InternalCertManagement {
                enable: r.or("internalCertManagement.enable", true),
                webhook_service_name: r.or(
                    "internalCertManagement.webhookServiceName",
                    WEBHOOK_SERVICE.to_owned(),
                ),
                webhook_secret_name: r.or(
                    "internalCertManagement.webhookSecretName",
                    WEBHOOK_SECRET.to_owned(),
                ),
            },
            client_connection: ClientConnection {
                qps: r.or("clientConnection.qps", 300.0),
                burst: r.or("clientConnection.burst", 500),
            },
            integrations: Integrations {
                frameworks: frameworks(r),
                external_frameworks: r.or("integrations.externalFrameworks", Vec::new()),
                label_keys_to_copy: r.or("integrations.labelKeysToCopy", Vec::new()),
            },
            resources: Resources {
                exclude_resource_prefixes: r.or("resources.excludeResourcePrefixes", Vec::new()),
                transformations: r.or("resources.transformations", Vec::new()),
                quota_check_strategy: quota_check(r),
                device_class_mappings: r.or("resources.deviceClassMappings", Vec::new()),
            },
            fair_sharing: r.or("fairSharing", None),
            visibility: VisibilityServer {
                bind_address: r.or(
                    "visibilityServer.bindAddress",
                    IpAddr::V4(Ipv4Addr::UNSPECIFIED),
                ),
                bind_port: r.or("visibilityServer.bindPort", 8082),
            },
            tls: r.or("tls", Tls::default()),
            retain_finished_workloads: r
                .optional_duration("objectRetentionPolicies.workloads.afterFinished"),
            retain_deactivated_jobs: r
                .optional_duration("objectRetentionPolicies.workloads.afterDeactivatedByKueue"),
            wait_for_pods_ready: life::wait_for_pods_ready(r),
            admission_fair_sharing: life::admission_fair_sharing(r),
            multikueue: multikueue::multikueue(r),
            features: features(r),
            warnings: warnings(r),
            namespace,
        }
    }
}

/// What is read and has no effect yet: accepting it would promise a behaviour that does not come.
fn not_yet(configuration: &Configuration) -> Option<FieldError> {
    let devices = !configuration.resources.device_class_mappings.is_empty();
    devices.then(|| {
        let at = read::path("resources.deviceClassMappings");
        FieldError::forbidden(&at, read::NOT_SUPPORTED)
    })
}

fn leader_election(r: &mut Reader, namespace: &str) -> LeaderElection {
    let lock = r.or("leaderElection.resourceLock", "leases".to_owned());
    if lock != "leases" {
        r.fault(FieldError::not_supported(
            &read::path("leaderElection.resourceLock"),
            lock,
            ["leases"],
        ));
    }
    LeaderElection {
        leader_elect: r.or("leaderElection.leaderElect", true),
        resource_name: r.or(
            "leaderElection.resourceName",
            "c1f6bfd2.kueue.x-k8s.io".to_owned(),
        ),
        resource_namespace: r.or("leaderElection.resourceNamespace", namespace.to_owned()),
        lease_duration: r.duration("leaderElection.leaseDuration", Duration::from_secs(15)),
        renew_deadline: r.duration("leaderElection.renewDeadline", Duration::from_secs(10)),
        retry_period: r.duration("leaderElection.retryPeriod", Duration::from_secs(2)),
    }
}

fn frameworks(r: &mut Reader) -> Vec<String> {
    r.or("integrations.frameworks", vec!["batch/job".to_owned()])
}

fn warnings(r: &mut Reader) -> Vec<String> {
    r.without_effect(
        "controller.cacheSyncTimeout",
        "the controller waits for its watches as long as it takes, and is not ready before",
    );
    r.without_effect("pprofBindAddress", "there is no Go runtime to profile");
    r.take_warnings()
}

fn features(r: &mut Reader) -> Features {
    let gates = r.or("featureGates", BTreeMap::new());
    Features::start(&gates).unwrap_or_else(|errors| {
        errors.into_iter().for_each(|error| r.fault(error));
        Features::with(gates.clone())
    })
}

fn outside(namespaces: &[&str]) -> LabelSelector {
    let requirement = LabelSelectorRequirement {
        key: NAMESPACE_NAME_LABEL.to_owned(),
        operator: "NotIn".to_owned(),
        values: Some(namespaces.iter().map(|&name| name.to_owned()).collect()),
    };
    LabelSelector {
        match_expressions: Some(vec![requirement]),
        match_labels: None,
    }
}
