//! What placements of the same decision already took, before anything is written into a snapshot: earlier pod sets of a workload, in the same
//! flavor or in another one on the same hosts.

use std::collections::BTreeMap;

use quantity::Requests;

use super::assignment::TopologyAssignment;

/// Amounts by domain, for domains named by their values.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct AssumedUsage(BTreeMap<Vec<String>, Requests>);

impl AssumedUsage {
    /// Nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the pods of an assignment. The resource `pods` counts them on top of what each asks for.
    pub fn add_assignment(&mut self, assignment: &TopologyAssignment, per_pod: &Requests) {
        for domain in assignment.requests(per_pod) {
            self.add(&domain.values, &domain.total());
        }
    }

    /// Adds amounts to one domain.
    pub fn add(&mut self, values: &[String], usage: &Requests) {
        self.0.entry(values.to_vec()).or_default().add_all(usage);
    }

    /// The domains and what is taken there, in the order of their values.
    pub fn iter(&self) -> impl Iterator<Item = (&[String], &Requests)> {
        self.0
            .iter()
            .map(|(values, usage)| (values.as_slice(), usage))
    }
}
