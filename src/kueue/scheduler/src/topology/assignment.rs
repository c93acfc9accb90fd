//! The domains that the pods of a set go to, and what they take there. The wire has a compressed form of the same, which `cache` knows.

use std::collections::BTreeMap;

use quantity::{Amount, Requests, ResourceName};

use super::HOSTNAME;
use crate::names::FlavorName;

/// Some pods of a set in one domain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainAssignment {
    /// The domain: one value for each level of the assignment.
    pub values: Vec<String>,
    /// How many pods.
    pub count: i64,
}

/// Where the pods of a set go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TopologyAssignment {
    /// The levels by which domains are named, from the widest; only the last one if that is the node itself.
    pub levels: Vec<String>,
    /// The domains, ordered by their values.
    pub domains: Vec<DomainAssignment>,
}

impl TopologyAssignment {
    /// Whether its domains are single nodes.
    #[must_use]
    pub fn names_nodes(&self) -> bool {
        self.levels.last().is_some_and(|level| level == HOSTNAME)
    }

    /// The nodes it names, if its domains are nodes.
    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        let named = self.domains.iter().filter(|_| self.names_nodes());
        named.filter_map(|domain| domain.values.last().map(String::as_str))
    }

    /// Whether some of its pods go to this node.
    #[must_use]
    pub fn uses_node(&self, node: &str) -> bool {
        let here = |domain: &DomainAssignment| {
            domain.count > 0 && domain.values.last().is_some_and(|value| value == node)
        };
        self.names_nodes() && self.domains.iter().any(here)
    }

    /// All its pods.
    #[must_use]
    pub fn pods(&self) -> i64 {
        self.domains.iter().map(|domain| domain.count).sum()
    }

    /// The same without what exceeds `count` pods, taken from the end.
    #[must_use]
    pub fn truncated(&self, count: i64) -> Self {
        let mut left = count.max(0);
        let mut domains = Vec::new();
        for domain in &self.domains {
            if left == 0 {
                break;
            }
            let kept = domain.count.min(left);
            left -= kept;
            domains.push(DomainAssignment {
                values: domain.values.clone(),
                count: kept,
            });
        }
        Self {
            levels: self.levels.clone(),
            domains,
        }
    }

    /// What its pods take, domain by domain.
    #[must_use]
    pub fn requests(&self, per_pod: &Requests) -> Vec<DomainRequests> {
        let taken = self.domains.iter().map(|domain| DomainRequests {
            values: domain.values.clone(),
            per_pod: per_pod.clone(),
            count: domain.count,
        });
        taken.collect()
    }

    /// Takes a node out; returns how many pods were there.
    pub(super) fn remove_node(&mut self, node: &str) -> i64 {
        let mut removed = 0;
        self.domains.retain(|domain| {
            let there = domain.values.last().is_some_and(|value| value == node);
            if there {
                removed += domain.count;
            }
            !there
        });
        removed
    }
}

/// Whether a domain is this one or lies somewhere under it; all of them lie under no domain in particular.
#[must_use]
pub fn lies_within(values: &[String], domain: &[String]) -> bool {
    values.starts_with(domain)
}

/// What pods of one template take in one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DomainRequests {
    /// The domain.
    pub values: Vec<String>,
    /// What each pod asks for by its template, without the pod itself.
    pub per_pod: Requests,
    /// How many pods.
    pub count: i64,
}

impl DomainRequests {
    /// What all of them take, each counted as a pod too.
    #[must_use]
    pub fn total(&self) -> Requests {
        Self::total_of(&self.per_pod, self.count)
    }

    pub(super) fn total_of(per_pod: &Requests, count: i64) -> Requests {
        let mut total = per_pod.times(count);
        total.add(&ResourceName::pods(), Amount::new(count));
        total
    }
}

/// What a workload takes from the domains of each flavor.
pub type TopologyUsage = BTreeMap<FlavorName, Vec<DomainRequests>>;
