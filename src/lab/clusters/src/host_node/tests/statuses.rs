use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::host_node::plan::RestartPolicy;
use crate::host_node::status::{Doing, Ended, PodState, phase, render};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn state(doing: Doing) -> PodState {
    PodState {
        container: "manager".to_owned(),
        image: "atelier-kueue/kueue-manager:0.1.0".to_owned(),
        restart: RestartPolicy::Always,
        doing,
        last: None,
        restarts: 0,
        address: Some("10.244.0.1".parse().unwrap()),
        start: at(0),
        conditions: BTreeMap::new(),
        deleting: false,
    }
}

fn ended(code: i32) -> Ended {
    Ended {
        code,
        reason: "Error",
        message: None,
        started: at(1),
        finished: at(2),
    }
}

#[test]
fn the_phase_follows_the_restart_policy() {
    let waiting = || Doing::Waiting {
        reason: "ContainerCreating",
        message: None,
    };
    let cases = [
        (RestartPolicy::Always, waiting(), false, "Pending"),
        (
            RestartPolicy::Always,
            Doing::Ended(ended(0)),
            false,
            "Running",
        ),
        (
            RestartPolicy::Always,
            Doing::Ended(ended(0)),
            true,
            "Succeeded",
        ),
        (
            RestartPolicy::OnFailure,
            Doing::Ended(ended(1)),
            false,
            "Running",
        ),
        (
            RestartPolicy::OnFailure,
            Doing::Ended(ended(0)),
            false,
            "Succeeded",
        ),
        (
            RestartPolicy::Never,
            Doing::Ended(ended(3)),
            false,
            "Failed",
        ),
        (
            RestartPolicy::Always,
            Doing::Ended(ended(143)),
            true,
            "Failed",
        ),
    ];
    for (restart, doing, deleting, expected) in cases {
        let state = PodState {
            restart,
            deleting,
            ..state(doing.clone())
        };
        assert_eq!(phase(&state), expected, "{restart:?} {doing:?} {deleting}");
    }
}

#[test]
fn a_crash_loop_shows_its_last_exit_code_and_stays_running() {
    let doing = Doing::Waiting {
        reason: "CrashLoopBackOff",
        message: Some("back-off".to_owned()),
    };
    let mut state = PodState {
        last: Some(ended(3)),
        restarts: 2,
        ..state(doing)
    };
    let status = render(&mut state, at(5));
    assert_eq!(status.phase.as_deref(), Some("Running"));
    let container = &status.container_statuses.unwrap()[0];
    assert_eq!((container.restart_count, container.ready), (2, false));
    let last = container
        .last_state
        .as_ref()
        .unwrap()
        .terminated
        .as_ref()
        .unwrap();
    assert_eq!(last.exit_code, 3);
}

#[test]
fn a_condition_keeps_the_time_since_when_it_holds() {
    let mut state = state(Doing::Running {
        since: at(1),
        started: true,
        ready: false,
    });
    let since = |state: &mut PodState, now| {
        let status = render(state, now);
        let ready = status
            .conditions
            .unwrap()
            .into_iter()
            .find(|condition| condition.type_ == "Ready")
            .unwrap();
        (
            ready.status,
            ready.last_transition_time.unwrap().0.as_second(),
        )
    };
    assert_eq!(since(&mut state, at(2)), ("False".to_owned(), 2));
    assert_eq!(since(&mut state, at(3)), ("False".to_owned(), 2));
    state.doing = Doing::Running {
        since: at(1),
        started: true,
        ready: true,
    };
    assert_eq!(since(&mut state, at(4)), ("True".to_owned(), 4));
}
