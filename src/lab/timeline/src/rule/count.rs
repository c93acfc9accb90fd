//! "So many different jobs did it."

use super::{SETTLE, gap, moment, sources};
use crate::{
    judge::Case,
    outcome::{Outcome, Reason},
    place::Place,
};
use course::Moment;

pub(super) fn evaluate(
    counted: &Moment,
    at_least: Option<u32>,
    at_most: Option<u32>,
    until: Option<&Moment>,
    floor: Option<Place>,
    case: &mut Case<'_>,
) -> Outcome {
    let end = until.map(|until| moment::first(until, floor, case).map(|hit| hit.place));
    let hits = moment::occurrences(counted, floor, case);
    let ceiling = end.flatten();
    let mut names: Vec<&str> = Vec::new();
    let mut places: Vec<Place> = Vec::new();
    for hit in hits
        .iter()
        .filter(|hit| ceiling.is_none_or(|end| hit.place.before(&end)))
    {
        if !names.contains(&hit.subject.as_str()) {
            names.push(&hit.subject);
            places.push(hit.place);
        }
    }
    let seen = u32::try_from(names.len()).unwrap_or(u32::MAX);
    let told = |reason: Reason, wanted: u32| {
        let subject = names.join(", ");
        Outcome::new(reason)
            .arg("seen", i64::from(seen))
            .arg("wanted", i64::from(wanted))
            .arg("subject", subject)
    };
    if let Some(most) = at_most.filter(|most| seen > *most) {
        return told(Reason::TooMany, most).evidence(places);
    }
    let wanted = at_least.unwrap_or(0);
    let enough = seen >= wanted;
    match (enough, at_most, end) {
        (true, None, _) => told(Reason::Passed, wanted).evidence(places),
        (true, Some(most), Some(Some(end))) => {
            let begin = places.first().copied().unwrap_or(end);
            if let Some(outcome) = gap(&sources(counted), begin.at, end.at, |_| true, case) {
                return outcome.evidence(places);
            }
            match end.at.saturating_add(SETTLE) {
                Ok(quiet) if case.now < quiet => told(Reason::Counting, most)
                    .evidence(places)
                    .next(Some(quiet)),
                _ => told(Reason::Passed, most).evidence(places.into_iter().chain([end])),
            }
        }
        (false, _, _) if names.is_empty() => moment::missing(counted, case),
        (_, most, _) => told(
            Reason::Counting,
            if enough {
                most.unwrap_or(wanted)
            } else {
                wanted
            },
        )
        .evidence(places),
    }
}
