use futures::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{Answer, History, Request, Requests, request, serve, subscribe};
use crate::provider::{EnvironmentState, Phase, PhaseEvent, PhaseState, Progress};

fn phase(phase: Phase) -> Progress {
    Progress::Phase(PhaseEvent {
        phase,
        state: PhaseState::Done,
        at: "2026-11-30T12:00:00Z".parse().unwrap(),
    })
}

#[tokio::test]
async fn a_late_subscriber_hears_everything_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    // Longer than a socket's address may be.
    let deep = dir.path().join("d".repeat(120));
    std::fs::create_dir(&deep).unwrap();
    let socket = deep.join("control.sock");
    let history = History::new(EnvironmentState::Starting);
    let stop = CancellationToken::new();
    let (_port, port) = tokio::sync::watch::channel(Some(6443));
    serve(
        &socket,
        Requests {
            history: history.clone(),
            port,
            stop: stop.clone(),
        },
    )
    .unwrap();

    history.add(phase(Phase::Directory));
    let mut events = subscribe(&socket).await.unwrap();
    assert_eq!(events.next().await, Some(phase(Phase::Directory)));
    history.add(phase(Phase::Etcd));
    history.add(Progress::State(EnvironmentState::Running));
    assert_eq!(events.next().await, Some(phase(Phase::Etcd)));
    assert_eq!(
        events.next().await,
        Some(Progress::State(EnvironmentState::Running))
    );

    let Answer::Status(status) = request(&socket, Request::Status).await.unwrap() else {
        panic!()
    };
    assert_eq!(
        (status.state, status.port),
        (EnvironmentState::Running, Some(6443))
    );
    assert_eq!(
        request(&socket, Request::Stop).await.unwrap(),
        Answer::Stopping
    );
    assert!(stop.is_cancelled());
}

#[tokio::test]
async fn a_restless_child_does_not_push_out_the_phases() {
    let history = History::new(EnvironmentState::Starting);
    history.add(phase(Phase::Directory));
    for _ in 0..1000 {
        history.add(phase(Phase::Ready));
    }
    assert_eq!(
        history.subscribe().next().await,
        Some(phase(Phase::Directory))
    );
}
