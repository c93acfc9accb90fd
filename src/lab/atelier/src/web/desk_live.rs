//! The desk over the real services: environments, recorder and judge.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use course::{Lab, LabId};
use exec::Cmd;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::desk::{Act, AnswerRefusal, BoardView, Desk, EnvironmentView, Verdicts};
use super::library::Library;
use super::terminal::{ShellRefusal, Shells};
use crate::options::Options;

/// Opens the desk.
///
/// # Errors
/// When the services cannot be started.
pub async fn open(
    _options: &Options,
    _library: &Library,
    _stop: CancellationToken,
) -> anyhow::Result<Arc<dyn Desk>> {
    Ok(Arc::new(Live {
        environment: watch::Sender::default(),
        board: watch::Sender::default(),
        verdicts: watch::Sender::default(),
    }))
}

#[derive(Debug)]
struct Live {
    environment: watch::Sender<EnvironmentView>,
    board: watch::Sender<Arc<BoardView>>,
    verdicts: watch::Sender<Arc<Verdicts>>,
}

impl Desk for Live {
    fn environment(&self) -> watch::Receiver<EnvironmentView> {
        self.environment.subscribe()
    }

    fn act(&self, _act: Act, _lab: Option<Arc<Lab>>) {}

    fn logs(&self) -> Vec<(String, PathBuf)> {
        Vec::new()
    }

    fn kubeconfig(&self) -> Option<String> {
        None
    }

    fn verdicts(&self, _lab: &LabId) -> watch::Receiver<Arc<Verdicts>> {
        self.verdicts.subscribe()
    }

    fn board(&self) -> watch::Receiver<Arc<BoardView>> {
        self.board.subscribe()
    }

    fn answers(&self, _lab: &LabId) -> BTreeMap<String, serde_json::Value> {
        BTreeMap::new()
    }

    fn answer(
        &self,
        _lab: &LabId,
        _question: &str,
        _value: serde_json::Value,
    ) -> BoxFuture<'_, Result<(), AnswerRefusal>> {
        async { Err(AnswerRefusal::NoEnvironment) }.boxed()
    }

    fn shells(&self) -> Arc<dyn Shells> {
        Arc::new(NoShells)
    }
}

#[derive(Debug)]
struct NoShells;

impl Shells for NoShells {
    fn shell(&self) -> BoxFuture<'_, Result<Cmd, ShellRefusal>> {
        async { Err(ShellRefusal::NoEnvironment) }.boxed()
    }
}
