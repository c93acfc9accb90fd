//! The local provider from this program's options: where tools, helpers and data are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clusters::kind::Settings;
use clusters::local::{LocalOptions, LocalProvider};
use clusters::provider::{EnvironmentId, Provider};
use clusters::tools::Tools;

use super::Environments;
use super::shell::ShellKit;
use crate::options::{Options, ProviderName};

/// The account of a platform with a single trainee.
pub const SOLO: &str = "solo";

/// The provider of this machine.
///
/// # Errors
/// When a program that stands beside this one is missing.
pub fn provider(options: &Options, tools: Tools) -> anyhow::Result<Arc<dyn Provider>> {
    let local =
        LocalOptions::usual(options.data_dir(), tools).context("prepare local environments")?;
    let local = match options.provider() {
        ProviderName::Local => local,
        ProviderName::Kind => {
            let settings = kind_settings(options, &local.programs.tools);
            local.with_kind(settings)
        }
    };
    Ok(Arc::new(LocalProvider::new(local)))
}

/// What kind clusters of this machine are made with. An engine that is not there is told of when it is needed.
#[must_use]
pub fn kind_settings(options: &Options, tools: &Tools) -> Settings {
    let images = options.cache_dir().join("images");
    Settings::usual(tools.kind.clone(), &images, options.node_image())
}

/// The programs of the course, obtained if they must be; progress is printed.
///
/// # Errors
/// When a program is not to be had.
pub async fn tools(options: &Options) -> anyhow::Result<Tools> {
    crate::tools_cli::obtain(options, crate::tools_cli::Args::default()).await
}

/// What shells are made from. The chart stands in the source tree, beside the labs.
#[must_use]
pub fn shell_kit(options: &Options, tools: &Tools) -> ShellKit {
    let Tools { kubectl, helm, .. } = tools;
    let chart = chart_dir(options);
    ShellKit {
        data_dir: options.data_dir(),
        kubectl: kubectl.clone(),
        helm: helm.clone(),
        chart,
    }
}

/// The folder of the controller's Helm chart, whether it is there or not.
#[must_use]
pub fn chart_dir(options: &Options) -> PathBuf {
    let chart = options.labs_dir().join("../manifests/kueue");
    chart.canonicalize().unwrap_or(chart)
}

/// The service of the single trainee's environment.
///
/// # Errors
/// As [`provider`].
pub fn solo(options: &Options, tools: Tools) -> anyhow::Result<Environments> {
    let provider = provider(options, tools)?;
    Ok(Environments::new(
        provider,
        EnvironmentId::for_account(SOLO),
        options.profiles_dir(),
    ))
}

/// Logs of an environment's programs: names and files, in the order of the names.
#[must_use]
pub fn logs(environment_dir: &Path) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(environment_dir.join("logs"))
        .into_iter()
        .flatten()
        .flatten();
    let mut logs: Vec<(String, PathBuf)> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "log"))
        .filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path.clone())))
        .collect();
    logs.sort();
    logs
}

/// The trainee's kubeconfig for use on this machine, outside of the sandbox. Never the administrator's.
///
/// # Errors
/// When a file of the environment is missing or is not a kubeconfig.
pub fn kubeconfig_for_this_machine(trainee: &Path, admin: &Path) -> anyhow::Result<String> {
    let read = |path: &Path| -> anyhow::Result<serde_json::Value> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("read the kubeconfig {}", path.display()))
    };
    let (mut trainee, admin) = (read(trainee)?, read(admin)?);
    let server = admin
        .pointer("/clusters/0/cluster/server")
        .cloned()
        .context("find the address of the API server")?;
    if let Some(place) = trainee.pointer_mut("/clusters/0/cluster/server") {
        *place = server;
    }
    Ok(format!("{trainee:#}\n"))
}
