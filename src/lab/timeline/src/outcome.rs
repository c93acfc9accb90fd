//! What one statement amounts to at one moment: a state, the reason for it, the words to tell it, and the entries it rests on.

use crate::{place::Place, verdict::State};
use course::{Arg, Args};
use jiff::Timestamp;
use serde::Serialize;

/// Why a criterion is in its state. The words are keys of message catalogues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    Passed,
    NoSubject,
    Unmanaged,
    StillQueued,
    NotYet,
    NotHolding,
    Holding,
    Counting,
    Unanswered,
    WrongAnswer,
    LateAnswer,
    Deleted,
    NeverWas,
    TooShort,
    TooLate,
    Forbidden,
    OutOfOrder,
    QuotaChanged,
    OtherCause,
    TooMany,
    Gap,
}

impl Reason {
    pub fn key(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NoSubject => "no-subject",
            Self::Unmanaged => "unmanaged",
            Self::StillQueued => "still-queued",
            Self::NotYet => "not-yet",
            Self::NotHolding => "not-holding",
            Self::Holding => "holding",
            Self::Counting => "counting",
            Self::Unanswered => "unanswered",
            Self::WrongAnswer => "wrong-answer",
            Self::LateAnswer => "late-answer",
            Self::Deleted => "deleted",
            Self::NeverWas => "never-was",
            Self::TooShort => "too-short",
            Self::TooLate => "too-late",
            Self::Forbidden => "forbidden",
            Self::OutOfOrder => "out-of-order",
            Self::QuotaChanged => "quota-changed",
            Self::OtherCause => "other-cause",
            Self::TooMany => "too-many",
            Self::Gap => "gap",
        }
    }

    /// The state that goes with the reason.
    pub(crate) fn state(self) -> State {
        match self {
            Self::Passed => State::Passed,
            Self::NoSubject | Self::Unanswered => State::Pending,
            Self::Unmanaged
            | Self::StillQueued
            | Self::NotYet
            | Self::NotHolding
            | Self::Holding
            | Self::Counting => State::Waiting,
            Self::Gap => State::NotJudged,
            Self::WrongAnswer
            | Self::LateAnswer
            | Self::Deleted
            | Self::NeverWas
            | Self::TooShort
            | Self::TooLate
            | Self::Forbidden
            | Self::OutOfOrder
            | Self::QuotaChanged
            | Self::OtherCause
            | Self::TooMany => State::Failed,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) reason: Reason,
    pub(crate) args: Args,
    pub(crate) evidence: Vec<u64>,
    /// Time alone may change it then.
    pub(crate) next: Option<Timestamp>,
}

impl Outcome {
    pub(crate) fn new(reason: Reason) -> Self {
        Self {
            reason,
            args: Args::new(),
            evidence: Vec::new(),
            next: None,
        }
    }

    pub(crate) fn state(&self) -> State {
        self.reason.state()
    }

    pub(crate) fn passed(&self) -> bool {
        self.reason == Reason::Passed
    }

    pub(crate) fn arg(mut self, name: &str, value: impl Into<Arg>) -> Self {
        self.args.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn job(self, name: &str) -> Self {
        self.arg("subject", name).arg("job", name)
    }

    pub(crate) fn object(self, name: &str) -> Self {
        self.arg("subject", name).arg("object", name)
    }

    pub(crate) fn seconds(self, seen: jiff::SignedDuration, wanted: std::time::Duration) -> Self {
        self.arg("seconds", seen.as_secs()).arg(
            "wanted",
            i64::try_from(wanted.as_secs()).unwrap_or(i64::MAX),
        )
    }

    pub(crate) fn evidence(mut self, places: impl IntoIterator<Item = Place>) -> Self {
        self.evidence
            .extend(places.into_iter().map(|place| place.seq));
        self.evidence.sort_unstable();
        self.evidence.dedup();
        self
    }

    pub(crate) fn next(mut self, at: Option<Timestamp>) -> Self {
        self.next = sooner(self.next, at);
        self
    }

    /// How much there is to tell: of two outcomes that did not pass, the more advanced one is shown.
    fn advance(&self) -> u8 {
        match self.state() {
            State::Pending => 0,
            State::Waiting => 1,
            State::NotJudged => 2,
            State::Failed => 3,
            State::Passed => 4,
        }
    }

    /// One pass is enough; else the more advanced of the two, the later one when they are equal.
    pub(crate) fn or(self, later: Self) -> Self {
        let next = sooner(self.next, later.next);
        let mut best = if later.passed() || (!self.passed() && later.advance() >= self.advance()) {
            later
        } else {
            self
        };
        best.next = if best.passed() { None } else { next };
        best
    }
}

pub(crate) fn sooner(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
