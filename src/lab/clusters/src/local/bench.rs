//! What an environment costs on this machine: time until usable against the bare servers, and private memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use exec::process::{group_members, private_memory};
use tokio_util::sync::CancellationToken;

use super::layout::Layout;
use super::record::{Record, Runtime, Wanted};
use super::{LocalOptions, LocalProvider, supervisor};
use crate::profile::Profile;
use crate::provider::{EnvironmentId, EnvironmentSpec, Provider, ProviderError};

/// Who uses how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    pub program: String,
    pub private_bytes: u64,
}

/// One run of the measurement.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The four servers, until the default service account exists.
    pub bare: Duration,
    /// An environment, until it is usable.
    pub ready: Duration,
    /// Private memory of everything an environment runs, some seconds after it became usable.
    pub memory: Vec<Memory>,
}

impl Measured {
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.ready.as_secs_f64() / self.bare.as_secs_f64()
    }

    #[must_use]
    pub fn private_bytes(&self) -> u64 {
        self.memory.iter().map(|memory| memory.private_bytes).sum()
    }
}

/// How long an environment is left alone before its memory is looked at.
const SETTLE: Duration = Duration::from_secs(10);

/// Measures a bare control plane and then an environment, in a folder of its own below the data folder.
pub async fn environment(
    options: LocalOptions,
    profile: Profile,
) -> Result<Measured, ProviderError> {
    let scratch = options.data_dir.join("bench");
    let _ = std::fs::remove_dir_all(&scratch);
    let measured = measure(
        LocalOptions {
            data_dir: scratch.clone(),
            ..options
        },
        profile,
    )
    .await;
    let _ = std::fs::remove_dir_all(&scratch);
    measured
}

async fn measure(options: LocalOptions, profile: Profile) -> Result<Measured, ProviderError> {
    let bare = bare(&options, &profile)
        .await
        .map_err(|reason| ProviderError::Unsuitable { reason })?;
    let provider = LocalProvider::new(options.clone());
    let id = EnvironmentId::for_account("bench");
    let begun = tokio::time::Instant::now();
    let environment = provider
        .create(
            EnvironmentSpec {
                id: id.clone(),
                profile,
            },
            CancellationToken::new(),
        )
        .await?;
    let ready = begun.elapsed();
    tokio::time::sleep(SETTLE).await;
    let memory = memory_of(&environment.dir);
    provider.delete(id).await?;
    Ok(Measured {
        bare,
        ready,
        memory,
    })
}

async fn bare(options: &LocalOptions, profile: &Profile) -> Result<Duration, String> {
    let layout = Layout::new(options.data_dir.join("bare"));
    for folder in layout.folders() {
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("create {}: {error}", folder.display()))?;
    }
    let record = Record {
        id: EnvironmentId::for_account("bare"),
        profile: profile.clone(),
        created: crate::clock::now(),
        wanted: Wanted::Created,
        programs: options.programs.clone(),
    };
    let begun = tokio::time::Instant::now();
    let result = supervisor::bare(layout, record, crate::clock::now).await;
    let taken = begun.elapsed();
    result.map(|()| taken)
}

/// Private memory of each program in the environment's process group.
#[must_use]
pub fn memory_of(dir: &Path) -> Vec<Memory> {
    let Some(runtime) = Runtime::read(&Layout::new(dir)) else {
        return Vec::new();
    };
    let mut memory: Vec<Memory> = group_members(runtime.pid)
        .into_iter()
        .filter_map(|pid| {
            Some(Memory {
                program: program(pid),
                private_bytes: private_memory(pid)?,
            })
        })
        .collect();
    memory.sort_by(|a, b| a.program.cmp(&b.program));
    memory
}

fn program(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let first = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let path = PathBuf::from(String::from_utf8_lossy(first).into_owned());
    path.file_name().map_or_else(
        || pid.to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}
