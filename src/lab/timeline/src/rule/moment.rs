//! Where in the log the moments of a lab occur.

use super::lacking;
use crate::{
    judge::Case,
    objects::differs,
    outcome::{Outcome, Reason},
    place::Place,
};
use course::{Moment, ObjectChange, ObjectMoment};

/// One occurrence of a moment, and the name of what it happened to.
#[derive(Clone, Debug)]
pub(super) struct Hit {
    pub(super) place: Place,
    pub(super) subject: String,
}

/// Every occurrence after `floor`, in the order of the log.
pub(super) fn occurrences(moment: &Moment, floor: Option<Place>, case: &mut Case<'_>) -> Vec<Hit> {
    let mut hits = match moment {
        Moment::Job(job) => case
            .timeline
            .attempts_of(&job.jobs)
            .flat_map(|attempt| {
                attempt.hits(job, floor, case.timeline).map(|fact| Hit {
                    place: fact.place,
                    subject: attempt.job.name.clone(),
                })
            })
            .collect(),
        Moment::Object(object) => of_objects(object, case),
        Moment::Answered(question) => case
            .timeline
            .answers(question)
            .iter()
            .map(|answer| Hit {
                place: answer.place,
                subject: question.to_string(),
            })
            .collect(),
    };
    hits.retain(|hit| floor.is_none_or(|floor| floor.before(&hit.place)));
    hits.sort_by_key(|hit| (hit.place.seq, hit.place.rank));
    hits
}

pub(super) fn first(moment: &Moment, floor: Option<Place>, case: &mut Case<'_>) -> Option<Hit> {
    occurrences(moment, floor, case).into_iter().next()
}

fn of_objects(moment: &ObjectMoment, case: &mut Case<'_>) -> Vec<Hit> {
    let timeline = case.timeline;
    let mut hits = Vec::new();
    for (key, lives) in timeline.objects.matching(&moment.objects) {
        let mut hit = |place: Place| {
            hits.push(Hit {
                place,
                subject: format!("{}/{}", key.kind, key.name),
            });
        };
        for life in lives {
            match &moment.change {
                ObjectChange::Created => life
                    .versions
                    .first()
                    .map(|version| version.place)
                    .into_iter()
                    .for_each(&mut hit),
                ObjectChange::Deleted => life.deleted.into_iter().for_each(&mut hit),
                ObjectChange::Changes(path) => {
                    let in_spec = path == "spec" || path.starts_with("spec.");
                    for pair in life.versions.windows(2) {
                        let [before, after] = pair else { continue };
                        let changed = (!in_spec || after.spec_changed)
                            && differs(&before.object, &after.object, path);
                        if changed {
                            hit(after.place);
                        }
                    }
                }
                ObjectChange::Holds(predicate) => {
                    let mut held = false;
                    for version in &life.versions {
                        let holds = case.memo.holds(predicate, version, timeline);
                        if holds && !held {
                            hit(version.place);
                        }
                        held = holds;
                    }
                }
            }
        }
    }
    hits
}

/// What to say when a moment has not come at all.
pub(super) fn missing(moment: &Moment, case: &Case<'_>) -> Outcome {
    match moment {
        Moment::Job(job) => {
            super::per_attempt(&job.jobs, None, case, |attempt| lacking(attempt, job))
        }
        Moment::Object(object) => {
            let lives = case.timeline.objects.matching(&object.objects);
            let name = object.objects.describe();
            let place = lives
                .iter()
                .filter_map(|(_, lives)| lives.last()?.last())
                .map(|version| version.place)
                .next_back();
            let reason = match (place, &object.change) {
                (None, _) => Reason::NoSubject,
                (Some(_), ObjectChange::Holds(_)) => Reason::NotHolding,
                (Some(_), _) => Reason::NotYet,
            };
            Outcome::new(reason).object(&name).evidence(place)
        }
        Moment::Answered(question) => {
            Outcome::new(Reason::Unanswered).arg("question", question.as_str())
        }
    }
}
