//! Platform case 067: terminals and the end of their environment, whoever brought it about.

use std::sync::Arc;

use course::LabId;
use exec::Cmd;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use jiff::Timestamp;
use tokio::sync::{Notify, watch};

use super::end_with_environment;
use crate::environments::shell::ShellCommand;
use crate::web::desk::{EnvironmentIs, EnvironmentView};
use crate::web::terminal::registry::{OpenError, Terminals};
use crate::web::terminal::{ShellRefusal, Shells};

/// Shells that are ready when the test says so.
#[derive(Debug, Default)]
struct Slow {
    asked: Notify,
    ready: Notify,
}

impl Shells for Slow {
    fn shell(&self, _lab: &LabId) -> BoxFuture<'_, Result<ShellCommand, ShellRefusal>> {
        async {
            self.asked.notify_one();
            self.ready.notified().await;
            Ok(Cmd::new("/bin/cat").into())
        }
        .boxed()
    }
}

fn lab() -> LabId {
    LabId::new("essai").unwrap()
}

#[tokio::test]
async fn terminals_end_when_the_environment_goes_by_itself() {
    let shells = Arc::new(Slow::default());
    let terminals = Terminals::new(shells.clone());
    let environment = watch::Sender::new(EnvironmentView::default());
    let is = |is| environment.send_modify(|view| view.is = is);
    is(EnvironmentIs::Running);
    tokio::spawn(end_with_environment(
        terminals.clone(),
        environment.subscribe(),
    ));
    for (state, reason) in [
        (EnvironmentIs::Absent, "environment-reset"),
        (EnvironmentIs::Stopped, "environment-stopped"),
    ] {
        is(EnvironmentIs::Running);
        shells.ready.notify_one();
        let tab = terminals.open(&lab(), Timestamp::UNIX_EPOCH).await.unwrap();
        let session = terminals.get(tab.number).unwrap();
        is(EnvironmentIs::Broken {
            reason: "its API server died".to_owned(),
        });
        tokio::task::yield_now().await;
        assert_eq!(terminals.tabs(), [tab], "trouble that passes ends nothing");
        is(state);
        let mut ended = session.ended();
        let ended = ended.wait_for(Option::is_some).await.unwrap().clone();
        assert_eq!(ended.unwrap().reason.as_deref(), Some(reason));
        assert_eq!(terminals.tabs(), []);
    }
}

#[tokio::test]
async fn a_shell_that_was_asked_for_before_the_end_does_not_appear_after_it() {
    let shells = Arc::new(Slow::default());
    let terminals = Terminals::new(shells.clone());
    let opening = tokio::spawn({
        let terminals = terminals.clone();
        async move { terminals.open(&lab(), Timestamp::UNIX_EPOCH).await }
    });
    shells.asked.notified().await;
    terminals.close_all("environment-reset");
    shells.ready.notify_one();
    let refused = opening.await.unwrap().unwrap_err();
    assert_eq!(refused, OpenError::Shell(ShellRefusal::NoEnvironment));
    assert_eq!(terminals.tabs(), []);
}

#[tokio::test]
async fn terminals_asked_for_at_once_are_not_more_than_allowed() {
    let shells = Arc::new(Slow::default());
    let terminals = Terminals::new(shells.clone());
    let opening: Vec<_> = (0..12)
        .map(|_| {
            let terminals = terminals.clone();
            tokio::spawn(async move { terminals.open(&lab(), Timestamp::UNIX_EPOCH).await })
        })
        .collect();
    let mut refused = 0;
    for one in opening {
        while !one.is_finished() {
            shells.ready.notify_one();
            tokio::task::yield_now().await;
        }
        refused += usize::from(one.await.unwrap() == Err(OpenError::TooMany));
    }
    assert_eq!((refused, terminals.tabs().len()), (2, 10));
    terminals.close_all("test");
}
