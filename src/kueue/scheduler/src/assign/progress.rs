//! Where the search through the flavors stopped, so that the next cycle goes on from there instead of preferring the same flavor again.

use std::collections::BTreeMap;

use quantity::ResourceName;

use crate::policy::Policy;

/// The index of the flavor at which a search stopped; `None` after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tried(pub Option<usize>);

/// The progress of the last assignment of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LastAssignment {
    tried: Vec<BTreeMap<ResourceName, Tried>>,
    /// The ClusterQueue's generation at the time.
    pub generation: u64,
    /// The number of the cycle.
    pub cycle: u64,
    /// What the workload asked for, as a hash; `None` if nobody knows.
    pub shape: Option<u64>,
}

impl LastAssignment {
    /// The progress that stopped at these flavors, one map a pod set.
    #[must_use]
    pub fn after(tried: Vec<BTreeMap<ResourceName, Tried>>) -> Self {
        Self {
            tried,
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, tried: impl Iterator<Item = (ResourceName, Tried)>) {
        self.tried.push(tried.collect());
    }

    /// Where to begin: after the flavor at which the last search stopped.
    pub(super) fn next(&self, pod_set: usize, resource: &ResourceName) -> usize {
        let tried = self
            .tried
            .get(pod_set)
            .and_then(|tried| tried.get(resource));
        tried.and_then(|tried| tried.0).map_or(0, |index| index + 1)
    }

    /// Whether some resource still has flavors that were not tried.
    #[must_use]
    pub fn has_untried_flavors(&self) -> bool {
        self.tried
            .iter()
            .flat_map(BTreeMap::values)
            .any(|tried| tried.0.is_some())
    }

    /// Whether the world has changed so much that the search has to begin anew.
    #[must_use]
    pub fn outdated(
        &self,
        generation: u64,
        cycle: u64,
        shape: Option<u64>,
        policy: &Policy,
    ) -> bool {
        if policy.preserve_scan_progress {
            if let (Some(then), Some(now)) = (self.shape, shape)
                && then != now
            {
                return true;
            }
            if self.cycle + 1 >= cycle {
                return false;
            }
        }
        generation > self.generation
    }
}
