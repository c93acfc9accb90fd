//! A provider on this machine for one test, with a data folder of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clusters::local::{LocalOptions, LocalProvider, Programs};
use clusters::profile::Profile;
use clusters::provider::{Environment, EnvironmentId, EnvironmentSpec, Provider, ProviderError};
use clusters::tools::{self, Tools};
use exec::{Cmd, Output};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Machine {
    pub(crate) data: TempDir,
    pub(crate) options: LocalOptions,
    pub(crate) tools: Tools,
}

impl Machine {
    /// `None` where the servers' programs are missing and that may be.
    pub(crate) async fn new() -> Option<Self> {
        let Some(tools) = find_tools().await else {
            assert!(
                std::env::var_os("CI").is_none(),
                "the tools are missing: run `cargo xtask tools` first"
            );
            eprintln!(
                "skipped: the servers' programs are not here (run `cargo xtask tools`, or set ATELIER_TOOLS_DIR)"
            );
            return None;
        };
        let data = tempfile::tempdir().unwrap();
        let programs = Programs {
            tools: tools.clone(),
            sandbox_relay: sandbox_relay(),
            manager: None,
        };
        let options = LocalOptions {
            data_dir: data.path().to_owned(),
            programs,
            supervisor: env!("CARGO_BIN_EXE_environment-supervisor").into(),
            concurrency: None,
            min_free_bytes: 0,
            kind: None,
        };
        Some(Self {
            data,
            options,
            tools,
        })
    }

    pub(crate) fn provider(&self) -> LocalProvider {
        LocalProvider::new(self.options.clone())
    }

    pub(crate) async fn create(
        &self,
        provider: &LocalProvider,
        id: &str,
    ) -> Result<Environment, ProviderError> {
        provider.create(spec(id), CancellationToken::new()).await
    }

    pub(crate) async fn kubectl(&self, kubeconfig: &Path, args: &[&str]) -> Output {
        let cmd = Cmd::new(&self.tools.kubectl)
            .arg("--kubeconfig")
            .arg(kubeconfig)
            .args(args);
        cmd.env("HOME", self.data.path())
            .deadline(Duration::from_secs(60))
            .output()
            .await
            .unwrap()
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.data.path().join("environments").join(id)
    }

    /// Processes of this machine that work somewhere in this test's folder.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let pids = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(|pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/cwd"))
                .is_ok_and(|cwd| cwd.starts_with(self.data.path()))
        })
        .collect()
    }

    /// The process of an environment's program.
    pub(crate) fn pid_of(&self, program: &str) -> Option<u32> {
        self.processes().into_iter().find(|pid| {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
            String::from_utf8_lossy(first).ends_with(program)
        })
    }
}

impl Drop for Machine {
    /// A failed test must not leave servers running; by their ids, and only those of this test's own folder.
    fn drop(&mut self) {
        for _ in 0..2 {
            for pid in self.processes() {
                exec::process::signal_process(pid, exec::process::Signal::KILL);
            }
        }
    }
}

pub(crate) fn id(id: &str) -> EnvironmentId {
    id.parse().unwrap()
}

pub(crate) fn spec(name: &str) -> EnvironmentSpec {
    let profiles = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../labs/profiles");
    let profile = Profile::load(&profiles.join("cassiopee-a100.yaml")).unwrap();
    EnvironmentSpec {
        id: id(name),
        profile,
    }
}

/// Cargo builds binaries of other packages only on request; the host node fails in words without it.
fn sandbox_relay() -> PathBuf {
    exec::sibling("sandbox-relay").unwrap_or_else(|| "sandbox-relay".into())
}

async fn find_tools() -> Option<Tools> {
    let home = std::env::var_os("HOME")
        .map(PathBuf::from)
        .unwrap_or_default();
    let mut options = tools::Options::new(home.join(".cache/atelier-kueue/tools"));
    options.dir = std::env::var_os("ATELIER_TOOLS_DIR").map(PathBuf::from);
    options.download = false;
    options.build = false;
    tools::obtain_all(&options, &CancellationToken::new(), &|_| ())
        .await
        .ok()
}

/// Waits for something another process does.
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(
        tokio::time::timeout(Duration::from_secs(120), waiting)
            .await
            .is_ok(),
        "did not happen: {what}"
    );
}
