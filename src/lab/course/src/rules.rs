//! The logic of a lab without any prose: environment, steps, questions, criteria. This is all that a verdict depends on.

use crate::{
    ids::{CriterionId, LabId, QuestionId, StepId},
    moment::{Moment, ObjectSet, StatePattern, Take},
    predicate::Predicate,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Morning or afternoon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Half {
    Am,
    Pm,
}

/// What `lab.yaml` says.
#[derive(Clone, Debug)]
pub struct LabRules {
    pub id: LabId,
    /// 1 to 3.
    pub day: u8,
    pub half: Half,
    pub minutes: u32,
    /// Name of a file in `labs/profiles/`.
    pub profile: String,
    /// What a name without a namespace means.
    pub namespace: String,
    /// Files of `setup/`, in the order in which they are applied.
    pub setup: Vec<String>,
    pub steps: Vec<Step>,
}

impl LabRules {
    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == *id)
    }

    pub fn criteria(&self) -> impl Iterator<Item = (&Step, &Criterion)> {
        self.steps
            .iter()
            .flat_map(|step| step.criteria.iter().map(move |criterion| (step, criterion)))
    }

    pub fn criterion(&self, id: &str) -> Option<&Criterion> {
        self.criteria()
            .map(|(_, criterion)| criterion)
            .find(|criterion| criterion.id.as_str() == id)
    }

    pub fn question(&self, id: &str) -> Option<&Question> {
        self.steps
            .iter()
            .flat_map(|step| &step.questions)
            .find(|question| question.id.as_str() == id)
    }

    pub fn points(&self) -> u32 {
        self.criteria().map(|(_, criterion)| criterion.points).sum()
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub id: StepId,
    pub minutes: u32,
    pub questions: Vec<Question>,
    pub criteria: Vec<Criterion>,
}

impl Step {
    pub fn points(&self) -> u32 {
        self.criteria.iter().map(|criterion| criterion.points).sum()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    pub id: QuestionId,
    pub kind: QuestionKind,
    /// Asked before the action; never right or wrong by itself.
    pub prediction: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionKind {
    Number,
    Text,
    /// One of these choice ids.
    Choice(Vec<String>),
    /// Any number of these choice ids.
    Choices(Vec<String>),
}

#[derive(Clone, Debug)]
pub struct Criterion {
    pub id: CriterionId,
    pub points: u32,
    pub rule: Rule,
    pub hints: Vec<Hint>,
    /// Where it is written, for lint.
    pub line: u32,
}

/// A typical mistake and the message that helps.
#[derive(Clone, Debug)]
pub struct Hint {
    /// The message is the criterion's attribute `.say-NAME`.
    pub say: String,
    pub rule: Rule,
    /// Shown as `{ $value }`, taken from the object that the rule speaks of.
    pub show: Option<Predicate>,
}

#[derive(Clone, Debug)]
pub struct Rule {
    /// What happened before this moment does not count.
    pub after: Option<Moment>,
    pub kind: RuleKind,
}

#[derive(Clone, Debug)]
pub enum RuleKind {
    Answer {
        question: QuestionId,
        expected: Expected,
        before: Option<Moment>,
    },
    Object(ObjectRule),
    Reaches {
        moment: Moment,
        within: Option<Duration>,
        since: Option<Moment>,
    },
    Stays {
        state: StatePattern,
        hold: Duration,
    },
    Never {
        moment: Moment,
        until: Option<Moment>,
    },
    Order {
        moments: Vec<Moment>,
        within: Option<Duration>,
    },
    Caused {
        moment: Moment,
        by: Moment,
    },
    Count {
        moment: Moment,
        at_least: Option<u32>,
        at_most: Option<u32>,
        until: Option<Moment>,
    },
    All(Vec<Rule>),
    Any(Vec<Rule>),
}

#[derive(Clone, Debug)]
pub struct ObjectRule {
    pub objects: ObjectSet,
    pub holds: Predicate,
    pub hold: Option<Duration>,
    /// Must hold now, not once.
    pub level: bool,
    /// All matching objects must satisfy it.
    pub every: bool,
}

/// What makes an answer right.
#[derive(Clone, Debug)]
pub enum Expected {
    /// One of these values.
    OneOf(Vec<serde_json::Value>),
    /// Exactly these choices, in any order.
    Set(Vec<String>),
    /// What really happened to the trainee's own job.
    SameAs {
        moment: Moment,
        take: Take,
        tolerance: f64,
    },
    /// Any answer.
    Given,
}
