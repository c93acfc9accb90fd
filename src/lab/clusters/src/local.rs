//! Environments as processes of this machine: the real servers, one supervisor for each environment.
//!
//! The provider starts supervisors, speaks to them over their sockets, and finds them again after the platform was
//! killed. What an environment consists of is in `servers` and in the supervisor's `start`.

mod acts;
pub mod bench;
mod inspect;
mod kubeconfig;
mod launch;
pub(crate) mod layout;
mod record;
mod servers;
mod slots;
mod supervisor;
mod sweep;

use std::future::Future;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use jiff::Timestamp;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::level_filters::LevelFilter;

pub use record::Programs;
pub use supervisor::SupervisorError;

use crate::provider::{
    Environment, EnvironmentId, EnvironmentSpec, Progress, Provider, ProviderError,
};
use layout::Layout;
use slots::Slots;

/// What the local provider works with.
#[derive(Debug, Clone)]
pub struct LocalOptions {
    /// Environments are in its folder `environments`.
    pub data_dir: PathBuf,
    pub programs: Programs,
    /// The `environment-supervisor` program.
    pub supervisor: PathBuf,
    /// How many starts go on at once; the others wait. `None` is as many as the machine has processors.
    pub concurrency: Option<NonZeroUsize>,
    /// No new environment when less than this is free on the disk.
    pub min_free_bytes: u64,
    /// Environments are kind clusters, made with these, instead of servers of this machine.
    pub kind: Option<crate::kind::Settings>,
}

/// Less than this and etcd soon fails in the middle of somebody's lab.
pub const MIN_FREE_BYTES: u64 = 1024 * 1024 * 1024;

impl LocalOptions {
    /// The usual options: supervisor and relay beside this program, and the controller if it is there.
    pub fn usual(data_dir: PathBuf, tools: crate::tools::Tools) -> Result<Self, exec::ExecError> {
        let beside = |name: &str| exec::sibling(name).unwrap_or_else(|| PathBuf::from(name));
        let sandbox_relay = beside("sandbox-relay");
        if !sandbox_relay.exists() {
            return Err(exec::ExecError::RelayMissing {
                path: sandbox_relay,
            });
        }
        let programs = Programs {
            tools,
            sandbox_relay,
            manager: exec::sibling("kueue-manager"),
        };
        let supervisor = beside("environment-supervisor");
        Ok(Self {
            data_dir,
            programs,
            supervisor,
            concurrency: None,
            min_free_bytes: MIN_FREE_BYTES,
            kind: None,
        })
    }

    /// The same options for environments that are kind clusters: each boot keeps two processors busy.
    #[must_use]
    pub fn with_kind(self, settings: crate::kind::Settings) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        Self {
            kind: Some(settings),
            concurrency: NonZeroUsize::new(processors.div_ceil(2)),
            ..self
        }
    }
}

/// Environments on this machine. Clones are the same provider.
#[derive(Debug, Clone)]
pub struct LocalProvider(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    options: LocalOptions,
    slots: Slots,
    starts: Semaphore,
    now: fn() -> Timestamp,
}

impl LocalProvider {
    /// A provider over the environments in the data folder. Call [`Provider::adopt`] once after this.
    #[must_use]
    pub fn new(options: LocalOptions) -> Self {
        let processors = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        let concurrency = options
            .concurrency
            .map_or(processors.max(2), NonZeroUsize::get);
        let inner = Inner {
            options,
            slots: Slots::default(),
            starts: Semaphore::new(concurrency),
            now: crate::clock::now,
        };
        Self(Arc::new(inner))
    }

    /// Runs an act to its end even if the caller goes away: half-done acts would leave something behind.
    fn to_end<T, F>(
        &self,
        act: impl FnOnce(Arc<Inner>) -> F,
    ) -> BoxFuture<'_, Result<T, ProviderError>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, ProviderError>> + Send + 'static,
    {
        let task = tokio::spawn(act(Arc::clone(&self.0)));
        async move {
            task.await.unwrap_or_else(|error| {
                Err(ProviderError::Unsuitable {
                    reason: format!("the act on the environment broke off: {error}"),
                })
            })
        }
        .boxed()
    }
}

impl Inner {
    fn environments(&self) -> PathBuf {
        self.options.data_dir.join("environments")
    }

    fn layout(&self, id: &EnvironmentId) -> Layout {
        Layout::new(self.environments().join(id.as_str()))
    }
}

impl Provider for LocalProvider {
    fn create(
        &self,
        spec: EnvironmentSpec,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        self.to_end(|inner| acts::create(inner, spec, cancel))
    }

    fn start(
        &self,
        id: EnvironmentId,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        self.to_end(|inner| acts::start(inner, id, cancel))
    }

    fn stop(&self, id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>> {
        self.to_end(|inner| acts::stop(inner, id))
    }

    fn delete(&self, id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>> {
        self.to_end(|inner| acts::delete(inner, id))
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>> {
        async { inspect::list(&self.0).await }.boxed()
    }

    fn get(&self, id: EnvironmentId) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        async move { inspect::get(&self.0, &id).await }.boxed()
    }

    fn subscribe(&self, id: EnvironmentId) -> BoxStream<'static, Progress> {
        let slot = self.0.slots.of(&id);
        launch::attach(&self.0, &id);
        slot.history.subscribe()
    }

    fn adopt(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>> {
        self.to_end(acts::adopt)
    }
}

/// Runs the environment in `dir` until it is asked to stop: the body of `environment-supervisor`. What it has to say
/// meanwhile, from `level` on, is in the environment's `logs/supervisor-journal.log`.
pub async fn supervise(dir: PathBuf, level: LevelFilter) -> Result<(), SupervisorError> {
    Box::pin(supervisor::run(dir, level, crate::clock::now)).await
}
