//! Keeps a recorder and the judges of all labs for as long as there is an environment.

use std::sync::Arc;

use clusters::provider::Environment;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{Shared, convert};
use crate::environments::Environments;
use crate::environments::view::{Is, View};
use crate::judge::{self, Session};
use crate::recorder::{Recorder, RecorderOptions};
use crate::web::desk::BoardView;

/// The environment that is being recorded; a reset makes another one of the same name.
#[derive(Debug)]
struct Sitting {
    created: Timestamp,
    cancel: CancellationToken,
}

/// Follows the environment until the platform stops.
pub(super) async fn follow(shared: Arc<Shared>, environments: Environments) {
    let mut views = environments.watch();
    let mut sitting: Option<Sitting> = None;
    loop {
        let view = views.borrow_and_update().clone();
        shared.environment.send_replace(convert::environment(&view));
        let wanted = recordable(&view);
        if sitting.as_ref().map(|sitting| sitting.created)
            != wanted.map(|environment| environment.created)
        {
            if let Some(ended) = sitting.take() {
                ended.cancel.cancel();
                clear(&shared);
            }
            if let Some(environment) = wanted {
                sitting = begin(&shared, environment).await;
            }
        }
        tokio::select! {
            changed = views.changed() => if changed.is_err() { return },
            () = shared.stop.cancelled() => break,
        }
    }
    if let Some(sitting) = sitting {
        sitting.cancel.cancel();
    }
}

/// After an act: the view that was shown ahead of it is replaced by what really is.
pub(super) fn settle(shared: &Shared) {
    let service = shared.service.lock().clone();
    match service {
        Some(service) => {
            let view = convert::environment(&service.environments.watch().borrow());
            shared.environment.send_replace(view);
        }
        None => shared
            .environment
            .send_modify(|view| view.is = crate::web::desk::EnvironmentIs::Absent),
    }
}

/// What can be recorded: everything that is there and will not be gone in a moment.
fn recordable(view: &View) -> Option<&Environment> {
    let environment = view.environment.as_ref()?;
    let has_started = environment.admin_kubeconfig.is_file();
    (has_started && !matches!(view.is, Is::Absent | Is::Deleting)).then_some(environment)
}

async fn begin(shared: &Arc<Shared>, environment: &Environment) -> Option<Sitting> {
    forget_predecessor(shared, environment).await;
    let cancel = shared.stop.child_token();
    let options = RecorderOptions {
        store: shared.store.clone(),
        environment: environment.id.to_string(),
        kubeconfig: environment.admin_kubeconfig.clone(),
    };
    let recorder = Recorder::start(options, cancel.clone())
        .await
        .inspect_err(|error| {
            tracing::error!(%error, "nothing is recorded");
            shared
                .environment
                .send_modify(|view| view.failure = Some(error.to_string()));
        })
        .ok()?;
    tokio::spawn(show_board(
        Arc::clone(shared),
        recorder.clone(),
        cancel.clone(),
    ));
    for channel in shared.labs.values() {
        let rules = Arc::new(channel.lab.rules.clone());
        let session = judge::over(recorder.clone(), &shared.store, rules, cancel.clone());
        *channel.session.lock() = Some(session.clone());
        tokio::spawn(show_verdicts(Arc::clone(shared), session, cancel.clone()));
    }
    Some(Sitting {
        created: environment.created,
        cancel,
    })
}

/// A record that began before the environment was created is that of one with the same name that is gone.
async fn forget_predecessor(shared: &Shared, environment: &Environment) {
    let name = environment.id.to_string();
    let first = shared
        .store
        .entries_at(&name, &[1])
        .await
        .ok()
        .and_then(|entries| entries.into_iter().next());
    if first.is_some_and(|first| first.at < environment.created)
        && let Err(error) = shared.store.forget(&name).await
    {
        tracing::error!(%error, "the record of the former environment is still there");
    }
}

fn clear(shared: &Shared) {
    shared.board.send_replace(Arc::default());
    for channel in shared.labs.values() {
        *channel.session.lock() = None;
        channel.verdicts.send_replace(Arc::default());
    }
}

async fn show_board(shared: Arc<Shared>, recorder: Recorder, cancel: CancellationToken) {
    let mut live = recorder.live();
    loop {
        let board = live.borrow_and_update().clone();
        shared.board.send_replace(Arc::new(BoardView {
            board: Some(board.as_ref().clone()),
        }));
        tokio::select! {
            () = cancel.cancelled() => return,
            changed = live.changed() => if changed.is_err() { return },
        }
    }
}

async fn show_verdicts(shared: Arc<Shared>, session: Session, cancel: CancellationToken) {
    let Some(channel) = shared.labs.get(&session.lab().id) else {
        return;
    };
    let history = session.recorder().timeline();
    let mut verdicts = session.verdicts();
    loop {
        let latest = verdicts.borrow_and_update().clone();
        let shown = convert::verdicts(&latest, &history.read());
        channel.verdicts.send_if_modified(|before| {
            let differs = **before != shown;
            *before = Arc::new(shown);
            differs
        });
        tokio::select! {
            () = cancel.cancelled() => return,
            changed = verdicts.changed() => if changed.is_err() { return },
        }
    }
}
