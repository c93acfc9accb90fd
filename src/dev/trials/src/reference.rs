//! Kueue v0.17.0's programs, built by the Go toolchain from its module and kept in the tools cache.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use exec::{Cmd, find_program};
use serde::Deserialize;

use crate::programs;

const MODULE: &str = "sigs.k8s.io/kueue";
const VERSION: &str = "v0.17.0";
/// What the module proxy must deliver.
const SUM: &str = "h1:7hzb38M4eKGzYW+CFv2s1L+swzzacUCHOCXxZmAV90I=";
const PACKAGES: [&str; 3] = [
    "test/performance/scheduler/runner",
    "test/performance/scheduler/minimalkueue",
    "cmd/kueue",
];

/// The reference on this machine.
#[derive(Clone, Debug)]
pub struct Reference {
    /// The folder of its module: configurations and CRDs are in it.
    pub module: PathBuf,
    /// Its performance harness.
    pub runner: PathBuf,
    /// Its manager for the harness.
    pub minimal: PathBuf,
    /// Its whole manager.
    pub manager: PathBuf,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Downloaded {
    dir: PathBuf,
    sum: String,
}

impl Reference {
    /// Finds the programs in the cache, or builds them, which takes minutes.
    ///
    /// # Errors
    /// Without Go, without a module proxy, or when the module is not the one that is pinned here.
    pub async fn obtain() -> anyhow::Result<Self> {
        let go = go()?;
        let module = format!("{MODULE}@{VERSION}");
        let output = Cmd::new(&go)
            .args(["mod", "download", "-json", &module])
            .run()
            .await?;
        let downloaded: Downloaded = serde_json::from_str(&output.stdout)?;
        if downloaded.sum != SUM {
            bail!("{module} has the sum {}, not {SUM}", downloaded.sum);
        }
        let folder = programs::cache()?.join(format!("kueue-{}", VERSION.trim_start_matches('v')));
        let place = |package: &str| folder.join(package.rsplit('/').next().unwrap_or(package));
        if !PACKAGES.iter().all(|package| place(package).exists()) {
            build(&go, &folder).await?;
        }
        let [runner, minimal, manager] = PACKAGES.map(place);
        Ok(Self {
            module: downloaded.dir,
            runner,
            minimal,
            manager,
        })
    }

    /// Its CRDs.
    #[must_use]
    pub fn crds(&self) -> PathBuf {
        self.module.join("config/components/crd/bases")
    }

    /// What its harness generates.
    #[must_use]
    pub fn generator(&self, name: &str) -> PathBuf {
        let configs = self.module.join("test/performance/scheduler/configs");
        configs.join(name).join("generator.yaml")
    }
}

async fn build(go: &Path, folder: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(folder)?;
    let packages = PACKAGES.map(|package| format!("{MODULE}/{package}@{VERSION}"));
    let built = Cmd::new(go)
        .env("GOBIN", folder)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .args(["install", "-trimpath", "-ldflags", "-s -w"])
        .args(packages)
        .run()
        .await;
    built
        .map(|_| ())
        .context("Kueue's programs cannot be built")
}

/// On the search path, or where its own installer puts it.
fn go() -> anyhow::Result<PathBuf> {
    let usual = PathBuf::from("/usr/local/go/bin/go");
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_program("go", &path)
        .or_else(|| usual.exists().then_some(usual))
        .context("no `go`: the reference is built from its Go module")
}
