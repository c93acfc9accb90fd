//! Verdicts of a lab's criteria: a pure function of (timeline, lab, now).

use crate::{judge::Judge, timeline::Timeline};
use course::{Args, CriterionId, LabId, LabRules, StepId, Telling};
use jiff::Timestamp;
use serde::Serialize;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing of it has been seen yet.
    Pending,
    /// It has begun; what is awaited has not come.
    Waiting,
    Passed,
    Failed,
    /// The recorder did not see enough to tell.
    NotJudged,
}

impl State {
    pub fn key(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Waiting => "waiting",
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotJudged => "not-judged",
        }
    }
}

/// One criterion's verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub criterion: CriterionId,
    pub state: State,
    /// Key of the text to show, see [`Verdict::telling`].
    pub reason: &'static str,
    /// The typical mistake that was recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub say: Option<String>,
    pub args: Args,
    pub points: u32,
    pub earned: u32,
    /// Sequence numbers of the entries that it rests on, ascending.
    pub evidence: Vec<u64>,
}

impl Verdict {
    /// What the message catalogue needs to tell it.
    pub fn telling(&self) -> Telling<'_> {
        Telling {
            state: self.state.key(),
            reason: self.reason,
            say: self.say.as_deref(),
            args: &self.args,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepVerdicts {
    pub step: StepId,
    pub verdicts: Vec<Verdict>,
}

impl StepVerdicts {
    pub fn passed(&self) -> bool {
        self.verdicts
            .iter()
            .all(|verdict| verdict.state == State::Passed)
    }

    pub fn earned(&self) -> u32 {
        self.verdicts.iter().map(|verdict| verdict.earned).sum()
    }

    pub fn points(&self) -> u32 {
        self.verdicts.iter().map(|verdict| verdict.points).sum()
    }
}

/// All verdicts of a lab at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabVerdicts {
    pub lab: LabId,
    pub steps: Vec<StepVerdicts>,
    pub earned: u32,
    pub points: u32,
    /// The latest entry that was taken into account.
    pub seq: u64,
    /// The next instant at which time alone can change a verdict; none: only a new entry can.
    pub next: Option<Timestamp>,
}

impl LabVerdicts {
    pub fn full_marks(&self) -> bool {
        self.earned == self.points
    }

    pub fn all(&self) -> impl Iterator<Item = &Verdict> {
        self.steps.iter().flat_map(|step| &step.verdicts)
    }

    pub fn verdict(&self, criterion: &str) -> Option<&Verdict> {
        self.all()
            .find(|verdict| verdict.criterion.as_str() == criterion)
    }
}

/// Judges a whole timeline at once. The engine keeps a [`Judge`] instead, which remembers evaluated predicates.
pub fn verdict(timeline: &Timeline, lab: &LabRules, now: Timestamp) -> LabVerdicts {
    Judge::new(Arc::new(lab.clone())).verdict(timeline, now)
}
