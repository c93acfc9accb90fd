//! "It was in that state so long without a break", as far as the recorder saw.

use super::{gap, per_attempt};
use crate::{
    attempt::{Attempt, Span},
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
    silence::JOB_SOURCES,
};
use course::{FactName, JobMoment, StateName, StatePattern};
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;

pub(super) fn evaluate(
    state: &StatePattern,
    hold: Duration,
    floor: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    per_attempt(&state.jobs, floor, case, |attempt| {
        of_attempt(attempt, state, hold, floor, case)
    })
}

fn of_attempt(
    attempt: &Attempt,
    state: &StatePattern,
    hold: Duration,
    floor: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    let wanted = SignedDuration::try_from(hold).unwrap_or(SignedDuration::MAX);
    let spans = attempt.spans(state.is, &state.filter, case.timeline);
    let mut last: Option<Outcome> = None;
    for span in &spans {
        let begin = floor.map_or(span.begin.place.at, |floor| {
            floor.at.max(span.begin.place.at)
        });
        let end = span.end.map(|fact| fact.place);
        let seen = seen(attempt, begin, end.map_or(case.now, |end| end.at), case);
        let evidence = [span.begin.place].into_iter().chain(end);
        if seen.longest >= wanted {
            return Outcome::new(Reason::Passed)
                .seconds(seen.longest, hold)
                .evidence(evidence);
        }
        last = Some(match span.end {
            None => open(span, &seen, wanted, hold, case),
            Some(fact) => match gap(
                JOB_SOURCES,
                begin,
                fact.place.at,
                |gap| attempt.touched(gap),
                case,
            ) {
                Some(outcome) => outcome.evidence(evidence),
                None if fact.name == FactName::Deleted => Outcome::new(Reason::Deleted)
                    .seconds(seen.longest, hold)
                    .evidence(evidence),
                None => Outcome::new(Reason::TooShort)
                    .seconds(seen.longest, hold)
                    .evidence(evidence),
            },
        });
    }
    last.unwrap_or_else(|| never_in(attempt, state, case))
}

/// Still in the state: it may yet be long enough.
fn open(
    span: &Span<'_>,
    seen: &Watched,
    wanted: SignedDuration,
    hold: Duration,
    case: &Case<'_>,
) -> Outcome {
    let outcome = Outcome::new(Reason::Holding)
        .seconds(seen.current, hold)
        .evidence([span.begin.place]);
    if case.timeline.silence.interrupted(JOB_SOURCES) {
        return outcome;
    }
    let missing = wanted.saturating_sub(seen.current);
    outcome.next(case.now.saturating_add(missing).ok())
}

struct Watched {
    /// The longest stretch that was watched without a break.
    longest: SignedDuration,
    /// The stretch that reaches the end.
    current: SignedDuration,
}

/// Cuts the time at gaps and takes off what was not watched live.
fn seen(attempt: &Attempt, begin: Timestamp, end: Timestamp, case: &Case<'_>) -> Watched {
    let silence = &case.timeline.silence;
    let length = |from: Timestamp, to: Timestamp| {
        let whole = to.duration_since(from).max(SignedDuration::ZERO);
        whole.saturating_sub(silence.unseen(JOB_SOURCES, from, to))
    };
    let mut from = begin;
    let mut longest = SignedDuration::ZERO;
    while let Some(gap) = silence.gap_between(JOB_SOURCES, from, end, |gap| attempt.touched(gap)) {
        longest = longest.max(length(from, gap.from.max(from)));
        from = gap.to;
    }
    let current = length(from, end);
    Watched {
        longest: longest.max(current),
        current,
    }
}

/// The attempt was never in the state: will it be?
fn never_in(attempt: &Attempt, state: &StatePattern, case: &Case<'_>) -> Outcome {
    use FactName as F;
    let went_on = match state.is {
        StateName::Submitted | StateName::Queued | StateName::Waiting => attempt
            .latest(F::QuotaReserved)
            .or_else(|| attempt.latest(F::Started)),
        _ => None,
    };
    let went_on = went_on.or_else(|| attempt.latest(F::Finished));
    if let Some(fact) = went_on
        && !attempt.has(F::Deleted)
        && (attempt.has(F::Managed) || attempt.over())
    {
        let begin = attempt.begin().map_or(fact.place.at, |place| place.at);
        return gap(
            JOB_SOURCES,
            begin,
            fact.place.at,
            |gap| attempt.touched(gap),
            case,
        )
        .unwrap_or_else(|| Outcome::new(Reason::NeverWas))
        .evidence([fact.place]);
    }
    let towards = JobMoment {
        jobs: state.jobs.clone(),
        becomes: towards(state.is),
        filter: state.filter.clone(),
    };
    super::lacking(attempt, &towards)
}

fn towards(state: StateName) -> FactName {
    match state {
        StateName::Submitted | StateName::Waiting => FactName::Submitted,
        StateName::Queued => FactName::Queued,
        StateName::QuotaReserved => FactName::QuotaReserved,
        StateName::Admitted => FactName::Admitted,
        StateName::Running => FactName::Running,
        StateName::Evicted => FactName::Evicted,
        StateName::Finished => FactName::Finished,
    }
}
