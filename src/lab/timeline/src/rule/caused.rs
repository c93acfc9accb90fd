//! "It was admitted because that one ended": the cause lies in the waiting time, in the same queue or cohort, and nothing else
//! freed the place between it and the effect.

use super::{lacking, moment, per_attempt};
use crate::{
    attempt::{Attempt, JobFact},
    json,
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
    timeline::Timeline,
};
use course::{FactName, JobMoment, Moment};

pub(super) fn evaluate(
    effect: &Moment,
    by: &Moment,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let Moment::Job(job) = effect else {
        return Outcome::new(Reason::NoSubject);
    };
    let other_causes: Vec<Place> = match by {
        Moment::Job(_) => Vec::new(),
        Moment::Object(_) | Moment::Answered(_) => moment::occurrences(by, floor, case)
            .into_iter()
            .map(|hit| hit.place)
            .collect(),
    };
    let case = &*case;
    per_attempt(&job.jobs, floor, case, |attempt| {
        of_attempt(attempt, job, by, &other_causes, floor, case)
    })
}

fn of_attempt(
    attempt: &Attempt,
    job: &JobMoment,
    by: &Moment,
    other_causes: &[Place],
    floor: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    let timeline = case.timeline;
    let mut last: Option<Outcome> = None;
    for effect in attempt.hits(job, floor, timeline) {
        let Some(wait) = waited_since(attempt, effect) else {
            last = Some(Outcome::new(Reason::NeverWas).evidence([effect.place]));
            continue;
        };
        // The reservation is what the cause made possible; later checks only delay the admission.
        let reserved = reserved(attempt, effect).unwrap_or(effect).place;
        let window = Window {
            from: wait.place,
            to: reserved,
            queue: effect.details.cluster_queue.as_deref(),
        };
        let cause = match by {
            Moment::Job(cause) => window.ended(cause, attempt, timeline),
            Moment::Object(_) | Moment::Answered(_) => window.latest(other_causes),
        };
        let outcome = match (cause, window.quota_change(timeline)) {
            (Some(cause), Some((_, changed)))
                if !changed.before(&cause) && matches!(by, Moment::Job(_)) =>
            {
                window.quota_changed(timeline)
            }
            (Some(cause), _) => {
                return Outcome::new(Reason::Passed).evidence([wait.place, cause, effect.place]);
            }
            (None, Some(_)) => window.quota_changed(timeline),
            (None, None) => {
                let gap = super::gap(
                    crate::silence::JOB_SOURCES,
                    wait.place.at,
                    reserved.at,
                    |_| true,
                    case,
                );
                gap.unwrap_or_else(|| Outcome::new(Reason::OtherCause))
            }
        };
        last = Some(outcome.evidence([wait.place, effect.place]));
    }
    last.unwrap_or_else(|| lacking(attempt, job))
}

/// Since when it had been waiting with a reason before that fact.
fn waited_since<'a>(attempt: &'a Attempt, effect: &JobFact) -> Option<&'a JobFact> {
    let earlier: Vec<&JobFact> = attempt
        .facts
        .iter()
        .take_while(|fact| fact.place != effect.place)
        .collect();
    let restart = earlier
        .iter()
        .rposition(|fact| {
            matches!(
                fact.name,
                FactName::Managed | FactName::Requeued | FactName::Evicted
            )
        })
        .unwrap_or(0);
    earlier
        .into_iter()
        .skip(restart)
        .find(|fact| fact.name == FactName::Queued)
}

fn reserved<'a>(attempt: &'a Attempt, effect: &JobFact) -> Option<&'a JobFact> {
    attempt
        .facts
        .iter()
        .take_while(|fact| fact.place != effect.place)
        .filter(|fact| fact.name == FactName::QuotaReserved)
        .last()
}

/// The time of waiting, and the queue in which it ended.
struct Window<'a> {
    from: Place,
    to: Place,
    queue: Option<&'a str>,
}

impl Window<'_> {
    fn holds(&self, place: &Place) -> bool {
        self.from.before(place) && place.before(&self.to)
    }

    fn latest(&self, places: &[Place]) -> Option<Place> {
        places.iter().rev().find(|place| self.holds(place)).copied()
    }

    /// The latest end of one of the named jobs that held quota in the same queue or cohort.
    fn ended(&self, cause: &JobMoment, effect: &Attempt, timeline: &Timeline) -> Option<Place> {
        timeline
            .attempts_of(&cause.jobs)
            .filter(|other| other.uid != effect.uid && self.linked(other, timeline))
            .flat_map(|other| other.hits(cause, None, timeline))
            .map(|fact| fact.place)
            .filter(|place| self.holds(place))
            .max_by_key(|place| (place.version, place.seq))
    }

    fn linked(&self, other: &Attempt, timeline: &Timeline) -> bool {
        let theirs = other
            .facts
            .iter()
            .rev()
            .find_map(|fact| fact.details.cluster_queue.as_deref());
        match (self.queue, theirs) {
            (Some(mine), Some(theirs)) => {
                mine == theirs
                    || (cohort(mine, timeline).is_some()
                        && cohort(mine, timeline) == cohort(theirs, timeline))
            }
            _ => false,
        }
    }

    /// The latest change of a quota that could have made room: of the queue itself, its cohort or a queue beside it.
    fn quota_change(&self, timeline: &Timeline) -> Option<(String, Place)> {
        let mine = self.queue?;
        let shared = cohort(mine, timeline);
        let mut changes: Vec<(String, Place)> = Vec::new();
        for kind in ["ClusterQueue", "Cohort"] {
            for (key, lives) in timeline.objects.of_kind(kind) {
                let beside = match kind {
                    "Cohort" => shared.as_deref() == Some(key.name.as_str()),
                    _ => {
                        key.name == mine
                            || (shared.is_some() && cohort(&key.name, timeline) == shared)
                    }
                };
                let versions = lives.iter().flat_map(|life| &life.versions);
                let changed =
                    versions.filter(|version| version.spec_changed && self.holds(&version.place));
                if beside {
                    changes.extend(
                        changed.map(|version| (format!("{kind}/{}", key.name), version.place)),
                    );
                }
            }
        }
        changes
            .into_iter()
            .max_by_key(|(_, place)| (place.version, place.seq))
    }

    fn quota_changed(&self, timeline: &Timeline) -> Outcome {
        match self.quota_change(timeline) {
            Some((name, place)) => Outcome::new(Reason::QuotaChanged)
                .arg("object", name)
                .evidence([place]),
            None => Outcome::new(Reason::OtherCause),
        }
    }
}

fn cohort(queue: &str, timeline: &Timeline) -> Option<String> {
    let object = timeline.object("ClusterQueue", None, queue)?;
    json::text(object, "spec.cohortName")
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}
