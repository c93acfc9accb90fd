//! What placements of the same decision already took, before anything is written into a snapshot: earlier pod sets of a workload, in the same
//! flavor or in another one on the same hosts.

use std::collections::BTreeMap;

use quantity::Requests;

use super::assignment::{DomainAssignment, DomainRequests, TopologyAssignment};

/// Pods in domains named by their values, and amounts besides.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AssumedUsage {
    pods: Vec<(Vec<DomainAssignment>, Requests)>,
    amounts: Vec<(Vec<String>, Requests)>,
}

impl AssumedUsage {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the pods of an assignment. The resource `pods` counts them on top of what each asks for.
    pub fn add_assignment(&mut self, assignment: &TopologyAssignment, per_pod: &Requests) {
        self.pods
            .push((assignment.domains.clone(), per_pod.clone()));
    }

    /// Adds amounts to one domain.
    pub fn add(&mut self, values: &[String], usage: &Requests) {
        self.amounts.push((values.to_vec(), usage.clone()));
    }

    /// The domains and what is taken there, in the order of their values.
    #[must_use]
    pub fn by_domain(&self) -> BTreeMap<Vec<String>, Requests> {
        let mut sums: BTreeMap<Vec<String>, Requests> = BTreeMap::new();
        for (values, usage) in &self.amounts {
            sums.entry(values.clone()).or_default().add_all(usage);
        }
        for (domains, per_pod) in &self.pods {
            for domain in domains {
                let total = DomainRequests::total_of(per_pod, domain.count);
                sums.entry(domain.values.clone())
                    .or_default()
                    .add_all(&total);
            }
        }
        sums
    }

    pub(super) fn pods(&self) -> &[(Vec<DomainAssignment>, Requests)] {
        &self.pods
    }

    pub(super) fn amounts(&self) -> &[(Vec<String>, Requests)] {
        &self.amounts
    }
}
