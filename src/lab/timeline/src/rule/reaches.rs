//! "It happened", perhaps within a time.

use super::{lacking, moment, per_attempt};
use crate::{
    attempt::Attempt,
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
};
use course::{JobMoment, Moment};
use jiff::Timestamp;
use std::time::Duration;

pub(super) fn evaluate(
    moment: &Moment,
    within: Option<Duration>,
    since: Option<&Moment>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let origins: Option<Vec<Place>> = since.map(|since| {
        moment::occurrences(since, None, case)
            .into_iter()
            .map(|hit| hit.place)
            .collect()
    });
    match moment {
        Moment::Job(job) => {
            let case = &*case;
            per_attempt(&job.jobs, floor, case, |attempt| {
                of_attempt(attempt, job, within, origins.as_deref(), floor, case)
            })
        }
        Moment::Object(_) | Moment::Answered(_) => match moment::first(moment, floor, case) {
            Some(hit) => {
                let origin = origins.as_deref().map_or_else(
                    || first_seen(moment, case),
                    |places| latest(places, hit.place),
                );
                timed(hit.place, origin, within).object(&hit.subject)
            }
            None => {
                let origin = origins
                    .as_deref()
                    .map_or_else(|| first_seen(moment, case), |places| places.last().copied());
                overdue(moment::missing(moment, case), origin, within, case.now)
            }
        },
    }
}

fn of_attempt(
    attempt: &Attempt,
    job: &JobMoment,
    within: Option<Duration>,
    origins: Option<&[Place]>,
    floor: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    match attempt.hits(job, floor, case.timeline).next() {
        Some(fact) => {
            let origin =
                origins.map_or_else(|| attempt.begin(), |places| latest(places, fact.place));
            timed(fact.place, origin, within)
        }
        None => {
            let origin = origins.map_or_else(|| attempt.begin(), |places| places.last().copied());
            overdue(lacking(attempt, job), origin, within, case.now)
        }
    }
}

fn latest(places: &[Place], before: Place) -> Option<Place> {
    places
        .iter()
        .rev()
        .find(|place| place.before(&before))
        .copied()
}

fn first_seen(moment: &Moment, case: &Case<'_>) -> Option<Place> {
    let Moment::Object(object) = moment else {
        return None;
    };
    let lives = case.timeline.objects.matching(&object.objects);
    lives
        .iter()
        .filter_map(|(_, lives)| lives.last()?.versions.first())
        .map(|version| version.place)
        .next()
}

fn timed(hit: Place, origin: Option<Place>, within: Option<Duration>) -> Outcome {
    let evidence = origin.into_iter().chain([hit]);
    let Some(within) = within else {
        return Outcome::new(Reason::Passed).evidence([hit]);
    };
    let taken = origin.map_or(jiff::SignedDuration::ZERO, |origin| {
        hit.at.duration_since(origin.at)
    });
    let limit = jiff::SignedDuration::try_from(within).unwrap_or(jiff::SignedDuration::MAX);
    let reason = if taken <= limit {
        Reason::Passed
    } else {
        Reason::TooLate
    };
    Outcome::new(reason)
        .seconds(taken, within)
        .evidence(evidence)
}

fn overdue(
    outcome: Outcome,
    origin: Option<Place>,
    within: Option<Duration>,
    now: Timestamp,
) -> Outcome {
    let (Some(origin), Some(within)) = (origin, within) else {
        return outcome;
    };
    if outcome.state() != crate::verdict::State::Waiting {
        return outcome;
    }
    let deadline = origin.at.saturating_add(
        jiff::Span::new().milliseconds(i64::try_from(within.as_millis()).unwrap_or(0)),
    );
    match deadline {
        Ok(deadline) if now <= deadline => outcome.next(
            deadline
                .saturating_add(jiff::Span::new().milliseconds(1))
                .ok(),
        ),
        Ok(_) => Outcome::new(Reason::TooLate)
            .seconds(now.duration_since(origin.at), within)
            .evidence([origin]),
        Err(_) => outcome,
    }
}
