//! Applies a folder of CRDs and waits until the API server serves them.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, PostParams};

/// No plane takes longer to serve a kind.
const PATIENCE: Duration = Duration::from_secs(60);

/// Creates every CRD of a folder, without conversion webhooks, which nobody would serve here.
///
/// # Errors
/// When a file cannot be read or the API server refuses it.
pub async fn install(client: &Client, folder: &Path) -> anyhow::Result<()> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let mut crd: CustomResourceDefinition =
            serde_saphyr::from_str(&text).with_context(|| path.display().to_string())?;
        crd.spec.conversion = None;
        let created = api.create(&PostParams::default(), &crd).await;
        let created = created.with_context(|| path.display().to_string())?;
        served(&api, created.metadata.name.as_deref().unwrap_or_default()).await?;
    }
    Ok(())
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
