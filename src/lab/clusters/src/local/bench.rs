//! What an environment costs on this machine: time until usable against the bare servers, and private memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use exec::process::{group_members, private_memory};
use tokio_util::sync::CancellationToken;

use super::layout::Layout;
use super::record::{Record, Runtime, Wanted};
use super::{LocalOptions, LocalProvider, supervisor};
use crate::kind;
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

const ROUNDS: u32 = 3;

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

/// Each in turn, so that whatever else the machine does meanwhile falls on both; the middle one counts.
async fn measure(options: LocalOptions, profile: Profile) -> Result<Measured, ProviderError> {
    let provider = LocalProvider::new(options.clone());
    let (mut bares, mut readies, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=ROUNDS {
        let bare = match &options.kind {
            None => bare(&options, &profile).await,
            Some(settings) => bare_kind(&options, settings, &profile).await,
        };
        bares.push(bare.map_err(|reason| ProviderError::Unsuitable { reason })?);
        let id = EnvironmentId::for_account("bench");
        let spec = EnvironmentSpec {
            id: id.clone(),
            profile: profile.clone(),
        };
        let begun = tokio::time::Instant::now();
        let environment = provider.create(spec, CancellationToken::new()).await?;
        readies.push(begun.elapsed());
        if round == ROUNDS {
            tokio::time::sleep(SETTLE).await;
            memory = memory_of(&environment.dir);
            if let Some(settings) = &options.kind {
                memory.extend(memory_of_containers(settings, &environment.dir).await);
            }
        }
        provider.delete(id).await?;
    }
    Ok(Measured {
        bare: middle(bares),
        ready: middle(readies),
        memory,
    })
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

async fn bare(options: &LocalOptions, profile: &Profile) -> Result<Duration, String> {
    let layout = Layout::new(options.data_dir.join("bare"));
    let _ = std::fs::remove_dir_all(layout.dir());
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
        kind: None,
    };
    let begun = tokio::time::Instant::now();
    let result = supervisor::bare(layout, record, crate::clock::now).await;
    let taken = begun.elapsed();
    result.map(|()| taken)
}

/// As many containers as the environment has, made by kind alone.
async fn bare_kind(
    options: &LocalOptions,
    settings: &kind::Settings,
    profile: &Profile,
) -> Result<Duration, String> {
    let layout = Layout::new(options.data_dir.join("bare"));
    for folder in layout.folders() {
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("create {}: {error}", folder.display()))?;
    }
    let cluster = kind::Cluster::of(settings, &layout);
    let begun = tokio::time::Instant::now();
    let result = cluster.bare(&layout, profile).await;
    let taken = begun.elapsed();
    kind::remove(settings, layout.dir(), result.is_err()).await?;
    result.map(|()| taken)
}

async fn memory_of_containers(settings: &kind::Settings, dir: &Path) -> Vec<Memory> {
    let used = kind::Cluster::of(settings, &Layout::new(dir))
        .memory()
        .await;
    let memory = |(program, private_bytes)| Memory {
        program,
        private_bytes,
    };
    used.unwrap_or_default().into_iter().map(memory).collect()
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
