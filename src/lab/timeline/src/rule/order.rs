//! "One after the other." Moments of the same jobs are about one and the same attempt; of each, its first occurrence counts,
//! so that what came too early is noticed.

use super::{SETTLE, lacking, moment};
use crate::{
    attempt::Attempt,
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
};
use course::{JobSet, Moment};
use std::time::Duration;

/// How many attempts at each job are considered, from the latest back.
const ATTEMPTS: usize = 6;

pub(super) fn evaluate(
    moments: &[Moment],
    within: Option<Duration>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let mut sets: Vec<&JobSet> = Vec::new();
    for moment in moments {
        if let Moment::Job(job) = moment
            && !sets.contains(&&job.jobs)
        {
            sets.push(&job.jobs);
        }
    }
    let timeline = case.timeline;
    let mut choices: Vec<Vec<&Attempt>> = vec![Vec::new()];
    for set in &sets {
        let mut attempts: Vec<&Attempt> = timeline.attempts_of(set).collect();
        let skip = attempts.len().saturating_sub(ATTEMPTS);
        attempts.drain(..skip);
        if attempts.is_empty() {
            return Outcome::new(Reason::NoSubject).job(&set.describe());
        }
        choices = choices
            .iter()
            .flat_map(|chosen| {
                attempts
                    .iter()
                    .map(move |attempt| chosen.iter().copied().chain([*attempt]).collect())
            })
            .collect();
    }
    let others: Vec<Vec<moment::Hit>> = moments
        .iter()
        .map(|moment| match moment {
            Moment::Job(_) => Vec::new(),
            Moment::Object(_) | Moment::Answered(_) => moment::occurrences(moment, floor, case),
        })
        .collect();
    let mut shown: Option<Outcome> = None;
    for chosen in &choices {
        let sequence = Sequence {
            moments,
            sets: &sets,
            chosen,
            others: &others,
            floor,
        };
        let outcome = sequence.judge(within, case);
        if outcome.passed() {
            return outcome;
        }
        shown = Some(outcome);
    }
    shown.unwrap_or_else(|| Outcome::new(Reason::NoSubject))
}

/// One way of reading the moments: which attempt each job set means.
struct Sequence<'a> {
    moments: &'a [Moment],
    sets: &'a [&'a JobSet],
    chosen: &'a [&'a Attempt],
    others: &'a [Vec<moment::Hit>],
    floor: Option<Place>,
}

impl Sequence<'_> {
    fn attempt(&self, moment: &Moment) -> Option<&Attempt> {
        let Moment::Job(job) = moment else {
            return None;
        };
        let index = self.sets.iter().position(|set| **set == job.jobs)?;
        self.chosen.get(index).copied()
    }

    /// The first occurrence of each job moment; a moment written twice means its next occurrence.
    fn job_places(&self, case: &Case<'_>) -> Vec<Option<Place>> {
        let mut places: Vec<Option<Place>> = Vec::new();
        for (index, moment) in self.moments.iter().enumerate() {
            let place = match (moment, self.attempt(moment)) {
                (Moment::Job(job), Some(attempt)) => {
                    let earlier = self
                        .moments
                        .iter()
                        .take(index)
                        .filter(|other| *other == moment)
                        .count();
                    attempt
                        .hits(job, self.floor, case.timeline)
                        .nth(earlier)
                        .map(|fact| fact.place)
                }
                _ => None,
            };
            places.push(place);
        }
        places
    }

    /// The moments of objects and answers: the last occurrence that still fits before what follows.
    fn places(&self, case: &Case<'_>) -> Vec<Option<Place>> {
        let mut places = self.job_places(case);
        for index in 0..self.moments.len() {
            let Some(hits) = self
                .others
                .get(index)
                .filter(|_| !matches!(self.moments.get(index), Some(Moment::Job(_))))
            else {
                continue;
            };
            let lower = places.iter().take(index).rev().find_map(|place| *place);
            let upper = places.iter().skip(index + 1).find_map(|place| *place);
            let after = |place: &Place| lower.is_none_or(|lower| lower.before(place));
            let fitting: Vec<Place> = hits.iter().map(|hit| hit.place).filter(after).collect();
            let last_fitting = fitting
                .iter()
                .rev()
                .find(|place| upper.is_none_or(|upper| place.before(&upper)));
            if let Some(slot) = places.get_mut(index) {
                *slot = last_fitting.or(fitting.first()).copied();
            }
        }
        places
    }

    fn judge(&self, within: Option<Duration>, case: &Case<'_>) -> Outcome {
        let places = self.places(case);
        let mut previous: Option<Place> = None;
        for (index, (moment, place)) in self.moments.iter().zip(&places).enumerate() {
            let later = places.iter().skip(index + 1).find_map(|place| *place);
            let Some(place) = place else {
                return match later {
                    Some(early) => self.too_early(moment, early, case),
                    None => self.lacking(moment, previous, within, case),
                };
            };
            if let Some(before) = previous
                && !in_order(&before, place)
            {
                return self.name(
                    moment,
                    Outcome::new(Reason::OutOfOrder).evidence([*place, before]),
                );
            }
            previous = Some(*place);
        }
        let all: Vec<Place> = places.iter().filter_map(|place| *place).collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else {
            return Outcome::new(Reason::NoSubject);
        };
        let taken = last.at.duration_since(first.at);
        let outcome = match within {
            Some(limit)
                if taken
                    > jiff::SignedDuration::try_from(limit)
                        .unwrap_or(jiff::SignedDuration::MAX) =>
            {
                Outcome::new(Reason::TooLate).seconds(taken, limit)
            }
            _ => Outcome::new(Reason::Passed),
        };
        self.named(outcome).evidence(all)
    }

    /// Something later is already there. Another watch may still bring what is missing; after a moment it is a fault.
    fn too_early(&self, missing: &Moment, early: Place, case: &Case<'_>) -> Outcome {
        let quiet = early.at.saturating_add(SETTLE).ok();
        if quiet.is_some_and(|quiet| case.now < quiet) {
            return self.name(
                missing,
                Outcome::new(Reason::NotYet).evidence([early]).next(quiet),
            );
        }
        self.name(missing, Outcome::new(Reason::OutOfOrder).evidence([early]))
    }

    fn lacking(
        &self,
        moment: &Moment,
        previous: Option<Place>,
        within: Option<Duration>,
        case: &Case<'_>,
    ) -> Outcome {
        let outcome = match (moment, self.attempt(moment)) {
            (Moment::Job(job), Some(attempt)) => lacking(attempt, job),
            _ => moment::missing(moment, case),
        };
        let _ = within;
        self.name(moment, outcome).evidence(previous)
    }

    fn name(&self, moment: &Moment, outcome: Outcome) -> Outcome {
        match (moment, self.attempt(moment)) {
            (_, Some(attempt)) => outcome.job(&attempt.job.name),
            (Moment::Object(object), None) => outcome.object(&object.objects.describe()),
            (Moment::Answered(question), None) => outcome.arg("question", question.as_str()),
            (Moment::Job(job), None) => outcome.job(&job.jobs.describe()),
        }
    }

    /// Named after the last job of the sequence.
    fn named(&self, outcome: Outcome) -> Outcome {
        match self
            .moments
            .iter()
            .rev()
            .find(|moment| matches!(moment, Moment::Job(_)))
            .or(self.moments.last())
        {
            Some(moment) => self.name(moment, outcome),
            None => outcome,
        }
    }
}

/// Facts found by one listing have no order among themselves; they are taken in the order in which they are asked for.
fn in_order(before: &Place, after: &Place) -> bool {
    before.before(after) || (before.listed() && after.listed() && before.at == after.at)
}
