//! From a pod to what the host node will run, or to a refusal in words. Pure: it reads the pod and the table of images.
//!
//! Whatever is not understood is refused; nothing that was asked for is silently left out.

mod container;
mod mounts;
mod probe;
mod sources;

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Pod, PodSpec};

pub(super) use container::{ContainerPlan, EnvPlan, EnvValue, loads_code};
pub(super) use mounts::{MountPlan, VolumeContent, VolumePlan};
pub(super) use probe::{Check, ProbePlan, Probes};
pub(super) use sources::{Item, Source};

use super::images::{self, Image};

/// Why a pod, or its container, cannot be run here. It becomes the waiting state that `kubectl get pods` shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reason: &'static str,
    pub(super) message: String,
}

impl Refusal {
    fn unsupported(message: impl Into<String>) -> Self {
        Self {
            reason: "CreateContainerConfigError",
            message: message.into(),
        }
    }
}

/// Whether a container that ended is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartPolicy {
    Always,
    OnFailure,
    Never,
}

impl RestartPolicy {
    /// What this policy says about a container that ended with `code`.
    pub(super) fn restarts(self, code: i32) -> bool {
        match self {
            Self::Always => true,
            Self::OnFailure => code != 0,
            Self::Never => false,
        }
    }
}

/// A pod as the host node runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PodPlan {
    pub(super) restart: RestartPolicy,
    pub(super) grace: Duration,
    pub(super) service_account: String,
    pub(super) hostname: String,
    pub(super) volumes: Vec<VolumePlan>,
    pub(super) container: ContainerPlan,
}

/// The ConfigMaps and Secrets that a pod refers to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) config_maps: BTreeSet<String>,
    pub(super) secrets: BTreeSet<String>,
}

/// The plan of a pod.
pub(super) fn plan(pod: &Pod, images: &[Image]) -> Result<PodPlan, Refusal> {
    let spec = pod
        .spec
        .as_ref()
        .ok_or_else(|| Refusal::unsupported("the pod has no spec"))?;
    refuse_what_would_reach_the_host(spec)?;
    let [container] = spec.containers.as_slice() else {
        let count = spec.containers.len();
        return Err(Refusal::unsupported(format!(
            "node plateforme runs pods of one container, this one has {count}"
        )));
    };
    if spec
        .init_containers
        .as_ref()
        .is_some_and(|init| !init.is_empty())
    {
        return Err(Refusal::unsupported(
            "node plateforme runs no init containers",
        ));
    }
    let name = container.image.as_deref().unwrap_or_default();
    let image = images::find(images, name).ok_or_else(|| unknown_image(name, images))?;
    let volumes = mounts::volumes(spec)?;
    Ok(PodPlan {
        restart: restart_policy(spec),
        grace: Duration::from_secs(seconds(spec.termination_grace_period_seconds, 30)),
        service_account: spec
            .service_account_name
            .clone()
            .unwrap_or_else(|| "default".to_owned()),
        hostname: spec
            .hostname
            .clone()
            .or_else(|| pod.metadata.name.clone())
            .unwrap_or_default(),
        container: container::plan(container, spec, image, &volumes)?,
        volumes,
    })
}

fn unknown_image(name: &str, images: &[Image]) -> Refusal {
    Refusal {
        reason: "ErrImagePull",
        message: format!(
            "image {name:?} cannot be run here: node plateforme downloads nothing and knows only {}; \
             other pods belong on the simulated nodes",
            images::in_words(images)
        ),
    }
}

fn refuse_what_would_reach_the_host(spec: &PodSpec) -> Result<(), Refusal> {
    let asked = [
        ("hostNetwork", spec.host_network),
        ("hostPID", spec.host_pid),
        ("hostIPC", spec.host_ipc),
        ("shareProcessNamespace", spec.share_process_namespace),
    ];
    match asked.into_iter().find(|(_, value)| *value == Some(true)) {
        Some((field, _)) => Err(Refusal::unsupported(format!(
            "{field} is not allowed on node plateforme"
        ))),
        None => Ok(()),
    }
}

fn restart_policy(spec: &PodSpec) -> RestartPolicy {
    match spec.restart_policy.as_deref() {
        Some("Never") => RestartPolicy::Never,
        Some("OnFailure") => RestartPolicy::OnFailure,
        _ => RestartPolicy::Always,
    }
}

/// A number of seconds that may be missing; negative ones count as zero.
fn seconds(value: Option<i64>, default: u64) -> u64 {
    value.map_or(default, |value| u64::try_from(value).unwrap_or(0))
}

impl PodPlan {
    /// Every object that must be read before the container can start.
    pub(super) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for volume in &self.volumes {
            if let VolumeContent::Projected(sources) = &volume.content {
                sources.iter().for_each(|source| source.add_to(&mut needs));
            }
        }
        self.container
            .env
            .iter()
            .for_each(|env| env.add_to(&mut needs));
        needs
    }
}
