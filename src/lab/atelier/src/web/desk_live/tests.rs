use clusters::provider::{Phase, PhaseState};
use jiff::Timestamp;

use super::convert;
use crate::environments::view::{Is, PhaseProgress, View};
use crate::web::desk::{EnvironmentIs, PhaseIs};

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

#[test]
fn phases_that_have_not_begun_are_shown_as_ahead() {
    let progress = |phase, state, ended: Option<i64>| PhaseProgress {
        phase,
        state,
        started: at(10),
        ended: ended.map(at),
    };
    let view = View {
        is: Is::Starting,
        phases: vec![
            progress(Phase::Directory, PhaseState::Done, Some(12)),
            progress(Phase::Etcd, PhaseState::Started, None),
            progress(
                Phase::ApiServer,
                PhaseState::Failed {
                    reason: "x".to_owned(),
                },
                Some(11),
            ),
        ],
        ..View::default()
    };
    let shown = convert::environment(&view);
    assert_eq!(shown.is, EnvironmentIs::Starting);
    let phases: Vec<Phase> = shown.phases.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(phases, Phase::of_start(&[]));
    let is = |wanted| {
        shown
            .phases
            .iter()
            .find(|(phase, _)| *phase == wanted)
            .unwrap()
            .1
    };
    assert_eq!(is(Phase::Directory), PhaseIs::Done { seconds: 2 });
    assert_eq!(is(Phase::Certificates), PhaseIs::Ahead);
    assert_eq!(is(Phase::Etcd), PhaseIs::Started(at(10)));
    assert_eq!(is(Phase::ApiServer), PhaseIs::Failed);
}

#[test]
fn an_environment_that_was_never_started_has_no_phases() {
    assert_eq!(convert::environment(&View::default()).phases, []);
}
