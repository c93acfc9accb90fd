//! Command line, with the names of the reference's manager.

use std::path::PathBuf;

use clap::Parser;
use telemetry::logging;

/// Rooms whose log follows `--zap-log-level`.
const ROOMS: &[&str] = &["kueue_manager", "controllers", "webhooks", "cache", "jobs"];

/// A Kueue controller for Kubernetes.
#[derive(Clone, Debug, Parser)]
#[command(name = "kueue-manager", version, about)]
pub(crate) struct Options {
    /// Configuration file (config.kueue.x-k8s.io/v1beta2, Configuration); without it, defaults apply
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// kubeconfig file; without it, the service account of the pod, then ~/.kube/config
    #[arg(long, env = "KUBECONFIG", value_name = "FILE")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// Feature gates, as in Name=true,Other=false
    #[arg(long, value_name = "GATES")]
    pub(crate) feature_gates: Option<String>,
    /// Log level: debug, info, warn, error, panic, or a number above 0 for more detail
    #[arg(long, default_value = "info", value_name = "LEVEL")]
    pub(crate) zap_log_level: String,
    /// Form of the log: json or console
    #[arg(long, default_value = "json", value_name = "FORM")]
    pub(crate) zap_encoder: String,
    /// Accepted as the reference's manager accepts them; this log has one form of time, and no stack traces
    #[arg(long, hide = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    pub(crate) zap_devel: Option<bool>,
    #[arg(long, hide = true, value_name = "LEVEL")]
    pub(crate) zap_stacktrace_level: Option<String>,
    #[arg(long, hide = true, value_name = "FORM")]
    pub(crate) zap_time_encoding: Option<String>,
    /// Address of /metrics, instead of the configuration's; 0 switches it off
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics_bind_address: Option<String>,
    /// Address of /healthz and /readyz, instead of the configuration's; 0 switches them off
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) health_probe_bind_address: Option<String>,
    /// Whether replicas elect a leader, instead of the configuration's leaderElection.leaderElect
    #[arg(long, value_name = "BOOL")]
    pub(crate) leader_elect: Option<bool>,
    /// Name of the pod, used in events and as part of the identity in the lease
    #[arg(long, env = "POD_NAME", value_name = "NAME")]
    pub(crate) pod_name: Option<String>,
    /// Namespace of the pod
    #[arg(long, env = "POD_NAMESPACE", value_name = "NAME")]
    pub(crate) pod_namespace: Option<String>,
    #[command(flatten)]
    pub(crate) harness: Harness,
}

/// What the reference's performance harness gives the manager that it starts, spelled as it spells them.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Harness {
    /// Port of /metrics without TLS and without asking who scrapes
    #[arg(long = "metricsPort", value_name = "PORT", hide = true)]
    pub(crate) metrics_port: Option<u16>,
    /// Topology-aware scheduling follows its feature gate; this is accepted and changes nothing
    #[arg(long = "enableTAS", num_args = 0..=1, default_missing_value = "true", require_equals = true, hide = true)]
    pub(crate) enable_tas: Option<bool>,
    /// Accepted; profiles are taken from outside, with `perf`
    #[arg(long = "cpuprofile", value_name = "FILE", hide = true)]
    pub(crate) cpu_profile: Option<PathBuf>,
    /// Accepted; profiles are taken from outside
    #[arg(long = "memprofile", value_name = "FILE", hide = true)]
    pub(crate) memory_profile: Option<PathBuf>,
}

impl Options {
    pub(crate) fn install_log(&self) -> anyhow::Result<()> {
        let level = logging::parse_level(&self.zap_log_level)?;
        let encoder = logging::parse_encoder(&self.zap_encoder)?;
        Ok(logging::install(level, encoder, ROOMS)?)
    }
}
