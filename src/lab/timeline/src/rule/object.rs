//! "An object satisfied a predicate": once, for a while, or now.

use super::gap;
use crate::{
    judge::Case,
    objects::{Key, Life},
    outcome::{Outcome, Reason},
    place::Place,
};
use course::ObjectRule;
use jiff::{SignedDuration, Timestamp};

pub(super) fn evaluate(rule: &ObjectRule, floor: Option<Place>, case: &mut Case<'_>) -> Outcome {
    let timeline = case.timeline;
    let found = timeline.objects.matching(&rule.objects);
    let Some(newest) = found
        .iter()
        .filter_map(|(_, lives)| lives.last()?.last())
        .map(|version| version.place)
        .max_by_key(|place| place.seq)
    else {
        return Outcome::new(Reason::NoSubject).object(&rule.objects.describe());
    };
    let outcome = if rule.level {
        level(rule, &found, case)
    } else {
        latched(rule, &found, floor, case)
    };
    let gone = found
        .iter()
        .all(|(_, lives)| lives.last().is_none_or(|life| life.deleted.is_some()));
    match outcome {
        Some(outcome) => outcome,
        None if gone => {
            let deleted = found
                .iter()
                .filter_map(|(_, lives)| lives.last()?.deleted)
                .max_by_key(|place| place.seq);
            Outcome::new(Reason::Deleted)
                .object(&rule.objects.describe())
                .evidence(deleted)
        }
        None => Outcome::new(Reason::NotHolding)
            .object(&rule.objects.describe())
            .evidence([newest]),
    }
}

/// It holds now: of some object that exists, or of every one.
fn level(rule: &ObjectRule, found: &[(&Key, &[Life])], case: &mut Case<'_>) -> Option<Outcome> {
    let mut holding = Vec::new();
    let mut failing = Vec::new();
    for (_, lives) in found {
        let Some(version) = lives
            .last()
            .filter(|life| life.deleted.is_none())
            .and_then(Life::last)
        else {
            continue;
        };
        let side = if case.memo.holds(&rule.holds, version, case.timeline) {
            &mut holding
        } else {
            &mut failing
        };
        side.push(version.place);
    }
    let passes = !holding.is_empty() && (!rule.every || failing.is_empty());
    passes.then(|| {
        Outcome::new(Reason::Passed)
            .object(&rule.objects.describe())
            .evidence(holding)
    })
}

/// It held once, for as long as asked.
fn latched(
    rule: &ObjectRule,
    found: &[(&Key, &[Life])],
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Option<Outcome> {
    let mut best: Option<Outcome> = None;
    for (key, lives) in found {
        let name = format!("{}/{}", key.kind, key.name);
        for life in *lives {
            for (begin, end) in holding(rule, life, floor, case) {
                let outcome = lasted(rule, &key.kind, begin, end, case).object(&name);
                if outcome.passed() {
                    return Some(outcome);
                }
                best = Some(outcome);
            }
        }
    }
    best
}

/// The stretches of one life in which the predicate is true: (since, until).
fn holding(
    rule: &ObjectRule,
    life: &Life,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Vec<(Place, Option<Place>)> {
    let mut spans: Vec<(Place, Option<Place>)> = Vec::new();
    let mut open: Option<Place> = None;
    for (index, version) in life.versions.iter().enumerate() {
        let next = life
            .versions
            .get(index + 1)
            .map(|next| next.place)
            .or(life.deleted);
        // A version counts when it is still the present one after the floor.
        let counts = floor.is_none_or(|floor| next.is_none_or(|next| floor.before(&next)));
        let holds = counts && case.memo.holds(&rule.holds, version, case.timeline);
        match (holds, open) {
            (true, None) => {
                open = Some(
                    floor
                        .filter(|floor| version.place.before(floor))
                        .unwrap_or(version.place),
                );
            }
            (false, Some(begin)) => {
                spans.push((begin, Some(version.place)));
                open = None;
            }
            _ => {}
        }
    }
    spans.extend(open.map(|begin| (begin, life.deleted)));
    spans
}

fn lasted(
    rule: &ObjectRule,
    kind: &str,
    begin: Place,
    end: Option<Place>,
    case: &Case<'_>,
) -> Outcome {
    let Some(hold) = rule.hold else {
        return Outcome::new(Reason::Passed).evidence([begin]);
    };
    let wanted = SignedDuration::try_from(hold).unwrap_or(SignedDuration::MAX);
    let until: Timestamp = end.map_or(case.now, |end| end.at);
    let of = [kind];
    let silence = &case.timeline.silence;
    let mut from = begin.at;
    let mut longest = SignedDuration::ZERO;
    let length = |from: Timestamp, to: Timestamp| {
        to.duration_since(from)
            .max(SignedDuration::ZERO)
            .saturating_sub(silence.unseen(&of, from, to))
    };
    while let Some(gap) = silence.gap_between(&of, from, until, |_| true) {
        longest = longest.max(length(from, gap.from.max(from)));
        from = gap.to;
    }
    let current = length(from, until);
    let evidence = [begin].into_iter().chain(end);
    if longest.max(current) >= wanted {
        return Outcome::new(Reason::Passed)
            .seconds(longest.max(current), hold)
            .evidence(evidence);
    }
    if end.is_none() {
        let next = (!silence.interrupted(&of))
            .then(|| case.now.saturating_add(wanted.saturating_sub(current)).ok())
            .flatten();
        return Outcome::new(Reason::Holding)
            .seconds(current, hold)
            .evidence(evidence)
            .next(next);
    }
    gap(&of, begin.at, until, |_| true, case)
        .unwrap_or_else(|| Outcome::new(Reason::TooShort).seconds(longest.max(current), hold))
        .evidence(evidence)
}
