//! Create, start, stop, delete, adopt. Each act holds the environment's place, so acts on one follow each other.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::inspect::{self, alive, failed};
use super::launch::{Trouble, attach, launch};
use super::layout::Layout;
use super::record::{Record, Wanted, advice};
use super::{Inner, sweep};
use crate::kind::{self, Cluster};
use crate::profile::Profile;
use crate::provider::{
    Environment, EnvironmentId, EnvironmentSpec, EnvironmentState, Progress, ProviderError,
};

pub(super) async fn create(
    inner: Arc<Inner>,
    spec: EnvironmentSpec,
    cancel: CancellationToken,
) -> Result<Environment, ProviderError> {
    let EnvironmentSpec { id, profile } = spec;
    let slot = inner.slots.of(&id);
    let _acting = slot.acting.lock().await;
    let cancel = slot.begin(&cancel);
    let layout = inner.layout(&id);
    check_space(&inner)?;
    check_machine(&inner, &profile).await?;
    make_folder(&inner, &layout, &id)?;
    let programs = inner.options.programs.clone();
    let mut record = Record {
        id: id.clone(),
        profile,
        created: (inner.now)(),
        wanted: Wanted::Created,
        programs,
        kind: inner.options.kind.clone(),
    };
    let made = match record.write(&layout) {
        Ok(()) => launch(&inner, &id, &cancel).await,
        Err(error) => Err(Trouble::Failed {
            phase: None,
            reason: error.to_string(),
        }),
    };
    let usable = made.and_then(|()| {
        record.wanted = Wanted::Running;
        record.write(&layout).map_err(|error| Trouble::Failed {
            phase: None,
            reason: error.to_string(),
        })
    });
    if let Err(trouble) = usable {
        sweep::end_now(&layout).await;
        remove(&inner, &layout, &id, true).await?;
        slot.history.add(Progress::State(EnvironmentState::Stopped));
        return Err(trouble.into_error(&id, "create"));
    }
    inspect::get(&inner, &id).await
}

pub(super) async fn start(
    inner: Arc<Inner>,
    id: EnvironmentId,
    cancel: CancellationToken,
) -> Result<Environment, ProviderError> {
    let slot = inner.slots.of(&id);
    let _acting = slot.acting.lock().await;
    start_held(&inner, &id, &slot.begin(&cancel)).await
}

async fn start_held(
    inner: &Arc<Inner>,
    id: &EnvironmentId,
    cancel: &CancellationToken,
) -> Result<Environment, ProviderError> {
    let layout = inner.layout(id);
    let environment = inspect::get(inner, id).await?;
    if environment.state == EnvironmentState::Running {
        return Ok(environment);
    }
    sweep::end(&layout).await;
    let mut record =
        Record::read(&layout).map_err(|error| failed(id, "start", error.to_string()))?;
    record.wanted = Wanted::Running;
    // The platform may have been updated since.
    record.programs = inner.options.programs.clone();
    record.kind = settings_of(inner, record.kind);
    record
        .write(&layout)
        .map_err(|error| failed(id, "start", error.to_string()))?;
    if let Err(trouble) = launch(inner, id, cancel).await {
        sweep::end(&layout).await;
        let reason = match &trouble {
            Trouble::Cancelled => "its start was cancelled".to_owned(),
            Trouble::Failed { reason, .. } => reason.clone(),
        };
        inner
            .slots
            .of(id)
            .history
            .add(Progress::State(EnvironmentState::Broken { reason }));
        return Err(trouble.into_error(id, "start"));
    }
    inspect::get(inner, id).await
}

pub(super) async fn stop(inner: Arc<Inner>, id: EnvironmentId) -> Result<(), ProviderError> {
    let slot = inner.slots.of(&id);
    slot.cancel_current();
    let _acting = slot.acting.lock().await;
    let layout = inner.layout(&id);
    if !layout.dir().is_dir() {
        return Err(ProviderError::Unknown(id));
    }
    let mut record =
        Record::read(&layout).map_err(|error| failed(&id, "stop", error.to_string()))?;
    record.wanted = Wanted::Stopped;
    record
        .write(&layout)
        .map_err(|error| failed(&id, "stop", error.to_string()))?;
    halt(&inner, &layout, &id).await?;
    slot.history.add(Progress::State(EnvironmentState::Stopped));
    Ok(())
}

/// Ends the supervisor, and the containers of one that died without doing so itself.
async fn halt(inner: &Inner, layout: &Layout, id: &EnvironmentId) -> Result<(), ProviderError> {
    sweep::end(layout).await;
    match recorded_settings(inner, layout) {
        None => Ok(()),
        Some(settings) => {
            let down = Cluster::of(&settings, layout).down().await;
            down.map_err(|reason| failed(id, "stop", reason))
        }
    }
}

/// What a kind environment is gone on with. One made of servers stays that, whatever this platform makes new ones of.
pub(super) fn settings_of(
    inner: &Inner,
    recorded: Option<kind::Settings>,
) -> Option<kind::Settings> {
    recorded.map(|own| inner.options.kind.clone().unwrap_or(own))
}

/// The same for one whose record may be lost: then there may be containers all the same.
fn recorded_settings(inner: &Inner, layout: &Layout) -> Option<kind::Settings> {
    match Record::read(layout) {
        Ok(record) => settings_of(inner, record.kind),
        Err(_) => inner.options.kind.clone(),
    }
}

pub(super) async fn delete(inner: Arc<Inner>, id: EnvironmentId) -> Result<(), ProviderError> {
    let slot = inner.slots.of(&id);
    slot.cancel_current();
    let _acting = slot.acting.lock().await;
    let layout = inner.layout(&id);
    if !layout.dir().exists() {
        return Ok(());
    }
    // Noted first: if this program is killed in between, the next one goes on deleting.
    let mut broken_off = true;
    if let Ok(mut record) = Record::read(&layout) {
        broken_off = record.wanted == Wanted::Created;
        record.wanted = Wanted::Created;
        let _ = record.write(&layout);
    }
    sweep::end_now(&layout).await;
    remove(&inner, &layout, &id, broken_off).await?;
    slot.history.restart(EnvironmentState::Stopped);
    Ok(())
}

pub(super) async fn adopt(inner: Arc<Inner>) -> Result<Vec<Environment>, ProviderError> {
    let ids = inspect::ids(&inner);
    let adopted = ids.into_iter().map(|id| adopt_one(&inner, id));
    for (id, outcome) in futures::future::join_all(adopted).await {
        if let Err(error) = outcome {
            tracing::warn!(%id, %error, "environment could not be taken over");
        }
    }
    inspect::list(&inner).await
}

async fn adopt_one(
    inner: &Arc<Inner>,
    id: EnvironmentId,
) -> (EnvironmentId, Result<(), ProviderError>) {
    let slot = inner.slots.of(&id);
    let acting = slot.acting.lock().await;
    let layout = inner.layout(&id);
    let wanted = Record::read(&layout).map(|record| record.wanted);
    let outcome = match wanted {
        Ok(Wanted::Running) if alive(&layout) => Ok(()),
        Ok(Wanted::Running) => start_held(inner, &id, &slot.begin(&CancellationToken::new()))
            .await
            .map(drop),
        Ok(Wanted::Stopped) => halt(inner, &layout, &id).await,
        // Never usable, or being deleted, or not even written down: nobody can miss it.
        Ok(Wanted::Created) | Err(_) => {
            sweep::end_now(&layout).await;
            remove(inner, &layout, &id, true).await
        }
    };
    drop(acting);
    attach(inner, &id);
    (id, outcome)
}

/// Starts an environment again whose supervisor ended unasked, later and later, and not for ever.
pub(super) fn revive(inner: Arc<Inner>, id: EnvironmentId) -> BoxFuture<'static, ()> {
    async move {
        let slot = inner.slots.of(&id);
        for attempt in 0..5_u32 {
            tokio::time::sleep(Duration::from_secs(1 << attempt)).await;
            let _acting = slot.acting.lock().await;
            let layout = inner.layout(&id);
            let wanted = Record::read(&layout).is_ok_and(|record| record.wanted == Wanted::Running);
            if !wanted
                || alive(&layout)
                || start_held(&inner, &id, &slot.begin(&CancellationToken::new()))
                    .await
                    .is_ok()
            {
                return;
            }
        }
    }
    .boxed()
}

fn check_space(inner: &Inner) -> Result<(), ProviderError> {
    let dir = inner.environments();
    make_private(&dir).map_err(|error| unsuitable(&dir, &error))?;
    let Ok(disk) = rustix::fs::statvfs(&dir) else {
        return Ok(());
    };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= inner.options.min_free_bytes {
        return Ok(());
    }
    let mib = |bytes: u64| bytes / (1024 * 1024);
    Err(ProviderError::Unsuitable {
        reason: format!(
            "the disk of {} has {} MiB free, and a new environment needs {} MiB: free some space or choose another --data-dir",
            dir.display(),
            mib(free),
            mib(inner.options.min_free_bytes)
        ),
    })
}

/// Said before anything is begun: a cluster that fails half-way costs minutes.
async fn check_machine(inner: &Inner, profile: &Profile) -> Result<(), ProviderError> {
    let Some(settings) = &inner.options.kind else {
        return Ok(());
    };
    let facts = kind::preflight::facts(settings).await;
    match kind::preflight::refusal(&facts, settings, kind::node_count(profile)) {
        Some(reason) => Err(ProviderError::Unsuitable { reason }),
        None => Ok(()),
    }
}

/// Making the folder is also what decides between two who create the same environment.
fn make_folder(inner: &Inner, layout: &Layout, id: &EnvironmentId) -> Result<(), ProviderError> {
    match fs::DirBuilder::new().mode(0o700).create(layout.dir()) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(ProviderError::Exists(id.clone()));
        }
        Err(error) => return Err(unsuitable(&inner.environments(), &error)),
    }
    layout
        .folders()
        .iter()
        .try_for_each(|folder| make_private(folder))
        .map_err(|error| {
            let _ = fs::remove_dir_all(layout.dir());
            unsuitable(layout.dir(), &error)
        })
}

fn make_private(dir: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
}

fn unsuitable(dir: &Path, error: &io::Error) -> ProviderError {
    ProviderError::Unsuitable {
        reason: format!(
            "cannot make a folder in {}: {error}{}",
            dir.display(),
            advice(error)
        ),
    }
}

async fn remove(
    inner: &Inner,
    layout: &Layout,
    id: &EnvironmentId,
    broken_off: bool,
) -> Result<(), ProviderError> {
    // The folder last: while it is there, the next run goes on where this one is killed.
    if let Some(settings) = recorded_settings(inner, layout) {
        kind::remove(&settings, layout.dir(), broken_off)
            .await
            .map_err(|reason| failed(id, "delete", reason))?;
    }
    let remove = || match fs::remove_dir_all(layout.dir()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    // What a sandbox wrote while it was being killed may have come after its folder was read.
    remove().or_else(|_| remove()).map_err(|error| {
        failed(
            id,
            "delete",
            format!("remove {}: {error}", layout.dir().display()),
        )
    })
}
