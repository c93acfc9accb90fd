//! The ten words of criteria, each in a file of its own. Every evaluator answers with an outcome; none keeps anything.
//!
//! Sticky words are monotone: once passed on a prefix of the log, passed on every longer one, because facts are only
//! appended and every word asks for "there is …" or is settled by an event that is already in the prefix.

mod answer;
mod caused;
mod count;
mod moment;
mod never;
mod object;
mod order;
mod reaches;
mod stays;

use crate::{
    attempt::Attempt,
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
    silence::Gap,
};
use course::{FactName, JobMoment, JobSet, Moment, Rule, RuleKind};
use jiff::{SignedDuration, Timestamp};

/// How long a conclusion from silence waits for other watches to deliver what happened at the same time.
const SETTLE: SignedDuration = SignedDuration::from_millis(150);

pub(crate) fn evaluate(rule: &Rule, case: &mut Case<'_>) -> Outcome {
    let floor = match &rule.after {
        None => None,
        Some(after) => match moment::first(after, None, case) {
            Some(hit) => Some(hit.place),
            None => return moment::missing(after, case),
        },
    };
    match &rule.kind {
        RuleKind::Answer {
            question,
            expected,
            before,
        } => answer::evaluate(question, expected, before.as_ref(), floor, case),
        RuleKind::Object(rule) => object::evaluate(rule, floor, case),
        RuleKind::Reaches {
            moment,
            within,
            since,
        } => reaches::evaluate(moment, *within, since.as_ref(), floor, case),
        RuleKind::Stays { state, hold } => stays::evaluate(state, *hold, floor, case),
        RuleKind::Never { moment, until } => never::evaluate(moment, until.as_ref(), floor, case),
        RuleKind::Order { moments, within } => order::evaluate(moments, *within, floor, case),
        RuleKind::Caused { moment, by } => caused::evaluate(moment, by, floor, case),
        RuleKind::Count {
            moment,
            at_least,
            at_most,
            until,
        } => count::evaluate(moment, *at_least, *at_most, until.as_ref(), floor, case),
        RuleKind::All(rules) => all(rules, case),
        RuleKind::Any(rules) => any(rules, case),
    }
}

/// All must pass; shown is the first that did not, a failed one before a waiting one.
fn all(rules: &[Rule], case: &mut Case<'_>) -> Outcome {
    let outcomes: Vec<Outcome> = rules.iter().map(|rule| evaluate(rule, case)).collect();
    let next = outcomes.iter().fold(None, |next, outcome| {
        crate::outcome::sooner(next, outcome.next)
    });
    let evidence: Vec<u64> = outcomes
        .iter()
        .flat_map(|outcome| outcome.evidence.clone())
        .collect();
    let failed = outcomes
        .iter()
        .find(|outcome| outcome.state() == crate::verdict::State::Failed);
    let shown = failed
        .or_else(|| outcomes.iter().find(|outcome| !outcome.passed()))
        .or(outcomes.first())
        .cloned();
    let mut shown = shown.unwrap_or_else(|| Outcome::new(Reason::NoSubject));
    if shown.passed() {
        shown.evidence = evidence;
        shown.evidence.sort_unstable();
        shown.evidence.dedup();
        return shown;
    }
    shown.next(next)
}

fn any(rules: &[Rule], case: &mut Case<'_>) -> Outcome {
    rules
        .iter()
        .map(|rule| evaluate(rule, case))
        .reduce(Outcome::or)
        .unwrap_or_else(|| Outcome::new(Reason::NoSubject))
}

/// Judges every attempt at the jobs; one pass is enough, else the latest is shown.
fn per_attempt(
    jobs: &JobSet,
    floor: Option<Place>,
    case: &Case<'_>,
    judge: impl Fn(&Attempt) -> Outcome,
) -> Outcome {
    let mut shown: Option<Outcome> = None;
    let mut next = None;
    for attempt in case.timeline.attempts_of(jobs) {
        let begun_before = |floor: Place| {
            attempt
                .facts
                .last()
                .is_none_or(|fact| fact.place.before(&floor))
        };
        if floor.is_some_and(begun_before) {
            continue;
        }
        let outcome = judge(attempt).job(&attempt.job.name);
        if outcome.passed() {
            return outcome;
        }
        next = crate::outcome::sooner(next, outcome.next);
        // A later attempt is judged afresh: what it shows replaces what an earlier one showed.
        shown = Some(match shown {
            Some(other) if other.args.get("job") != outcome.args.get("job") => other.or(outcome),
            _ => outcome,
        });
    }
    match shown {
        Some(outcome) => outcome.next(next),
        None => Outcome::new(Reason::NoSubject).job(&jobs.describe()),
    }
}

/// Why an attempt has not come to a moment.
fn lacking(attempt: &Attempt, moment: &JobMoment) -> Outcome {
    use FactName as F;
    let evidence = attempt.facts.last().map(|fact| fact.place);
    let beyond_managed = !matches!(moment.becomes, F::Submitted | F::Managed | F::Deleted);
    if let Some(deleted) = attempt.latest(F::Deleted) {
        return Outcome::new(Reason::Deleted).evidence([deleted.place]);
    }
    if let Some(finished) = attempt.latest(F::Finished)
        && !matches!(moment.becomes, F::Deleted)
    {
        let unmanaged = beyond_managed
            && !attempt.has(F::Managed)
            && !matches!(moment.becomes, F::Started | F::Running | F::Finished);
        let reason = if unmanaged {
            Reason::Unmanaged
        } else {
            Reason::NeverWas
        };
        return Outcome::new(reason).evidence([finished.place]);
    }
    if beyond_managed && !attempt.has(F::Managed) && !attempt.has(F::Started) {
        return Outcome::new(Reason::Unmanaged).evidence(evidence);
    }
    if let Some(queued) = attempt.waiting_for()
        && beyond_managed
    {
        return Outcome::new(Reason::StillQueued)
            .arg("why", queued.details.reason.clone().unwrap_or_default())
            .arg(
                "message",
                queued.details.message.clone().unwrap_or_default(),
            )
            .evidence([queued.place]);
    }
    Outcome::new(Reason::NotYet).evidence(evidence)
}

/// The kinds from which a moment is known, for questions about gaps.
fn sources(moment: &Moment) -> Vec<&str> {
    match moment {
        Moment::Job(_) => crate::silence::JOB_SOURCES.to_vec(),
        Moment::Object(object) => object
            .objects
            .0
            .iter()
            .map(|object| object.kind.as_str())
            .collect(),
        Moment::Answered(_) => Vec::new(),
    }
}

/// Not judged, when a gap that counts lies between two instants.
fn gap(
    of: &[&str],
    from: Timestamp,
    to: Timestamp,
    counts: impl Fn(&Gap) -> bool,
    case: &Case<'_>,
) -> Option<Outcome> {
    let gap = case.timeline.silence.gap_between(of, from, to, counts)?;
    let mut outcome = Outcome::new(Reason::Gap)
        .arg("from", gap.from.strftime("%H:%M:%S").to_string())
        .arg("to", gap.to.strftime("%H:%M:%S").to_string());
    outcome.evidence.push(gap.seq);
    Some(outcome)
}
