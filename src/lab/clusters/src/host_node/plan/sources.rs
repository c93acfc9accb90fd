//! What a projected volume is made of. ConfigMap, Secret and downward API volumes are projected volumes of one source.

use k8s_openapi::api::core::v1::{
    ConfigMapProjection, DownwardAPIVolumeFile, KeyToPath, SecretProjection,
    ServiceAccountTokenProjection, VolumeProjection,
};

use super::{Needs, Refusal};

/// One origin of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) enum Source {
    ConfigMap {
        name: String,
        items: Option<Vec<Item>>,
        optional: bool,
    },
    Secret {
        name: String,
        items: Option<Vec<Item>>,
        optional: bool,
    },
    Token {
        path: String,
        audience: Option<String>,
        expiration: i64,
    },
    Downward {
        files: Vec<(String, String)>,
    },
}

/// A key that becomes a file of another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host_node) struct Item {
    pub(in crate::host_node) key: String,
    pub(in crate::host_node) path: String,
    pub(in crate::host_node) mode: Option<u32>,
}

impl Source {
    pub(super) fn add_to(&self, needs: &mut Needs) {
        match self {
            Self::ConfigMap { name, .. } => drop(needs.config_maps.insert(name.clone())),
            Self::Secret { name, .. } => drop(needs.secrets.insert(name.clone())),
            Self::Token { .. } | Self::Downward { .. } => {}
        }
    }

    pub(super) fn config_map(projection: ConfigMapProjection) -> Result<Self, Refusal> {
        let ConfigMapProjection {
            name,
            items,
            optional,
        } = projection;
        Ok(Self::ConfigMap {
            name,
            items: to_items(items)?,
            optional: optional.unwrap_or(false),
        })
    }

    pub(super) fn secret(projection: SecretProjection) -> Result<Self, Refusal> {
        let SecretProjection {
            name,
            items,
            optional,
        } = projection;
        Ok(Self::Secret {
            name,
            items: to_items(items)?,
            optional: optional.unwrap_or(false),
        })
    }

    pub(super) fn downward(files: Option<Vec<DownwardAPIVolumeFile>>) -> Result<Self, Refusal> {
        let file = |file: DownwardAPIVolumeFile| match file.field_ref {
            Some(field) => Ok((safe(file.path)?, field.field_path)),
            None => Err(Refusal::unsupported(
                "resourceFieldRef in a volume is not supported on node plateforme",
            )),
        };
        let files = files
            .unwrap_or_default()
            .into_iter()
            .map(file)
            .collect::<Result<_, _>>()?;
        Ok(Self::Downward { files })
    }

    pub(super) fn projection(projection: VolumeProjection) -> Result<Self, Refusal> {
        let VolumeProjection {
            config_map,
            secret,
            service_account_token,
            downward_api,
            ..
        } = projection;
        match (config_map, secret, service_account_token, downward_api) {
            (Some(config_map), None, None, None) => Self::config_map(config_map),
            (None, Some(secret), None, None) => Self::secret(secret),
            (None, None, Some(token), None) => Self::token(token),
            (None, None, None, Some(downward)) => Self::downward(downward.items),
            _ => Err(Refusal::unsupported(
                "a projected volume on node plateforme is made of configMap, secret, serviceAccountToken and downwardAPI",
            )),
        }
    }

    fn token(token: ServiceAccountTokenProjection) -> Result<Self, Refusal> {
        // `user` only matters where files have several owners.
        let ServiceAccountTokenProjection {
            audience,
            expiration_seconds,
            path,
            user: _,
        } = token;
        let audience = audience.filter(|audience| !audience.is_empty());
        Ok(Self::Token {
            path: safe(path)?,
            audience,
            expiration: expiration_seconds.unwrap_or(3600),
        })
    }
}

fn to_items(items: Option<Vec<KeyToPath>>) -> Result<Option<Vec<Item>>, Refusal> {
    let item = |KeyToPath {
                    key,
                    mode,
                    path,
                    user: _,
                }| {
        Ok(Item {
            key,
            path: safe(path)?,
            mode: mode.and_then(|mode| u32::try_from(mode).ok()),
        })
    };
    items
        .map(|items| items.into_iter().map(item).collect())
        .transpose()
}

/// The API server checks these paths too; here they are about to become files of this machine.
fn safe(path: String) -> Result<String, Refusal> {
    let parts_are_plain = path
        .split('/')
        .all(|part| !part.is_empty() && part != "." && !part.starts_with(".."));
    if parts_are_plain {
        return Ok(path);
    }
    Err(Refusal::unsupported(format!(
        "{path:?} is not a path inside a volume"
    )))
}
