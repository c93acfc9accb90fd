//! What happened to a pod's container → the pod status that the cluster sees. Pure.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
    ContainerStatus, HostIP, PodCondition, PodIP, PodStatus,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::addresses;
use super::plan::RestartPolicy;

/// The end of one run of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) code: i32,
    pub(super) reason: &'static str,
    pub(super) message: Option<String>,
    pub(super) started: Timestamp,
    pub(super) finished: Timestamp,
}

impl Ended {
    fn to_state(&self) -> ContainerState {
        let terminated = ContainerStateTerminated {
            exit_code: self.code,
            reason: Some(self.reason.to_owned()),
            message: self.message.clone(),
            started_at: Some(Time(self.started)),
            finished_at: Some(Time(self.finished)),
            ..ContainerStateTerminated::default()
        };
        ContainerState {
            terminated: Some(terminated),
            ..ContainerState::default()
        }
    }
}

/// What a container is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doing {
    Waiting {
        reason: &'static str,
        message: Option<String>,
    },
    Running {
        since: Timestamp,
        started: bool,
        ready: bool,
    },
    Ended(Ended),
}

/// Everything about a pod that its status shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PodState {
    pub(super) container: String,
    pub(super) image: String,
    pub(super) restart: RestartPolicy,
    pub(super) doing: Doing,
    pub(super) last: Option<Ended>,
    pub(super) restarts: i32,
    pub(super) address: Option<IpAddr>,
    pub(super) start: Timestamp,
    /// Since when each condition has had its value.
    pub(super) conditions: BTreeMap<&'static str, (bool, Timestamp)>,
    /// The pod is being deleted: a container that ended is not waiting for another start.
    pub(super) deleting: bool,
}

/// The pod's phase.
pub(super) fn phase(state: &PodState) -> &'static str {
    match &state.doing {
        Doing::Ended(ended) if state.deleting || !state.restart.restarts(ended.code) => {
            if ended.code == 0 {
                "Succeeded"
            } else {
                "Failed"
            }
        }
        Doing::Running { .. } | Doing::Ended(_) => "Running",
        Doing::Waiting { .. } if state.last.is_some() => "Running",
        Doing::Waiting { .. } => "Pending",
    }
}

/// The status as it is to be written; also remembers since when each condition holds.
pub(super) fn render(state: &mut PodState, now: Timestamp) -> PodStatus {
    let phase = phase(state);
    let over = matches!(phase, "Succeeded" | "Failed");
    let ready = matches!(state.doing, Doing::Running { ready: true, .. });
    let why = if over {
        "PodCompleted"
    } else {
        "ContainersNotReady"
    };
    let unready = format!("containers with unready status: [{}]", state.container);
    let conditions = [
        (
            "PodReadyToStartContainers",
            state.address.is_some() && !over,
            None,
        ),
        ("Initialized", true, None),
        ("Ready", ready, Some(why)),
        ("ContainersReady", ready, Some(why)),
    ];
    let conditions =
        conditions.map(|(type_, value, why)| condition(state, type_, value, why, &unready, now));
    PodStatus {
        phase: Some(phase.to_owned()),
        conditions: Some(conditions.into()),
        container_statuses: Some(vec![container_status(state)]),
        host_ip: Some(addresses::NODE.to_string()),
        host_ips: Some(vec![HostIP {
            ip: addresses::NODE.to_string(),
        }]),
        pod_ip: state.address.map(|address| address.to_string()),
        pod_ips: state.address.map(|address| {
            vec![PodIP {
                ip: address.to_string(),
            }]
        }),
        start_time: Some(Time(state.start)),
        ..PodStatus::default()
    }
}

fn condition(
    state: &mut PodState,
    type_: &'static str,
    value: bool,
    why: Option<&str>,
    message: &str,
    now: Timestamp,
) -> PodCondition {
    let since = state.conditions.entry(type_).or_insert((value, now));
    if since.0 != value {
        *since = (value, now);
    }
    let explained = !value && why == Some("ContainersNotReady");
    PodCondition {
        type_: type_.to_owned(),
        status: if value { "True" } else { "False" }.to_owned(),
        // Explicitly empty: a strategic merge keeps what is left out.
        reason: Some(if value { "" } else { why.unwrap_or_default() }.to_owned()),
        message: Some(if explained { message } else { "" }.to_owned()),
        last_transition_time: Some(Time(since.1)),
        ..PodCondition::default()
    }
}

fn container_status(state: &PodState) -> ContainerStatus {
    let (shown, started, ready) = match &state.doing {
        Doing::Waiting { reason, message } => {
            let waiting = ContainerStateWaiting {
                reason: Some((*reason).to_owned()),
                message: message.clone(),
            };
            (
                ContainerState {
                    waiting: Some(waiting),
                    ..ContainerState::default()
                },
                false,
                false,
            )
        }
        Doing::Running {
            since,
            started,
            ready,
        } => {
            let running = ContainerStateRunning {
                started_at: Some(Time(*since)),
            };
            (
                ContainerState {
                    running: Some(running),
                    ..ContainerState::default()
                },
                *started,
                *ready,
            )
        }
        Doing::Ended(ended) => (ended.to_state(), false, false),
    };
    let ran = state.restarts > 0 || !matches!(state.doing, Doing::Waiting { .. });
    ContainerStatus {
        name: state.container.clone(),
        image: state.image.clone(),
        image_id: if ran {
            format!("atelier://{}", state.image)
        } else {
            String::new()
        },
        ready,
        started: Some(started),
        restart_count: state.restarts,
        state: Some(shown),
        last_state: state.last.as_ref().map(Ended::to_state),
        ..ContainerStatus::default()
    }
}
