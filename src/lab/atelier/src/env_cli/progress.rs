//! A start as it goes on, in words, on standard error.

use std::future::Future;

use clusters::provider::{ChildChange, ChildEvent, Phase, PhaseEvent, PhaseState, Progress};
use futures::StreamExt as _;
use futures::stream::BoxStream;

/// Shows progress until `work` is done, and answers its result.
pub(super) async fn shown<T>(
    mut progress: BoxStream<'static, Progress>,
    work: impl Future<Output = T>,
) -> T {
    let mut work = std::pin::pin!(work);
    let mut open = true;
    loop {
        tokio::select! {
            done = &mut work => return done,
            event = progress.next(), if open => match event {
                Some(event) => in_words(&event).iter().for_each(|line| note(line)),
                None => open = false,
            },
        }
    }
}

/// The line for an event; beginnings are only told for what takes its time.
pub(super) fn in_words(event: &Progress) -> Option<String> {
    match event {
        Progress::Phase(PhaseEvent {
            phase,
            state: PhaseState::Started,
            ..
        }) => match phase {
            Phase::Etcd
            | Phase::Containers
            | Phase::ApiServer
            | Phase::ControllerManager
            | Phase::HostNode => Some(format!("… {}", phase_in_words(*phase))),
            _ => None,
        },
        Progress::Phase(PhaseEvent {
            phase,
            state: PhaseState::Done,
            ..
        }) => Some(format!("✓ {}", phase_in_words(*phase))),
        Progress::Phase(PhaseEvent {
            phase,
            state: PhaseState::Failed { reason },
            ..
        }) => Some(format!("✕ {}: {reason}", phase_in_words(*phase))),
        Progress::Child(ChildEvent {
            child,
            change:
                ChildChange::Died {
                    status,
                    next_try_ms,
                },
            attempt,
            ..
        }) => Some(format!(
            "! {child} ended ({status}); attempt {attempt} in {:.1} s",
            seconds(*next_try_ms)
        )),
        Progress::Child(ChildEvent {
            child,
            change: ChildChange::Restarted,
            ..
        }) => Some(format!("✓ {child} runs again")),
        Progress::State(_) => None,
    }
}

fn seconds(milliseconds: u64) -> f64 {
    std::time::Duration::from_millis(milliseconds).as_secs_f64()
}

const fn phase_in_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Directory => "folder of its own",
        Phase::Certificates => "certificates of its own",
        Phase::Etcd => "storage (etcd)",
        Phase::Containers => "containers of the nodes",
        Phase::ApiServer => "API server",
        Phase::ControllerManager => "controller manager",
        Phase::Scheduler => "scheduler",
        Phase::Rules => "roles and policies",
        Phase::Nodes => "simulated nodes",
        Phase::HostNode => "host node for the controller",
        Phase::Ready => "ready",
    }
}

#[expect(
    clippy::print_stderr,
    reason = "progress goes to standard error, so that the result can be piped"
)]
fn note(line: &str) {
    eprintln!("{line}");
}
