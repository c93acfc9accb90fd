//! Probes with their defaults filled in and named ports looked up.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Container, Probe};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::Refusal;

/// The three probes of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::host_node) struct Probes {
    pub(in crate::host_node) startup: Option<ProbePlan>,
    pub(in crate::host_node) liveness: Option<ProbePlan>,
    pub(in crate::host_node) readiness: Option<ProbePlan>,
}

/// One probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) struct ProbePlan {
    pub(in crate::host_node) check: Check,
    pub(in crate::host_node) initial_delay: Duration,
    pub(in crate::host_node) period: Duration,
    pub(in crate::host_node) timeout: Duration,
    pub(in crate::host_node) successes: u32,
    pub(in crate::host_node) failures: u32,
}

/// What a probe does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) enum Check {
    Http {
        tls: bool,
        port: u16,
        path: String,
        headers: Vec<(String, String)>,
    },
    Tcp {
        port: u16,
    },
    Exec {
        command: Vec<String>,
    },
}

pub(super) fn probes(container: &Container) -> Result<Probes, Refusal> {
    let probe = |probe: &Option<Probe>| {
        probe
            .as_ref()
            .map(|probe| plan(probe, container))
            .transpose()
    };
    Ok(Probes {
        startup: probe(&container.startup_probe)?,
        liveness: probe(&container.liveness_probe)?,
        readiness: probe(&container.readiness_probe)?,
    })
}

fn plan(probe: &Probe, container: &Container) -> Result<ProbePlan, Refusal> {
    let seconds = |value: Option<i32>, default: u64| {
        Duration::from_secs(
            value
                .and_then(|value| u64::try_from(value).ok())
                .unwrap_or(default),
        )
    };
    let times = |value: Option<i32>, default: u32| {
        value
            .and_then(|value| u32::try_from(value).ok())
            .filter(|value| *value > 0)
            .unwrap_or(default)
    };
    Ok(ProbePlan {
        check: check(probe, container)?,
        initial_delay: seconds(probe.initial_delay_seconds, 0),
        period: seconds(probe.period_seconds, 10).max(Duration::from_secs(1)),
        timeout: seconds(probe.timeout_seconds, 1).max(Duration::from_secs(1)),
        successes: times(probe.success_threshold, 1),
        failures: times(probe.failure_threshold, 3),
    })
}

fn check(probe: &Probe, container: &Container) -> Result<Check, Refusal> {
    if let Some(http) = &probe.http_get {
        let headers = http.http_headers.iter().flatten();
        return Ok(Check::Http {
            tls: http.scheme.as_deref() == Some("HTTPS"),
            port: port(&http.port, container)?,
            path: http.path.clone().unwrap_or_else(|| "/".to_owned()),
            headers: headers
                .map(|header| (header.name.clone(), header.value.clone()))
                .collect(),
        });
    }
    if let Some(tcp) = &probe.tcp_socket {
        return Ok(Check::Tcp {
            port: port(&tcp.port, container)?,
        });
    }
    if let Some(exec) = &probe.exec {
        return Ok(Check::Exec {
            command: exec.command.clone().unwrap_or_default(),
        });
    }
    Err(Refusal::unsupported(
        "a probe on node plateforme is httpGet, tcpSocket or exec",
    ))
}

fn port(port: &IntOrString, container: &Container) -> Result<u16, Refusal> {
    let number = match port {
        IntOrString::Int(number) => Some(*number),
        IntOrString::String(name) => {
            let named = container
                .ports
                .iter()
                .flatten()
                .find(|port| port.name.as_deref() == Some(name.as_str()));
            named
                .map(|port| port.container_port)
                .or_else(|| name.parse().ok())
        }
    };
    number
        .and_then(|number| u16::try_from(number).ok())
        .ok_or_else(|| {
            Refusal::unsupported("a probe names a port that the container does not have")
        })
}
