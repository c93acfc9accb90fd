//! Candidates in the order in which they are tried, put in order only as far as they are asked for: a search ends after a few of them, and
//! there may be thousands.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use jiff::Timestamp;

use super::candidates::{Candidate, Class};

/// Where a candidate stands: who is leaving already, then by class, then as `candidates::compare` says.
type Place<'a> = (
    Reverse<bool>,
    u8,
    bool,
    i64,
    Reverse<Timestamp>,
    &'a str,
    usize,
);

/// All candidates of one need.
pub(super) struct Ordered<'a> {
    first: Vec<Candidate<'a>>,
    rest: Vec<Option<Candidate<'a>>>,
    heap: BinaryHeap<Reverse<Place<'a>>>,
    /// Whether some are of other ClusterQueues.
    pub(super) others: bool,
    /// Whether some may always go.
    pub(super) advantage: bool,
}

impl<'a> Ordered<'a> {
    /// Of those that are in order already.
    pub(super) fn sorted(all: Vec<Candidate<'a>>) -> Self {
        Self {
            others: all.iter().any(is_other),
            advantage: all.iter().any(has_advantage),
            first: all,
            rest: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Of those in any order; an eviction that is not written yet counts as `now`.
    pub(super) fn of(all: Vec<Candidate<'a>>, now: Timestamp) -> Self {
        let place = |(index, one): (usize, &Candidate<'a>)| {
            let admitted = one.workload;
            Reverse((
                Reverse(admitted.evicted),
                one.class.rank(),
                one.class == Class::SameQueue,
                admitted.workload.priority,
                Reverse(admitted.reserved.unwrap_or(now)),
                admitted.workload.uid.as_ref(),
                index,
            ))
        };
        let places: Vec<_> = all.iter().enumerate().map(place).collect();
        Self {
            others: all.iter().any(is_other),
            advantage: all.iter().any(has_advantage),
            first: Vec::new(),
            heap: BinaryHeap::from(places),
            rest: all.into_iter().map(Some).collect(),
        }
    }

    /// The one at this place.
    pub(super) fn get(&mut self, at: usize) -> Option<&Candidate<'a>> {
        while self.first.len() <= at {
            let Reverse((.., index)) = self.heap.pop()?;
            self.first.extend(self.rest.get_mut(index)?.take());
        }
        self.first.get(at)
    }
}

fn is_other(one: &Candidate<'_>) -> bool {
    one.class != Class::SameQueue
}

fn has_advantage(one: &Candidate<'_>) -> bool {
    one.class == Class::Advantage
}
