//! The lab's criteria applied to a timeline, with a memory for what was already computed.

use crate::{
    memo::{self, Memo},
    outcome::{Outcome, sooner},
    rule,
    timeline::Timeline,
    verdict::{LabVerdicts, State, StepVerdicts, Verdict},
};
use course::{Criterion, Hint, LabRules, RuleKind};
use jiff::Timestamp;
use std::sync::Arc;

/// Judges one lab on one timeline, again and again.
#[derive(Debug)]
pub struct Judge {
    lab: Arc<LabRules>,
    memo: Memo,
}

/// What a rule may look at.
pub(crate) struct Case<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) now: Timestamp,
    pub(crate) memo: &'a mut Memo,
}

impl Judge {
    pub fn new(lab: Arc<LabRules>) -> Self {
        Self {
            lab,
            memo: Memo::default(),
        }
    }

    pub fn lab(&self) -> &Arc<LabRules> {
        &self.lab
    }

    /// All verdicts at `now`, on the recorder's clock. Always pass the same timeline, as it grows.
    pub fn verdict(&mut self, timeline: &Timeline, now: Timestamp) -> LabVerdicts {
        let lab = Arc::clone(&self.lab);
        let mut case = Case {
            timeline,
            now,
            memo: &mut self.memo,
        };
        let mut next = None;
        let steps: Vec<StepVerdicts> = lab
            .steps
            .iter()
            .map(|step| {
                let verdicts = step
                    .criteria
                    .iter()
                    .map(|criterion| {
                        let (verdict, again) = judge(criterion, &mut case);
                        next = sooner(next, again);
                        verdict
                    })
                    .collect();
                StepVerdicts {
                    step: step.id.clone(),
                    verdicts,
                }
            })
            .collect();
        LabVerdicts {
            lab: lab.id.clone(),
            earned: steps.iter().map(StepVerdicts::earned).sum(),
            points: steps.iter().map(StepVerdicts::points).sum(),
            steps,
            seq: timeline.last_seq(),
            next,
        }
    }
}

fn judge(criterion: &Criterion, case: &mut Case<'_>) -> (Verdict, Option<Timestamp>) {
    let outcome = rule::evaluate(&criterion.rule, case);
    let Outcome {
        reason,
        mut args,
        evidence,
        mut next,
    } = outcome;
    let state = reason.state();
    let mut say = None;
    if state != State::Passed {
        for hint in &criterion.hints {
            let found = rule::evaluate(&hint.rule, case);
            next = sooner(next, found.next);
            if found.passed() {
                say = Some(hint.say.clone());
                args.extend(
                    found
                        .args
                        .into_iter()
                        .filter(|(name, _)| name != "seconds" && name != "wanted"),
                );
                if let Some(value) = value(hint, case.timeline) {
                    args.insert("value".to_owned(), value.into());
                }
                break;
            }
        }
    }
    let earned = if state == State::Passed {
        criterion.points
    } else {
        0
    };
    let verdict = Verdict {
        criterion: criterion.id.clone(),
        state,
        reason: reason.key(),
        say,
        args,
        points: criterion.points,
        earned,
        evidence,
    };
    (verdict, if state == State::Passed { None } else { next })
}

/// What a hint shows, from the object it speaks of.
fn value(hint: &Hint, timeline: &Timeline) -> Option<String> {
    let show = hint.show.as_ref()?;
    let RuleKind::Object(rule) = &hint.rule.kind else {
        return None;
    };
    let lives = timeline.objects.matching(&rule.objects);
    let version = lives
        .into_iter()
        .filter_map(|(_, lives)| lives.last()?.last())
        .max_by_key(|version| version.place.seq)?;
    memo::shown(show, version, timeline)
}
