//! Differences between what two controllers left behind, and the table of all scripts.

use std::collections::BTreeMap;

use serde_json::Value;

use super::known::KNOWN;

/// Normal objects by kind, namespace and name.
pub(super) type Objects = BTreeMap<String, Value>;

/// What came of a script.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many objects there were.
    objects: usize,
    differences: Vec<String>,
    /// Reasons of differences that are known, and how often.
    known: BTreeMap<&'static str, usize>,
    failed: Option<String>,
}

impl Outcome {
    pub(super) fn failed(side: &str, error: &anyhow::Error) -> Self {
        Self {
            failed: Some(format!("{side}: {error:#}")),
            ..Self::default()
        }
    }

    /// Only ours came to rest, for a reason that is known.
    pub(super) fn ours_alone(objects: usize, reason: &'static str) -> Self {
        Self {
            objects,
            known: BTreeMap::from([(reason, 1)]),
            ..Self::default()
        }
    }

    /// Nothing differs but what is known to.
    pub(super) fn is_good(&self) -> bool {
        self.failed.is_none() && self.differences.is_empty()
    }
}

/// Everything that differs.
pub(super) fn compare(theirs: &Objects, ours: &Objects) -> Outcome {
    let mut outcome = Outcome {
        objects: theirs.len().max(ours.len()),
        ..Outcome::default()
    };
    let names = theirs.keys().chain(ours.keys());
    let names: std::collections::BTreeSet<_> = names.collect();
    for name in names {
        let (left, right) = (theirs.get(name), ours.get(name));
        let mut found = Vec::new();
        differ(
            String::new(),
            left.unwrap_or(&Value::Null),
            right.unwrap_or(&Value::Null),
            &mut found,
        );
        for Difference { path, theirs, ours } in found {
            match known(name, &path, (theirs, ours)) {
                Some(reason) => *outcome.known.entry(reason).or_default() += 1,
                None => outcome
                    .differences
                    .push(format!("{name}{path}: theirs {theirs}, ours {ours}")),
            }
        }
    }
    outcome
}

/// A place where two objects differ.
struct Difference<'a> {
    path: String,
    theirs: &'a Value,
    ours: &'a Value,
}

fn known(name: &str, path: &str, (theirs, ours): (&Value, &Value)) -> Option<&'static str> {
    let found = KNOWN.iter().find(|known| {
        name.starts_with(known.kind)
            && path == known.path
            && theirs == known.theirs
            && ours == known.ours
    });
    found.map(|known| known.reason)
}

fn differ<'a>(path: String, left: &'a Value, right: &'a Value, found: &mut Vec<Difference<'a>>) {
    match (left, right) {
        _ if left == right => {}
        (Value::Object(left), Value::Object(right)) => {
            let names = left.keys().chain(right.keys());
            let names: std::collections::BTreeSet<_> = names.collect();
            for name in names {
                let (left, right) = (
                    left.get(name).unwrap_or(&Value::Null),
                    right.get(name).unwrap_or(&Value::Null),
                );
                differ(format!("{path}.{name}"), left, right, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                let named = left
                    .get("type")
                    .or(left.get("name"))
                    .and_then(Value::as_str);
                let at = named.map_or_else(|| at.to_string(), str::to_owned);
                differ(format!("{path}[{at}]"), left, right, found);
            }
        }
        _ => found.push(Difference {
            path,
            theirs: left,
            ours: right,
        }),
    }
}

/// A line of the table.
#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
pub(super) fn line(name: &str, outcome: &Outcome, verbose: bool) {
    let verdict = match &outcome.failed {
        Some(failure) => format!("FAILED  {failure}"),
        None if outcome.is_good() => format!("same    {:>3} objects", outcome.objects),
        None => format!(
            "DIFFERS {:>3} objects, {} places",
            outcome.objects,
            outcome.differences.len()
        ),
    };
    let known: usize = outcome.known.values().sum();
    let known = if known > 0 {
        format!(", {known} known")
    } else {
        String::new()
    };
    println!("{name:<44} {verdict}{known}");
    let shown = if verbose { usize::MAX } else { 4 };
    for difference in outcome.differences.iter().take(shown) {
        println!("    {difference}");
    }
}

/// The last lines; whether all is well.
#[expect(clippy::print_stdout, reason = "the table is what the command is for")]
pub(super) fn sum(outcomes: &[Outcome]) -> bool {
    let good = outcomes.iter().filter(|outcome| outcome.is_good()).count();
    let failed = outcomes
        .iter()
        .filter(|outcome| outcome.failed.is_some())
        .count();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in outcomes {
        for (reason, times) in &outcome.known {
            *known.entry(reason).or_default() += times;
        }
    }
    for (reason, times) in known {
        println!("known {times:>4}: {reason}");
    }
    let differ = outcomes.len() - good - failed;
    println!("{good} same, {differ} differ, {failed} failed");
    good == outcomes.len()
}
