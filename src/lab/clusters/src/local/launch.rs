//! Starts a supervisor and follows it until its environment is usable; afterwards passes its events on.

use std::sync::Arc;
use std::time::Duration;

use exec::{Cmd, Detached};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use super::Inner;
use super::acts;
use super::inspect::alive;
use super::layout::Layout;
use super::record::{Record, Wanted};
use crate::control;
use crate::provider::{
    EnvironmentId, EnvironmentState, Phase, PhaseState, Progress, ProviderError,
};

/// How a launch did not work out.
#[derive(Debug)]
pub(super) enum Trouble {
    Cancelled,
    Failed {
        phase: Option<Phase>,
        reason: String,
    },
}

impl Trouble {
    pub(super) fn into_error(self, id: &EnvironmentId, act: &'static str) -> ProviderError {
        match self {
            Self::Cancelled => ProviderError::Cancelled {
                id: id.clone(),
                act,
            },
            Self::Failed { phase, reason } => ProviderError::Failed {
                id: id.clone(),
                act,
                phase,
                reason,
            },
        }
    }
}

/// Returns when the environment is usable. On trouble, what was started may still run: the caller ends it.
pub(super) async fn launch(
    inner: &Arc<Inner>,
    id: &EnvironmentId,
    cancel: &CancellationToken,
) -> Result<(), Trouble> {
    let layout = inner.layout(id);
    let slot = inner.slots.of(id);
    slot.history.restart(EnvironmentState::Starting);
    let launched = cancel.run_until_cancelled(usable(inner, id, &layout)).await;
    match launched {
        None => Err(Trouble::Cancelled),
        Some(Err(trouble)) => Err(trouble),
        Some(Ok(events)) => {
            pass_on(inner, id, events);
            Ok(())
        }
    }
}

async fn usable(
    inner: &Arc<Inner>,
    id: &EnvironmentId,
    layout: &Layout,
) -> Result<BoxStream<'static, Progress>, Trouble> {
    // Held until it is usable: the others wait for their turn, and can be cancelled while they do.
    let _turn = inner.starts.acquire().await;
    let slot = inner.slots.of(id);
    let log = layout.log("supervisor");
    let cmd = Cmd::new(&inner.options.supervisor)
        .args([exec::VERSION_OPTION, exec::VERSION])
        .arg("--dir")
        .arg(layout.dir())
        .cwd(layout.dir());
    let mut supervisor = cmd.spawn_detached(&log).map_err(|error| Trouble::Failed {
        phase: None,
        reason: format!("{error} (build it with `cargo build -p clusters`, or name its place)"),
    })?;
    let mut events = connect(layout, &mut supervisor).await?;
    while let Some(event) = events.next().await {
        slot.history.add(event.clone());
        match event {
            Progress::State(EnvironmentState::Running) => return Ok(events),
            Progress::Phase(event) => {
                if let PhaseState::Failed { reason } = event.state {
                    return Err(Trouble::Failed {
                        phase: Some(event.phase),
                        reason,
                    });
                }
            }
            Progress::Child(_) | Progress::State(_) => {}
        }
    }
    Err(Trouble::Failed {
        phase: None,
        reason: last_words(layout),
    })
}

async fn connect(
    layout: &Layout,
    supervisor: &mut Detached,
) -> Result<BoxStream<'static, Progress>, Trouble> {
    let socket = layout.control_socket();
    let connecting = async {
        let mut pause = Duration::from_millis(5);
        loop {
            if let Ok(events) = control::subscribe(&socket).await {
                return events;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    };
    tokio::select! {
        events = connecting => Ok(events),
        _ = supervisor.ended() => Err(Trouble::Failed { phase: None, reason: last_words(layout) }),
    }
}

fn last_words(layout: &Layout) -> String {
    let path = layout.log("supervisor");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map(|line| {
        line.trim_start_matches("environment-supervisor: ")
            .to_owned()
    });
    last.unwrap_or_else(|| {
        format!(
            "the supervisor ended without a word (see {})",
            path.display()
        )
    })
}

/// Passes the events of a supervisor on that somebody else started, if one runs and nobody does so yet.
pub(super) fn attach(inner: &Arc<Inner>, id: &EnvironmentId) {
    let (inner, id) = (Arc::clone(inner), id.clone());
    tokio::spawn(async move {
        let layout = inner.layout(&id);
        let slot = inner.slots.of(&id);
        // An act that is going on passes events on by itself.
        let Ok(_idle) = slot.acting.try_lock() else {
            return;
        };
        if !alive(&layout) || !slot.attach() {
            return;
        }
        match control::subscribe(&layout.control_socket()).await {
            Ok(events) => {
                slot.history.restart(EnvironmentState::Starting);
                follow(inner, id, events);
            }
            Err(_) => slot.detach(),
        }
    });
}

fn pass_on(inner: &Arc<Inner>, id: &EnvironmentId, events: BoxStream<'static, Progress>) {
    if inner.slots.of(id).attach() {
        follow(Arc::clone(inner), id.clone(), events);
    }
}

/// Until the supervisor ends. If nobody asked it to, the environment is started again.
fn follow(inner: Arc<Inner>, id: EnvironmentId, mut events: BoxStream<'static, Progress>) {
    tokio::spawn(async move {
        let slot = inner.slots.of(&id);
        let mut stopping = false;
        while let Some(event) = events.next().await {
            stopping |= event == Progress::State(EnvironmentState::Stopping);
            slot.history.add(event);
        }
        slot.detach();
        let layout = inner.layout(&id);
        let wanted = Record::read(&layout).map(|record| record.wanted);
        if stopping || !matches!(wanted, Ok(Wanted::Running)) {
            slot.history.add(Progress::State(EnvironmentState::Stopped));
            return;
        }
        tracing::warn!(%id, "the supervisor of an environment has ended; starting it again");
        let reason = "its supervisor has ended".to_owned();
        slot.history
            .add(Progress::State(EnvironmentState::Broken { reason }));
        acts::revive(inner, id).await;
    });
}
