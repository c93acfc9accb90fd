//! Candidates in the order in which they are tried, put in order only as far as they are asked for: a search ends after a few of them, and
//! there may be thousands. Those of one ClusterQueue are in order already; what is left is to choose between ClusterQueues.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use jiff::Timestamp;

use super::Need;
use super::candidates::{Candidate, Class};
use super::lanes::Lane;
use crate::admitted::Admitted;

/// Where a candidate stands: who is leaving already, then by class, then as `candidates::compare` says. The last one is its lane.
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
pub(super) struct Ordered<'a, 'n> {
    first: Vec<Candidate<'a>>,
    need: &'n Need<'n>,
    now: Timestamp,
    lanes: Vec<Lane<'a>>,
    heap: BinaryHeap<Reverse<Place<'a>>>,
    /// Whether some are of other ClusterQueues.
    pub(super) others: bool,
    /// Whether some may always go.
    pub(super) advantage: bool,
}

impl<'a, 'n> Ordered<'a, 'n> {
    /// Of those that are in order already.
    pub(super) fn sorted(all: Vec<Candidate<'a>>, need: &'n Need<'n>, now: Timestamp) -> Self {
        Self {
            others: all.iter().any(|one| one.class != Class::SameQueue),
            advantage: all.iter().any(|one| one.class == Class::Advantage),
            first: all,
            need,
            now,
            lanes: Vec::new(),
            heap: BinaryHeap::new(),
        }
    }

    /// Of those of these ClusterQueues; an eviction that is not written yet counts as `now`.
    pub(super) fn of(lanes: Vec<Lane<'a>>, need: &'n Need<'n>, now: Timestamp) -> Self {
        let mut all = Self::sorted(Vec::new(), need, now);
        for mut lane in lanes {
            let Some(next) = lane.next(need) else {
                continue;
            };
            all.others |= next.class != Class::SameQueue;
            all.advantage |= next.class == Class::Advantage;
            let place = place(next.workload, next.class, now, all.lanes.len());
            all.heap.push(Reverse(place));
            all.lanes.push(lane);
        }
        all
    }

    /// The one at this place.
    pub(super) fn get(&mut self, at: usize) -> Option<&Candidate<'a>> {
        while self.first.len() <= at {
            let Reverse((.., index)) = self.heap.pop()?;
            let lane = self.lanes.get_mut(index)?;
            self.first.extend(lane.take(self.need));
            if let Some(next) = lane.next(self.need) {
                let place = place(next.workload, next.class, self.now, index);
                self.heap.push(Reverse(place));
            }
        }
        self.first.get(at)
    }
}

fn place(admitted: &Arc<Admitted>, class: Class, now: Timestamp, lane: usize) -> Place<'_> {
    (
        Reverse(admitted.evicted),
        class.rank(),
        class == Class::SameQueue,
        admitted.workload.priority,
        Reverse(admitted.reserved.unwrap_or(now)),
        admitted.workload.uid.as_ref(),
        lane,
    )
}
