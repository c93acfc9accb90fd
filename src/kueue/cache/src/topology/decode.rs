//! Assignments as the wire has them, back to one entry a domain.

use kueue_api::v1beta2 as api;
use scheduler::topology::{DomainAssignment, TopologyAssignment};

/// The domains of an assignment; `None` if a value or a number of pods that it promises is missing.
#[must_use]
pub fn decode(encoded: &api::TopologyAssignment) -> Option<TopologyAssignment> {
    let mut domains = Vec::new();
    for slice in &encoded.slices {
        for index in 0..usize::try_from(slice.domain_count).ok()? {
            let values = (0..encoded.levels.len())
                .map(|level| value(slice.values_per_level.get(level)?, index))
                .collect::<Option<_>>()?;
            domains.push(DomainAssignment {
                values,
                count: count(&slice.pod_counts, index)?,
            });
        }
    }
    Some(TopologyAssignment {
        levels: encoded.levels.clone(),
        domains,
    })
}

fn value(values: &api::TopologyLevelValues, index: usize) -> Option<String> {
    if let Some(universal) = &values.universal {
        return Some(universal.clone());
    }
    let individual = values.individual.as_ref()?;
    let prefix = individual.prefix.as_deref().unwrap_or_default();
    let suffix = individual.suffix.as_deref().unwrap_or_default();
    let root = individual.roots.get(index)?;
    Some(format!("{prefix}{root}{suffix}"))
}

fn count(counts: &api::TopologyPodCounts, index: usize) -> Option<i64> {
    let individual = || counts.individual.get(index).copied();
    counts.universal.or_else(individual).map(i64::from)
}
