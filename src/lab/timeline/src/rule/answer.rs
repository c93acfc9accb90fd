//! "The trainee's answer is right", compared with a value or with what really happened to their own job.

use super::moment;
use crate::{
    attempt::{Attempt, JobFact},
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
    timeline::{Answer, Timeline},
};
use course::{Expected, FactName, Moment, QuestionId, Take};
use serde_json::Value;

pub(super) fn evaluate(
    question: &QuestionId,
    expected: &Expected,
    before: Option<&Moment>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let ask = |reason: Reason| {
        Outcome::new(reason)
            .arg("question", question.as_str())
            .arg("subject", question.as_str())
    };
    let answers: Vec<Answer> = case
        .timeline
        .answers(question)
        .iter()
        .filter(|answer| floor.is_none_or(|floor| floor.seq < answer.place.seq))
        .cloned()
        .collect();
    let Some(latest) = answers.last() else {
        return ask(Reason::Unanswered);
    };
    let events: Vec<Place> = match before {
        Some(before) => moment::occurrences(before, None, case)
            .into_iter()
            .map(|hit| hit.place)
            .collect(),
        None => Vec::new(),
    };
    // In time: nothing had happened yet, or it happens (again) afterwards.
    let in_time = |answer: &Answer| {
        let earlier = events.iter().any(|event| event.seq < answer.place.seq);
        !earlier || events.iter().any(|event| answer.place.seq < event.seq)
    };
    let right = |answer: &Answer| right(&answer.value, expected, case.timeline);
    let given = shown(&latest.value);
    if let Some(answer) = answers
        .iter()
        .find(|answer| in_time(answer) && right(answer))
    {
        return ask(Reason::Passed)
            .arg("given", shown(&answer.value))
            .evidence([answer.place]);
    }
    let reason = if right(latest) {
        Reason::LateAnswer
    } else {
        Reason::WrongAnswer
    };
    ask(reason).arg("given", given).evidence([latest.place])
}

fn right(given: &Value, expected: &Expected, timeline: &Timeline) -> bool {
    match expected {
        Expected::Given => !shown(given).trim().is_empty(),
        Expected::OneOf(values) => values.iter().any(|value| same(given, value, 0.0)),
        Expected::Set(choices) => {
            let mut found: Vec<String> = match given {
                Value::Array(items) => items.iter().map(shown).collect(),
                other => vec![shown(other)],
            };
            let mut wanted = choices.clone();
            found.sort();
            found.dedup();
            wanted.sort();
            found == wanted
        }
        Expected::SameAs {
            moment,
            take,
            tolerance,
        } => taken(moment, *take, timeline)
            .iter()
            .any(|value| same(given, value, *tolerance)),
    }
}

/// Equal as numbers where both are, else as words without regard to case and outer blanks.
fn same(given: &Value, wanted: &Value, tolerance: f64) -> bool {
    let (left, right) = (shown(given), shown(wanted));
    let number = |text: &str| text.trim().replace(',', ".").parse::<f64>().ok();
    match (number(&left), number(&right)) {
        (Some(left), Some(right)) => (left - right).abs() <= tolerance + 1e-9,
        _ => left.trim().to_lowercase() == right.trim().to_lowercase(),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Everything that the moments of the trainee's own jobs have to offer.
fn taken(moment: &Moment, take: Take, timeline: &Timeline) -> Vec<Value> {
    let Moment::Job(job) = moment else {
        return Vec::new();
    };
    timeline
        .attempts_of(&job.jobs)
        .flat_map(|attempt| {
            attempt
                .hits(job, None, timeline)
                .map(move |fact| (attempt, fact))
        })
        .flat_map(|(attempt, fact)| of_fact(attempt, fact, take, timeline))
        .collect()
}

fn of_fact(attempt: &Attempt, fact: &JobFact, take: Take, timeline: &Timeline) -> Vec<Value> {
    let details = &fact.details;
    let one = |text: Option<&String>| {
        text.map(|text| Value::from(text.as_str()))
            .into_iter()
            .collect()
    };
    match take {
        Take::Reason => one(details.reason.as_ref()),
        Take::Message => one(details.message.as_ref()),
        Take::Flavor => details
            .flavors
            .iter()
            .map(|flavor| Value::from(flavor.as_str()))
            .collect(),
        Take::ClusterQueue => one(details.cluster_queue.as_ref()),
        Take::LocalQueue => one(details.local_queue.as_ref()),
        Take::Node => one(details.node.as_ref()),
        Take::By => timeline
            .preemptor(fact)
            .map(|job| Value::from(job.name.as_str()))
            .into_iter()
            .collect(),
        Take::Name => one(details.workload.as_ref().or(attempt.workloads.last())),
        Take::Job => vec![Value::from(attempt.job.name.as_str())],
        Take::SecondsWaited => {
            let queued = attempt
                .first(FactName::Queued)
                .or_else(|| attempt.first(FactName::Managed));
            queued
                .map(|queued| Value::from(fact.place.at.duration_since(queued.place.at).as_secs()))
                .into_iter()
                .collect()
        }
    }
}
