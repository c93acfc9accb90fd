//! Assignments in the form of the wire: as few bytes as the form allows, because thousands of domains have to fit into one object.

use kueue_api::v1beta2 as api;
use scheduler::topology::{DomainAssignment, TopologyAssignment};

use super::prefixes::{MOST_DOMAINS, prefix_keys, runs};

/// The form of the wire. With `by_prefix` (gate `TASAssignmentsEncodingByHostnamePrefix`) nodes that share the beginning of their names
/// may come in slices of their own, when that is shorter.
#[must_use]
pub fn encode(assignment: &TopologyAssignment, by_prefix: bool) -> api::TopologyAssignment {
    let one = || of_slices(assignment, [assignment.domains.as_slice()]);
    if !by_prefix {
        return one();
    }
    let prefixed = encode_by_prefix(assignment);
    // One slice holds no more than that, however short it would be.
    if prefixed.slices.len() <= 1 || assignment.domains.len() > MOST_DOMAINS {
        return prefixed;
    }
    let one = one();
    let size =
        |encoded: &api::TopologyAssignment| serde_json::to_vec(encoded).map(|text| text.len());
    match (size(&one), size(&prefixed)) {
        (Ok(short), Ok(long)) if short < long => one,
        _ => prefixed,
    }
}

/// The form with a slice for each run of nodes with the same beginning.
#[must_use]
pub fn encode_by_prefix(assignment: &TopologyAssignment) -> api::TopologyAssignment {
    let domains = assignment.domains.as_slice();
    let keys = if domains.len() > 1 && assignment.names_nodes() {
        prefix_keys(domains)
    } else {
        Vec::new()
    };
    let chunks = runs(domains, &keys)
        .into_iter()
        .flat_map(|run| run.chunks(MOST_DOMAINS));
    of_slices(assignment, chunks)
}

fn of_slices<'a>(
    assignment: &TopologyAssignment,
    parts: impl IntoIterator<Item = &'a [DomainAssignment]>,
) -> api::TopologyAssignment {
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    api::TopologyAssignment {
        levels: assignment.levels.clone(),
        slices: parts
            .map(|part| slice(assignment.levels.len(), part))
            .collect(),
    }
}

fn slice(levels: usize, domains: &[DomainAssignment]) -> api::TopologyAssignmentSlice {
    let at = |level: usize| -> Vec<&str> {
        let values = domains.iter().map(|domain| domain.values.get(level));
        values
            .map(|value| value.map_or("", String::as_str))
            .collect()
    };
    api::TopologyAssignmentSlice {
        domain_count: narrow(i64::try_from(domains.len()).unwrap_or(i64::MAX)),
        values_per_level: (0..levels).map(|level| level_values(&at(level))).collect(),
        pod_counts: pod_counts(domains),
    }
}

fn pod_counts(domains: &[DomainAssignment]) -> api::TopologyPodCounts {
    let counts: Vec<_> = domains.iter().map(|domain| narrow(domain.count)).collect();
    match counts.first() {
        Some(first) if counts.iter().all(|count| count == first) => api::TopologyPodCounts {
            universal: Some(*first),
            individual: Vec::new(),
        },
        _ => api::TopologyPodCounts {
            universal: None,
            individual: counts,
        },
    }
}

fn level_values(values: &[&str]) -> api::TopologyLevelValues {
    let [first, others @ ..] = values else {
        return api::TopologyLevelValues::default();
    };
    if others.iter().all(|other| other == first) {
        return api::TopologyLevelValues {
            universal: Some((*first).to_owned()),
            individual: None,
        };
    }
    let suffix = others
        .iter()
        .fold(*first, |common, other| common_end(common, other));
    // The beginning is looked for in what the end leaves, so that both never overlap.
    let rest = |value: &&'_ str| value.len() - suffix.len();
    let shortest = values.iter().map(rest).min().unwrap_or(0);
    let prefix = others
        .iter()
        .fold(*first, |common, other| common_start(common, other));
    let prefix = &prefix[..floor_boundary(prefix, prefix.len().min(shortest))];
    let part = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let root = |value: &&str| value[prefix.len()..value.len() - suffix.len()].to_owned();
    let individual = api::IndividualLevelValues {
        prefix: part(prefix),
        suffix: part(suffix),
        roots: values.iter().map(root).collect(),
    };
    api::TopologyLevelValues {
        universal: None,
        individual: Some(individual),
    }
}

fn common_start<'a>(a: &'a str, b: &str) -> &'a str {
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    &a[..floor_boundary(a, same)]
}

fn common_end<'a>(a: &'a str, b: &str) -> &'a str {
    let pairs = a.bytes().rev().zip(b.bytes().rev());
    let mut start = a.len() - pairs.take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(start) {
        start += 1;
    }
    &a[start..]
}

fn floor_boundary(text: &str, mut end: usize) -> usize {
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

fn narrow(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
