//! Objects that a lab needs before the trainee gets a terminal (`setup/` of its folder): applied with the platform's own rights,
//! again without harm.

use kube::{
    Api, Client, Config,
    api::{DynamicObject, Patch, PatchParams},
    config::{KubeConfigOptions, Kubeconfig},
    core::GroupVersionKind,
    discovery,
};
use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error("read {path}: {reason}")]
    Read { path: PathBuf, reason: String },
    #[error("document {number} of {path}: {reason}")]
    Document {
        path: PathBuf,
        number: usize,
        reason: String,
    },
    #[error("apply {object} of {path}: {reason}")]
    Apply {
        path: PathBuf,
        object: String,
        reason: String,
    },
}

/// Applies the named files of a lab's `setup/` folder, in order.
///
/// # Errors
/// When a file cannot be read, or the API server refuses an object.
pub async fn apply(
    admin_kubeconfig: &Path,
    lab_dir: &Path,
    names: &[String],
) -> Result<(), SetupError> {
    if names.is_empty() {
        return Ok(());
    }
    let client = client(admin_kubeconfig).await?;
    for name in names {
        let path = lab_dir.join("setup").join(name);
        let text = tokio::fs::read_to_string(&path)
            .await
            .map_err(|error| SetupError::Read {
                path: path.clone(),
                reason: error.to_string(),
            })?;
        for (number, object) in documents(&path, &text)?.into_iter().enumerate() {
            one(&client, &path, number + 1, object).await?;
        }
    }
    Ok(())
}

async fn client(kubeconfig: &Path) -> Result<Client, SetupError> {
    let failed = |reason: String| SetupError::Read {
        path: kubeconfig.to_owned(),
        reason,
    };
    let read = Kubeconfig::read_from(kubeconfig).map_err(|error| failed(error.to_string()))?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|error| failed(error.to_string()))?;
    Client::try_from(config).map_err(|error| failed(error.to_string()))
}

fn documents(path: &Path, text: &str) -> Result<Vec<DynamicObject>, SetupError> {
    serde_saphyr::from_multiple(text).map_err(|error| SetupError::Document {
        path: path.to_owned(),
        number: 0,
        reason: error.to_string(),
    })
}

async fn one(
    client: &Client,
    path: &Path,
    number: usize,
    object: DynamicObject,
) -> Result<(), SetupError> {
    let document = |reason: &str| SetupError::Document {
        path: path.to_owned(),
        number,
        reason: reason.to_owned(),
    };
    let types = object
        .types
        .clone()
        .ok_or_else(|| document("apiVersion and kind are missing"))?;
    let name = object
        .metadata
        .name
        .clone()
        .ok_or_else(|| document("metadata.name is missing"))?;
    let kind = GroupVersionKind::try_from(&types).map_err(|error| document(&error.to_string()))?;
    let failed = |error: kube::Error| SetupError::Apply {
        path: path.to_owned(),
        object: format!("{}/{name}", types.kind),
        reason: error.to_string(),
    };
    let (resource, capabilities) = discovery::pinned_kind(client, &kind)
        .await
        .map_err(failed)?;
    let namespace = object
        .metadata
        .namespace
        .clone()
        .unwrap_or_else(|| "default".to_owned());
    let api: Api<DynamicObject> = match capabilities.scope {
        discovery::Scope::Namespaced => Api::namespaced_with(client.clone(), &namespace, &resource),
        discovery::Scope::Cluster => Api::all_with(client.clone(), &resource),
    };
    let params = PatchParams::apply("atelier").force();
    api.patch(&name, &params, &Patch::Apply(&object))
        .await
        .map_err(failed)?;
    Ok(())
}
