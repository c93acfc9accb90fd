//! Where the search through the flavors stopped, so that the next cycle goes on from there instead of preferring the same flavor again.

use std::collections::{BTreeMap, BTreeSet};

use quantity::{ResourceName, SmallMap};

use crate::policy::Policy;

/// The index of the flavor at which a search stopped; `None` after the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Tried(pub Option<usize>);

/// Where a search begins: for each pod set and resource the index of the first flavor that it looks at, left out where that is the first one.
type Start = BTreeMap<(usize, ResourceName), usize>;

/// The progress of the last assignment of a workload.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LastAssignment {
    tried: Vec<SmallMap<ResourceName, Tried>>,
    /// Where searches began that found nothing in the world as it is, the last one included.
    begun: BTreeSet<Start>,
    /// The flavors after which this search began.
    after: Vec<SmallMap<ResourceName, Tried>>,
    /// Whether others leave so that the next search finds room where this one did.
    insists: bool,
    /// The ClusterQueue's generation at the time.
    pub generation: u64,
    /// The number of the cycle.
    pub cycle: u64,
    /// What the workload asked for, as a hash; `None` if nobody knows.
    pub shape: Option<u64>,
}

impl LastAssignment {
    /// The progress of a search from the beginning that stopped at these flavors, one map a pod set.
    #[must_use]
    pub fn after(tried: Vec<SmallMap<ResourceName, Tried>>) -> Self {
        Self {
            tried,
            begun: [Start::new()].into(),
            ..Self::default()
        }
    }

    /// Remembers where this search began: where `before` ended, if there was one. What that one remembers is worth something only as long as
    /// nobody has left.
    pub(crate) fn continues(&mut self, before: Option<&Self>, generation: u64) {
        let same = before.filter(|before| before.generation == generation);
        let begun = same.map(|before| before.begun.clone());
        self.begun = begun.unwrap_or_default();
        self.begun
            .insert(before.map(Self::start).unwrap_or_default());
        self.after = before
            .map(|before| before.tried.clone())
            .unwrap_or_default();
        self.generation = generation;
        // Going on would be going round; there is still the beginning.
        let first = Start::new();
        if self.begun.contains(&self.start()) && !self.begun.contains(&first) {
            self.tried.clear();
        }
    }

    /// This one only looks again at what `nominated` found: it is no search of its own.
    pub(crate) fn repeats(&mut self, nominated: &Self) {
        self.begun.clone_from(&nominated.begun);
        self.after.clone_from(&nominated.after);
    }

    /// The next search has to find what this one found, as others leave for it; `None` where that is a search from the beginning.
    pub(crate) fn once_more(self) -> Option<Self> {
        let again = Self {
            tried: self.after,
            begun: BTreeSet::new(),
            after: Vec::new(),
            insists: true,
            ..self
        };
        (!again.start().is_empty()).then_some(again)
    }

    /// The world will have changed when the next search begins: what was found out about it says nothing then, only where to go on does.
    #[must_use]
    pub fn in_another_world(mut self) -> Self {
        self.begun.clear();
        self
    }

    /// Where the next search begins.
    fn start(&self) -> Start {
        let tried = self.tried.iter().enumerate();
        let stopped = tried.flat_map(|(pod_set, tried)| {
            let stopped = move |(resource, tried): (&ResourceName, &Tried)| {
                Some(((pod_set, resource.clone()), tried.0? + 1))
            };
            tried.iter().filter_map(stopped)
        });
        stopped.collect()
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

    /// Whether the next search begins where none has begun yet. The reference asks whether some resource has flavors left: with several pod
    /// sets that goes round in circles, and a search that began late ends without the first flavors (DIFFERENCES.md).
    #[must_use]
    pub fn has_untried_flavors(&self) -> bool {
        !self.begun.contains(&self.start())
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
            if self.insists || self.cycle + 1 >= cycle {
                return false;
            }
        }
        generation > self.generation
    }
}
