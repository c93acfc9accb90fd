//! Volumes and where they are mounted.

use k8s_openapi::api::core::v1::{
    ConfigMapProjection, Container, PodSpec, SecretProjection, Volume, VolumeMount,
};

use super::{Refusal, Source};

/// A volume of a pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) struct VolumePlan {
    pub(in crate::host_node) name: String,
    pub(in crate::host_node) content: VolumeContent,
    /// Mode of files that name none.
    pub(in crate::host_node) mode: u32,
}

/// What is in a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) enum VolumeContent {
    Empty,
    Projected(Vec<Source>),
}

/// A volume in the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) struct MountPlan {
    pub(in crate::host_node) volume: String,
    pub(in crate::host_node) inside: String,
    pub(in crate::host_node) sub_path: Option<String>,
    pub(in crate::host_node) writable: bool,
}

const DEFAULT_MODE: u32 = 0o644;

pub(super) fn volumes(spec: &PodSpec) -> Result<Vec<VolumePlan>, Refusal> {
    spec.volumes.iter().flatten().cloned().map(volume).collect()
}

fn volume(volume: Volume) -> Result<VolumePlan, Refusal> {
    let name = volume.name.clone();
    let (sources, mode) = match volume {
        Volume {
            empty_dir: Some(_), ..
        } => {
            return Ok(VolumePlan {
                name,
                content: VolumeContent::Empty,
                mode: DEFAULT_MODE,
            });
        }
        Volume {
            config_map: Some(source),
            ..
        } => {
            let projection = ConfigMapProjection {
                name: source.name,
                items: source.items,
                optional: source.optional,
            };
            (vec![Source::config_map(projection)?], source.default_mode)
        }
        Volume {
            secret: Some(source),
            ..
        } => {
            let name = source.secret_name.unwrap_or_default();
            let projection = SecretProjection {
                name,
                items: source.items,
                optional: source.optional,
            };
            (vec![Source::secret(projection)?], source.default_mode)
        }
        Volume {
            downward_api: Some(source),
            ..
        } => (vec![Source::downward(source.items)?], source.default_mode),
        Volume {
            projected: Some(source),
            ..
        } => {
            let sources = source
                .sources
                .unwrap_or_default()
                .into_iter()
                .map(Source::projection);
            (sources.collect::<Result<_, _>>()?, source.default_mode)
        }
        other => return Err(unsupported(&other)),
    };
    let mode = mode
        .and_then(|mode| u32::try_from(mode).ok())
        .unwrap_or(DEFAULT_MODE);
    Ok(VolumePlan {
        name,
        content: VolumeContent::Projected(sources),
        mode,
    })
}

fn unsupported(volume: &Volume) -> Refusal {
    let kind = if volume.host_path.is_some() {
        "hostPath: this machine's files are not for pods"
    } else if volume.persistent_volume_claim.is_some() {
        "persistentVolumeClaim: there is no storage here"
    } else {
        "of a kind that node plateforme does not have"
    };
    let known = "emptyDir, configMap, secret, downwardAPI and projected can be used";
    Refusal::unsupported(format!("volume {:?} is {kind}; {known}", volume.name))
}

pub(super) fn mounts(
    container: &Container,
    volumes: &[VolumePlan],
) -> Result<Vec<MountPlan>, Refusal> {
    let mut mounts: Vec<MountPlan> = container
        .volume_mounts
        .iter()
        .flatten()
        .map(|mount| plan(mount, volumes))
        .collect::<Result<_, _>>()?;
    mounts.sort_by_key(|mount| mount.inside.matches('/').count());
    Ok(mounts)
}

fn plan(mount: &VolumeMount, volumes: &[VolumePlan]) -> Result<MountPlan, Refusal> {
    let volume = volumes
        .iter()
        .find(|volume| volume.name == mount.name)
        .ok_or_else(|| {
            Refusal::unsupported(format!("volume {:?} is mounted but not there", mount.name))
        })?;
    if mount.sub_path_expr.is_some()
        || mount
            .mount_propagation
            .as_deref()
            .is_some_and(|kind| kind != "None")
    {
        return Err(Refusal::unsupported(format!(
            "subPathExpr and mountPropagation of volume {:?} are not supported on node plateforme",
            mount.name
        )));
    }
    let sub_path = mount.sub_path.clone().filter(|path| !path.is_empty());
    if sub_path
        .as_deref()
        .is_some_and(|path| path.starts_with('/') || path.split('/').any(|part| part == ".."))
    {
        return Err(Refusal::unsupported(format!(
            "subPath of volume {:?} leads out of it",
            mount.name
        )));
    }
    Ok(MountPlan {
        volume: mount.name.clone(),
        inside: inside(&mount.mount_path)?,
        sub_path,
        writable: volume.content == VolumeContent::Empty && mount.read_only != Some(true),
    })
}

/// Where the volume really goes: `/var/run` is a link to `/run` in a sandbox, as on most machines.
fn inside(path: &str) -> Result<String, Refusal> {
    let forbidden = [
        "/",
        "/proc",
        "/sys",
        "/dev",
        "/usr",
        "/bin",
        "/lib",
        "/lib64",
        "/etc",
        "/run",
        "/run/atelier",
    ];
    let plain = path.trim_end_matches('/');
    if !plain.starts_with('/')
        || plain.split('/').any(|part| part == "..")
        || forbidden.contains(&plain)
    {
        return Err(Refusal::unsupported(format!(
            "nothing can be mounted at {path:?} on node plateforme"
        )));
    }
    Ok(plain
        .strip_prefix("/var/run/")
        .map_or_else(|| plain.to_owned(), |rest| format!("/run/{rest}")))
}
