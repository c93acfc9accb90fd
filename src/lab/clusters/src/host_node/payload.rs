//! What a container gets from the cluster: the files of its volumes and its environment. Pure: objects in, bytes out.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};

use super::expand::expand;
use super::plan::{
    EnvPlan, EnvValue, Item, PodPlan, Source, VolumeContent, VolumePlan, loads_code,
};

/// Objects that were read for a pod; what does not exist is not in the maps.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetched {
    pub(super) config_maps: BTreeMap<String, ConfigMap>,
    pub(super) secrets: BTreeMap<String, Secret>,
    /// Tokens by audience; the empty text stands for the API server's own.
    pub(super) tokens: BTreeMap<String, String>,
}

/// Why a container cannot be started yet; it waits until that changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Missing {
    #[error("configmap {0:?} not found")]
    ConfigMap(String),
    #[error("secret {0:?} not found")]
    Secret(String),
    #[error("key {key:?} not found in {kind} {name:?}")]
    Key {
        kind: &'static str,
        name: String,
        key: String,
    },
    #[error("no token for the pod's service account yet")]
    Token,
    #[error("field {0:?} cannot be read from a pod here")]
    Field(String),
}

/// A file of a volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) bytes: Vec<u8>,
    pub(super) mode: u32,
}

/// The files of one volume by path; nothing for an empty folder.
pub(super) fn files(
    volume: &VolumePlan,
    pod: &Pod,
    fetched: &Fetched,
) -> Result<BTreeMap<String, File>, Missing> {
    let mut files = BTreeMap::new();
    if let VolumeContent::Projected(sources) = &volume.content {
        for source in sources {
            add_source(source, volume.mode, pod, fetched, &mut files)?;
        }
    }
    Ok(files)
}

fn add_source(
    source: &Source,
    mode: u32,
    pod: &Pod,
    fetched: &Fetched,
    files: &mut BTreeMap<String, File>,
) -> Result<(), Missing> {
    match source {
        Source::ConfigMap {
            name,
            items,
            optional,
        } => match fetched.config_maps.get(name) {
            Some(map) => pick(
                "configmap",
                name,
                &config_map_bytes(map),
                items.as_deref(),
                *optional,
                mode,
                files,
            ),
            None if *optional => Ok(()),
            None => Err(Missing::ConfigMap(name.clone())),
        },
        Source::Secret {
            name,
            items,
            optional,
        } => match fetched.secrets.get(name) {
            Some(secret) => pick(
                "secret",
                name,
                &secret_bytes(secret),
                items.as_deref(),
                *optional,
                mode,
                files,
            ),
            None if *optional => Ok(()),
            None => Err(Missing::Secret(name.clone())),
        },
        Source::Token { path, audience, .. } => {
            let token = fetched
                .tokens
                .get(audience.as_deref().unwrap_or_default())
                .ok_or(Missing::Token)?;
            // A token is for its container alone, whatever the volume's mode says.
            files.insert(
                path.clone(),
                File {
                    bytes: token.clone().into_bytes(),
                    mode: 0o600,
                },
            );
            Ok(())
        }
        Source::Downward { files: wanted } => wanted.iter().try_for_each(|(path, field)| {
            let text = field_of(pod, field, None).ok_or_else(|| Missing::Field(field.clone()))?;
            files.insert(
                path.clone(),
                File {
                    bytes: text.into_bytes(),
                    mode,
                },
            );
            Ok(())
        }),
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one object, what is wanted of it, and where it goes"
)]
fn pick(
    kind: &'static str,
    name: &str,
    data: &BTreeMap<String, Vec<u8>>,
    items: Option<&[Item]>,
    optional: bool,
    mode: u32,
    files: &mut BTreeMap<String, File>,
) -> Result<(), Missing> {
    let Some(items) = items else {
        files.extend(data.iter().map(|(key, bytes)| {
            (
                key.clone(),
                File {
                    bytes: bytes.clone(),
                    mode,
                },
            )
        }));
        return Ok(());
    };
    for item in items {
        match data.get(&item.key) {
            Some(bytes) => {
                files.insert(
                    item.path.clone(),
                    File {
                        bytes: bytes.clone(),
                        mode: item.mode.unwrap_or(mode),
                    },
                );
            }
            None if optional => {}
            None => {
                return Err(Missing::Key {
                    kind,
                    name: name.to_owned(),
                    key: item.key.clone(),
                });
            }
        }
    }
    Ok(())
}

fn config_map_bytes(map: &ConfigMap) -> BTreeMap<String, Vec<u8>> {
    let texts = map
        .data
        .iter()
        .flatten()
        .map(|(key, text)| (key.clone(), text.clone().into_bytes()));
    let bytes = map
        .binary_data
        .iter()
        .flatten()
        .map(|(key, bytes)| (key.clone(), bytes.0.clone()));
    texts.chain(bytes).collect()
}

fn secret_bytes(secret: &Secret) -> BTreeMap<String, Vec<u8>> {
    secret
        .data
        .iter()
        .flatten()
        .map(|(key, bytes)| (key.clone(), bytes.0.clone()))
        .collect()
}

/// The environment of the container, `$(NAME)` replaced; later variables win.
pub(super) fn environment(
    plan: &PodPlan,
    pod: &Pod,
    address: &str,
    fetched: &Fetched,
) -> Result<BTreeMap<String, String>, Missing> {
    let mut known: BTreeMap<String, String> = builtin(plan);
    let own = |(name, _): &(String, String)| !loads_code(name);
    for env in &plan.container.env {
        match env {
            EnvPlan::AllOfConfigMap {
                name,
                prefix,
                optional,
            } => match fetched.config_maps.get(name) {
                Some(map) => known.extend(
                    prefixed(prefix, &config_map_bytes(map))
                        .into_iter()
                        .filter(own),
                ),
                None if *optional => {}
                None => return Err(Missing::ConfigMap(name.clone())),
            },
            EnvPlan::AllOfSecret {
                name,
                prefix,
                optional,
            } => match fetched.secrets.get(name) {
                Some(secret) => known.extend(
                    prefixed(prefix, &secret_bytes(secret))
                        .into_iter()
                        .filter(own),
                ),
                None if *optional => {}
                None => return Err(Missing::Secret(name.clone())),
            },
            EnvPlan::One { name, value } => {
                if let Some(value) = one(value, pod, address, fetched, &known)? {
                    known.insert(name.clone(), value);
                }
            }
        }
    }
    Ok(known)
}

/// What every container has. The API server is where the sandbox's relay listens.
fn builtin(plan: &PodPlan) -> BTreeMap<String, String> {
    let pairs = [
        (
            "PATH",
            "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        ),
        ("HOSTNAME", plan.hostname.as_str()),
        ("HOME", "/"),
        ("KUBERNETES_SERVICE_HOST", "127.0.0.1"),
        ("KUBERNETES_SERVICE_PORT", "6443"),
        ("KUBERNETES_SERVICE_PORT_HTTPS", "6443"),
        ("KUBERNETES_PORT", "tcp://127.0.0.1:6443"),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn prefixed(prefix: &str, data: &BTreeMap<String, Vec<u8>>) -> Vec<(String, String)> {
    data.iter()
        .map(|(key, bytes)| {
            (
                format!("{prefix}{key}"),
                String::from_utf8_lossy(bytes).into_owned(),
            )
        })
        .collect()
}

fn one(
    value: &EnvValue,
    pod: &Pod,
    address: &str,
    fetched: &Fetched,
    known: &BTreeMap<String, String>,
) -> Result<Option<String>, Missing> {
    match value {
        EnvValue::Literal(text) => Ok(Some(expand(text, known))),
        EnvValue::Field(field) => field_of(pod, field, Some(address))
            .map(Some)
            .ok_or_else(|| Missing::Field(field.clone())),
        EnvValue::ConfigMap {
            name,
            key,
            optional,
        } => {
            let data = fetched.config_maps.get(name).map(config_map_bytes);
            key_of("configmap", name, key, *optional, data)
        }
        EnvValue::Secret {
            name,
            key,
            optional,
        } => {
            let data = fetched.secrets.get(name).map(secret_bytes);
            key_of("secret", name, key, *optional, data)
        }
    }
}

fn key_of(
    kind: &'static str,
    name: &str,
    key: &str,
    optional: bool,
    data: Option<BTreeMap<String, Vec<u8>>>,
) -> Result<Option<String>, Missing> {
    let there = data.is_some();
    match data.and_then(|data| data.get(key).cloned()) {
        Some(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        None if optional => Ok(None),
        None if there => Err(Missing::Key {
            kind,
            name: name.to_owned(),
            key: key.to_owned(),
        }),
        None if kind == "secret" => Err(Missing::Secret(name.to_owned())),
        None => Err(Missing::ConfigMap(name.to_owned())),
    }
}

/// The fields of a pod that the downward API offers.
fn field_of(pod: &Pod, field: &str, address: Option<&str>) -> Option<String> {
    let meta = &pod.metadata;
    let spec = pod.spec.as_ref();
    let labels = || meta.labels.clone().unwrap_or_default();
    let annotations = || meta.annotations.clone().unwrap_or_default();
    let keyed = |prefix: &str| {
        field
            .strip_prefix(prefix)?
            .strip_suffix("']")
            .map(str::to_owned)
    };
    if let Some(key) = keyed("metadata.labels['") {
        return Some(labels().get(&key).cloned().unwrap_or_default());
    }
    if let Some(key) = keyed("metadata.annotations['") {
        return Some(annotations().get(&key).cloned().unwrap_or_default());
    }
    match field {
        "metadata.name" => meta.name.clone(),
        "metadata.namespace" => meta.namespace.clone(),
        "metadata.uid" => meta.uid.clone(),
        "metadata.labels" => Some(listed(&labels())),
        "metadata.annotations" => Some(listed(&annotations())),
        "spec.nodeName" => spec?.node_name.clone(),
        "spec.serviceAccountName" => spec?.service_account_name.clone(),
        "status.podIP" | "status.podIPs" => address.map(str::to_owned),
        "status.hostIP" | "status.hostIPs" => Some(super::addresses::NODE.to_string()),
        _ => None,
    }
}

fn listed(pairs: &BTreeMap<String, String>) -> String {
    pairs
        .iter()
        .map(|(key, value)| format!("{key}={value:?}"))
        .collect::<Vec<_>>()
        .join("\n")
}
