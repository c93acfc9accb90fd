//! Which beginnings of node names are worth a slice of their own: a beginning ends with `-` and belongs to at least two nodes.

use std::collections::BTreeMap;

use scheduler::topology::DomainAssignment;

/// The most domains that one slice of the wire may hold.
pub(super) const MOST_DOMAINS: usize = 100_000;
/// The most slices that one assignment may have.
const MOST_SLICES: usize = 1_000;

/// For each domain the longest beginning of its node's name that another one shares; empty texts where there is none, an empty list if no
/// name has a `-`. Shorter beginnings are taken when the longest ones made too many slices.
#[must_use]
pub fn prefix_keys(domains: &[DomainAssignment]) -> Vec<String> {
    let starts: Vec<Vec<&str>> = domains.iter().map(beginnings).collect();
    let mut seen: BTreeMap<&str, u8> = BTreeMap::new();
    for start in starts.iter().flatten() {
        let times = seen.entry(start).or_default();
        *times = times.saturating_add(1);
    }
    let shared = |start: &&&str| seen.get(**start).is_some_and(|times| *times > 1);
    let deepest = starts.iter().map(Vec::len).max().unwrap_or(0);
    for depth in (1..=deepest).rev() {
        let key = |starts: &Vec<&str>| {
            let longest = starts.iter().take(depth).rev().find(shared);
            longest.copied().unwrap_or_default().to_owned()
        };
        let keys: Vec<String> = starts.iter().map(key).collect();
        if slices(domains, &keys) <= MOST_SLICES {
            return keys;
        }
    }
    Vec::new()
}

fn slices(domains: &[DomainAssignment], keys: &[String]) -> usize {
    let runs = runs(domains, keys);
    runs.iter().map(|run| chunks(run.len(), MOST_DOMAINS)).sum()
}

/// How many chunks of at most `size` hold `length` things.
#[must_use]
pub fn chunks(length: usize, size: usize) -> usize {
    length.div_ceil(size)
}

/// All that ends with `-` and begins the node's name.
fn beginnings(domain: &DomainAssignment) -> Vec<&str> {
    let name = domain.values.last().map_or("", String::as_str);
    let dashes = name.match_indices('-').map(|(at, _)| at + 1);
    dashes
        .filter(|end| *end < name.len())
        .map(|end| &name[..end])
        .collect()
}

/// The domains in pieces, a new one wherever the key changes; without keys all of them in one.
#[must_use]
pub fn runs<'a>(domains: &'a [DomainAssignment], keys: &[String]) -> Vec<&'a [DomainAssignment]> {
    if domains.is_empty() {
        return Vec::new();
    }
    let (mut found, mut start) = (Vec::new(), 0);
    for next in 1..domains.len() {
        if keys.get(next) != keys.get(start) {
            found.push(&domains[start..next]);
            start = next;
        }
    }
    found.push(&domains[start..]);
    found
}
