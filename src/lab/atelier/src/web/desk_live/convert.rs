//! Values of the services as values of the desk. Pure.

use clusters::provider::{ChildChange, Phase, PhaseState};
use timeline::{LabVerdicts, State, Timeline};

use crate::environments::view::{Is, PhaseProgress, View};
use crate::web::desk::{
    ChildTrouble, EnvironmentIs, EnvironmentView, PhaseIs, Standing, VerdictView, Verdicts,
};

pub(super) fn environment(view: &View) -> EnvironmentView {
    EnvironmentView {
        is: is(&view.is),
        profile: view.profile.clone(),
        phases: if view.phases.is_empty() {
            Vec::new()
        } else {
            phases(&view.phases)
        },
        trouble: view
            .children
            .iter()
            .map(|event| ChildTrouble {
                child: event.child.clone(),
                attempt: event.attempt,
                running_again: event.change == ChildChange::Restarted,
                at: event.at,
            })
            .collect(),
        created: view
            .environment
            .as_ref()
            .map(|environment| environment.created),
        failure: view.failure.clone(),
    }
}

fn is(is: &Is) -> EnvironmentIs {
    match is {
        Is::Absent => EnvironmentIs::Absent,
        Is::Starting => EnvironmentIs::Starting,
        Is::Running => EnvironmentIs::Running,
        Is::Stopping => EnvironmentIs::Stopping,
        Is::Stopped => EnvironmentIs::Stopped,
        Is::Deleting => EnvironmentIs::Deleting,
        Is::Broken { reason } => EnvironmentIs::Broken {
            reason: reason.clone(),
        },
    }
}

/// All phases of this kind of start in order, whether they have begun or not.
fn phases(begun: &[PhaseProgress]) -> Vec<(Phase, PhaseIs)> {
    let one = |phase: Phase| {
        let progress = begun.iter().find(|progress| progress.phase == phase);
        let is = progress.map_or(PhaseIs::Ahead, |progress| match &progress.state {
            PhaseState::Started => PhaseIs::Started(progress.started),
            PhaseState::Failed { .. } => PhaseIs::Failed,
            PhaseState::Done => {
                let took = progress
                    .ended
                    .map_or(0, |ended| ended.duration_since(progress.started).as_secs());
                PhaseIs::Done {
                    seconds: u64::try_from(took).unwrap_or_default(),
                }
            }
        });
        (phase, is)
    };
    let known: Vec<Phase> = begun.iter().map(|progress| progress.phase).collect();
    Phase::of_start(&known).into_iter().map(one).collect()
}

/// Verdicts with the entries they rest on.
pub(super) fn verdicts(verdicts: &LabVerdicts, history: &Timeline) -> Verdicts {
    let one = |verdict: &timeline::Verdict| {
        let standing = match verdict.state {
            State::Passed => Standing::Passed,
            State::Failed => Standing::Failed,
            State::Pending | State::Waiting => Standing::Waiting,
            State::NotJudged => Standing::NotJudged,
        };
        let evidence = history.evidence(&verdict.evidence);
        let (reason, say, args) = (
            verdict.reason.to_owned(),
            verdict.say.clone(),
            verdict.args.clone(),
        );
        (
            verdict.criterion.to_string(),
            VerdictView {
                standing,
                reason,
                say,
                args,
                evidence,
            },
        )
    };
    Verdicts(verdicts.all().map(one).collect())
}
