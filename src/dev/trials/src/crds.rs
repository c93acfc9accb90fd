//! Applies a folder of CRDs and waits until the API server serves them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};

/// No plane takes longer to serve a kind.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates every CRD of a folder, without conversion webhooks, which nobody would serve here.
///
/// # Errors
/// When a file cannot be read or the API server refuses it.
pub async fn install(client: &Client, folder: &Path) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for (path, crd) in read(folder)? {
        let created = api.create(&PostParams::default(), &crd).await;
        let created = created.with_context(|| path.display().to_string())?;
        served(&api, &created.name_any()).await?;
    }
    Ok(())
}

/// Puts every CRD of a folder in the place of the one that is there, as `kubectl apply --server-side --force-conflicts` does.
///
/// # Errors
/// When a file cannot be read or the API server refuses it.
pub async fn replace(client: &Client, folder: &Path) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let parameters = PatchParams::apply("kubectl").force();
    for (path, crd) in read(folder)? {
        let name = crd.name_any();
        let patched = api.patch(&name, &parameters, &Patch::Apply(&crd)).await;
        patched.with_context(|| path.display().to_string())?;
        served(&api, &name).await?;
    }
    Ok(())
}

fn read(folder: &Path) -> anyhow::Result<Vec<(PathBuf, CustomResourceDefinition)>> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let mut crd: CustomResourceDefinition =
            serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?;
        crd.spec.conversion = None;
        all.push((path, crd));
    }
    Ok(all)
}

async fn served(api: &Api<CustomResourceDefinition>, name: &str) -> anyhow::Result<()> {
    let until = async {
        loop {
            let crd = api.get(name).await?;
            let conditions = crd.status.and_then(|status| status.conditions);
            let established = conditions.into_iter().flatten();
            let mut established =
                established.filter(|one| one.type_ == "Established" && one.status == "True");
            if established.next().is_some() {
                return anyhow::Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, until)
        .await
        .with_context(|| format!("{name} is not served"))?
}
