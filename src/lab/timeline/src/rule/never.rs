//! "It had not happened when that came." Silence is only proof when the recorder was there.

use super::{SETTLE, gap, moment, per_attempt, sources};
use crate::{
    attempt::Attempt,
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
    silence::{Gap, JOB_SOURCES},
};
use course::{FactName, JobMoment, Moment};
use jiff::Timestamp;

pub(super) fn evaluate(
    forbidden: &Moment,
    until: Option<&Moment>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    match forbidden {
        Moment::Job(job) => {
            let ends: Option<Vec<Place>> = match until {
                Some(Moment::Job(end)) if end.jobs == job.jobs => None,
                Some(other) => Some(
                    moment::occurrences(other, floor, case)
                        .into_iter()
                        .map(|hit| hit.place)
                        .collect(),
                ),
                None => None,
            };
            let case = &*case;
            per_attempt(&job.jobs, floor, case, |attempt| {
                let end = match (&ends, until) {
                    (Some(places), _) => after(places, attempt),
                    (None, Some(Moment::Job(end))) => attempt
                        .hits(end, floor, case.timeline)
                        .next()
                        .map(|fact| fact.place),
                    (None, _) => attempt.first(FactName::Finished).map(|fact| fact.place),
                };
                of_attempt(attempt, job, end, floor, case)
            })
        }
        Moment::Object(_) | Moment::Answered(_) => of_objects(forbidden, until, floor, case),
    }
}

/// The first end that comes after the attempt began: what happened before it says nothing about it.
fn after(places: &[Place], attempt: &Attempt) -> Option<Place> {
    let begin = attempt.begin()?;
    places.iter().find(|place| begin.before(place)).copied()
}

fn of_attempt(
    attempt: &Attempt,
    job: &JobMoment,
    end: Option<Place>,
    floor: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    let hit = attempt
        .hits(job, floor, case.timeline)
        .map(|fact| fact.place)
        .next();
    if let Some(hit) = hit
        && end.is_none_or(|end| precedes(hit, end, JOB_SOURCES, case))
    {
        // What made it allowed may be on its way through another watch.
        let quiet = hit
            .at
            .saturating_add(SETTLE)
            .ok()
            .filter(|quiet| end.is_none() && case.now < *quiet);
        if quiet.is_some() {
            return Outcome::new(Reason::NotYet).evidence([hit]).next(quiet);
        }
        return Outcome::new(Reason::Forbidden).evidence([hit]);
    }
    let Some(end) = end else {
        let deleted = attempt.latest(FactName::Deleted).map(|fact| fact.place);
        let reason = if deleted.is_some() {
            Reason::Deleted
        } else {
            Reason::NotYet
        };
        return Outcome::new(reason).evidence(deleted.or(attempt.begin()));
    };
    if let Some(deleted) = attempt.first(FactName::Deleted)
        && deleted.place.before(&end)
    {
        return Outcome::new(Reason::Deleted).evidence([deleted.place]);
    }
    let begin = attempt.begin().unwrap_or(end);
    settled(end, begin, JOB_SOURCES, |gap| attempt.touched(gap), case)
}

/// Whether the forbidden thing came first. What arrives long after everything was delivered came after the end, whatever
/// its version says.
fn precedes(hit: Place, end: Place, of: &[&str], case: &Case<'_>) -> bool {
    let quiet = quiet(end, of, case);
    hit.before(&end) && quiet.is_none_or(|quiet| hit.at <= quiet)
}

/// From when on silence about the time before `end` can be trusted; none while the watch is interrupted.
fn quiet(end: Place, of: &[&str], case: &Case<'_>) -> Option<Timestamp> {
    let settled = end.at.saturating_add(SETTLE).ok()?;
    case.timeline.silence.delivered(of, settled).map(|at| {
        if at > settled {
            at.saturating_add(SETTLE).unwrap_or(at)
        } else {
            settled
        }
    })
}

fn settled(
    end: Place,
    begin: Place,
    of: &[&str],
    counts: impl Fn(&Gap) -> bool,
    case: &Case<'_>,
) -> Outcome {
    if let Some(outcome) = gap(of, begin.at, end.at, counts, case) {
        return outcome.evidence([begin, end]);
    }
    match quiet(end, of, case) {
        None => Outcome::new(Reason::NotYet).evidence([end]),
        Some(quiet) if case.now < quiet => Outcome::new(Reason::NotYet)
            .evidence([end])
            .next(Some(quiet)),
        Some(_) => Outcome::new(Reason::Passed).evidence([begin, end]),
    }
}

fn of_objects(
    forbidden: &Moment,
    until: Option<&Moment>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let missing = moment::missing(forbidden, case);
    if missing.reason == Reason::NoSubject {
        return missing;
    }
    let end = until
        .and_then(|until| moment::first(until, floor, case))
        .map(|hit| hit.place);
    let hit = moment::first(forbidden, floor, case);
    let subject = hit
        .as_ref()
        .map_or_else(String::new, |hit| hit.subject.clone());
    match (hit, end) {
        (Some(hit), None) => Outcome::new(Reason::Forbidden)
            .object(&subject)
            .evidence([hit.place]),
        (Some(hit), Some(end)) if precedes(hit.place, end, &sources(forbidden), case) => {
            Outcome::new(Reason::Forbidden)
                .object(&subject)
                .evidence([hit.place])
        }
        (_, Some(end)) => {
            let begin = floor.or_else(|| begun(forbidden, case)).unwrap_or(end);
            let mut outcome = settled(end, begin, &sources(forbidden), |_| true, case);
            outcome.args.extend(missing.args);
            outcome
        }
        (None, None) => {
            let mut outcome = Outcome::new(Reason::NotYet);
            outcome.args.extend(missing.args);
            outcome
        }
    }
}

fn begun(moment: &Moment, case: &Case<'_>) -> Option<Place> {
    let Moment::Object(object) = moment else {
        return None;
    };
    let lives = case.timeline.objects.matching(&object.objects);
    lives
        .iter()
        .filter_map(|(_, lives)| lives.first()?.versions.first())
        .map(|version| version.place)
        .min_by_key(|place| place.seq)
}
