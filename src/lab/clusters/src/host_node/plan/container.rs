//! The one container of a pod: what to run, with which environment, mounts, probes and limits.

use k8s_openapi::api::core::v1::{
    Container, EnvFromSource, EnvVar, EnvVarSource, PodSpec, ResourceFieldSelector, SecurityContext,
};

use super::{MountPlan, Needs, Probes, Refusal, VolumePlan, mounts, probe};
use crate::host_node::images::Image;

/// The user of images that name none, as in images without a shell.
const DEFAULT_USER: u32 = 65_532;

/// A container as the host node runs it; `$(NAME)` is still to be replaced in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) struct ContainerPlan {
    pub(in crate::host_node) name: String,
    pub(in crate::host_node) image: String,
    pub(in crate::host_node) program: Image,
    pub(in crate::host_node) argv: Vec<String>,
    pub(in crate::host_node) cwd: String,
    pub(in crate::host_node) env: Vec<EnvPlan>,
    pub(in crate::host_node) mounts: Vec<MountPlan>,
    pub(in crate::host_node) probes: Probes,
    pub(in crate::host_node) user: u32,
    pub(in crate::host_node) group: u32,
    /// Bytes of memory, when the container has a limit that can be read.
    pub(in crate::host_node) memory: Option<u64>,
}

/// One variable, or several from one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) enum EnvPlan {
    One {
        name: String,
        value: EnvValue,
    },
    AllOfConfigMap {
        name: String,
        prefix: String,
        optional: bool,
    },
    AllOfSecret {
        name: String,
        prefix: String,
        optional: bool,
    },
}

/// Where a variable's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) enum EnvValue {
    Literal(String),
    Field(String),
    ConfigMap {
        name: String,
        key: String,
        optional: bool,
    },
    Secret {
        name: String,
        key: String,
        optional: bool,
    },
}

impl EnvPlan {
    pub(super) fn add_to(&self, needs: &mut Needs) {
        match self {
            Self::AllOfConfigMap { name, .. }
            | Self::One {
                value: EnvValue::ConfigMap { name, .. },
                ..
            } => {
                needs.config_maps.insert(name.clone());
            }
            Self::AllOfSecret { name, .. }
            | Self::One {
                value: EnvValue::Secret { name, .. },
                ..
            } => {
                needs.secrets.insert(name.clone());
            }
            Self::One {
                value: EnvValue::Literal(_) | EnvValue::Field(_),
                ..
            } => {}
        }
    }
}

pub(super) fn plan(
    container: &Container,
    spec: &PodSpec,
    image: &Image,
    volumes: &[VolumePlan],
) -> Result<ContainerPlan, Refusal> {
    refuse_privileges(container.security_context.as_ref())?;
    let pod = spec.security_context.as_ref();
    let own = container.security_context.as_ref();
    let id = |own: Option<i64>, of_pod: Option<i64>| {
        own.or(of_pod)
            .and_then(|id| u32::try_from(id).ok())
            .unwrap_or(DEFAULT_USER)
    };
    Ok(ContainerPlan {
        name: container.name.clone(),
        image: container.image.clone().unwrap_or_default(),
        argv: argv(container, image)?,
        cwd: container
            .working_dir
            .clone()
            .unwrap_or_else(|| "/".to_owned()),
        env: env(container)?,
        mounts: mounts::mounts(container, volumes)?,
        probes: probe::probes(container)?,
        user: id(
            own.and_then(|context| context.run_as_user),
            pod.and_then(|context| context.run_as_user),
        ),
        group: id(
            own.and_then(|context| context.run_as_group),
            pod.and_then(|context| context.run_as_group),
        ),
        memory: memory(container),
        program: image.clone(),
    })
}

fn refuse_privileges(context: Option<&SecurityContext>) -> Result<(), Refusal> {
    let Some(context) = context else {
        return Ok(());
    };
    let added = context
        .capabilities
        .as_ref()
        .and_then(|capabilities| capabilities.add.as_ref());
    if context.privileged == Some(true) || added.is_some_and(|added| !added.is_empty()) {
        return Err(Refusal::unsupported(
            "privileged containers and added capabilities are not allowed on node plateforme",
        ));
    }
    Ok(())
}

/// The image holds one program; nothing else of this machine may be run through it.
fn argv(container: &Container, image: &Image) -> Result<Vec<String>, Refusal> {
    let mut argv = container.command.clone().unwrap_or_default();
    match argv.first() {
        None => argv.push(image.inside.clone()),
        Some(program) if *program == image.inside => {}
        Some(program) => {
            return Err(Refusal {
                reason: "RunContainerError",
                message: format!(
                    "exec {program:?}: no such file in this image; it holds only {}",
                    image.inside
                ),
            });
        }
    }
    argv.extend(container.args.clone().unwrap_or_default());
    Ok(argv)
}

/// Variables that change what a program loads before its first line. The program of an image is ours, and the pod's
/// author must not be able to put another one in its place.
fn refuse_loader_variables(container: &Container) -> Result<(), Refusal> {
    let names = container
        .env
        .iter()
        .flatten()
        .map(|variable| variable.name.as_str());
    match names.into_iter().find(|name| loads_code(name)) {
        Some(name) => Err(Refusal::unsupported(format!(
            "variable {name} cannot be set on node plateforme"
        ))),
        None => Ok(()),
    }
}

/// Whether the dynamic loader or the C library takes the name of a file from this variable.
pub(in crate::host_node) fn loads_code(name: &str) -> bool {
    name.starts_with("LD_")
        || matches!(
            name,
            "GCONV_PATH" | "GLIBC_TUNABLES" | "LOCPATH" | "NLSPATH"
        )
}

fn env(container: &Container) -> Result<Vec<EnvPlan>, Refusal> {
    refuse_loader_variables(container)?;
    let all = container.env_from.iter().flatten().map(all_of);
    let ones = container
        .env
        .iter()
        .flatten()
        .map(|variable| one(variable, container));
    all.chain(ones).collect()
}

fn all_of(source: &EnvFromSource) -> Result<EnvPlan, Refusal> {
    let prefix = source.prefix.clone().unwrap_or_default();
    match (&source.config_map_ref, &source.secret_ref) {
        (Some(map), None) => Ok(EnvPlan::AllOfConfigMap {
            name: map.name.clone(),
            prefix,
            optional: map.optional.unwrap_or(false),
        }),
        (None, Some(secret)) => Ok(EnvPlan::AllOfSecret {
            name: secret.name.clone(),
            prefix,
            optional: secret.optional.unwrap_or(false),
        }),
        _ => Err(Refusal::unsupported(
            "envFrom names neither a ConfigMap nor a Secret",
        )),
    }
}

fn one(variable: &EnvVar, container: &Container) -> Result<EnvPlan, Refusal> {
    let value = match &variable.value_from {
        None => EnvValue::Literal(variable.value.clone().unwrap_or_default()),
        Some(source) => value_from(source, container)?,
    };
    Ok(EnvPlan::One {
        name: variable.name.clone(),
        value,
    })
}

fn value_from(source: &EnvVarSource, container: &Container) -> Result<EnvValue, Refusal> {
    if let Some(field) = &source.field_ref {
        return Ok(EnvValue::Field(field.field_path.clone()));
    }
    if let Some(key) = &source.config_map_key_ref {
        let optional = key.optional.unwrap_or(false);
        return Ok(EnvValue::ConfigMap {
            name: key.name.clone(),
            key: key.key.clone(),
            optional,
        });
    }
    if let Some(key) = &source.secret_key_ref {
        let optional = key.optional.unwrap_or(false);
        return Ok(EnvValue::Secret {
            name: key.name.clone(),
            key: key.key.clone(),
            optional,
        });
    }
    source.resource_field_ref.as_ref().and_then(|field| resource(field, container)).map(EnvValue::Literal).ok_or_else(|| {
        Refusal::unsupported("valueFrom is fieldRef, configMapKeyRef, secretKeyRef, or resourceFieldRef of cpu or memory")
    })
}

/// `limits.cpu` in whole cores (rounded up), `limits.memory` in bytes; the same for requests.
fn resource(field: &ResourceFieldSelector, container: &Container) -> Option<String> {
    let resources = container.resources.as_ref()?;
    let (list, name) = field.resource.split_once('.')?;
    let amounts = match list {
        "limits" => resources.limits.as_ref(),
        "requests" => resources.requests.as_ref(),
        _ => None,
    };
    let quantity = amounts?.get(name)?;
    match name {
        "memory" => bytes(&quantity.0).map(|bytes| bytes.to_string()),
        "cpu" => match quantity.0.strip_suffix('m') {
            Some(milli) => milli
                .parse::<u64>()
                .ok()
                .map(|milli| milli.div_ceil(1000).to_string()),
            None => Some(quantity.0.clone()),
        },
        _ => None,
    }
}

fn memory(container: &Container) -> Option<u64> {
    bytes(
        &container
            .resources
            .as_ref()?
            .limits
            .as_ref()?
            .get("memory")?
            .0,
    )
}

/// Whole quantities of bytes; fractions of a unit are not worth understanding for a limit.
fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("Ki", 1 << 10),
        ("Mi", 1 << 20),
        ("Gi", 1 << 30),
        ("Ti", 1 << 40),
        ("k", 1_000),
        ("M", 1_000_000),
        ("G", 1_000_000_000),
        ("T", 1_000_000_000_000),
    ];
    let unit = UNITS
        .iter()
        .find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1));
    number.parse::<u64>().ok()?.checked_mul(factor)
}
