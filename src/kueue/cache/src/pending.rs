//! The pending workloads of one ClusterQueue: those whose turn may come, those that are set aside, and the one that is being tried.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use scheduler::{PendingReason, Workload, WorkloadKey};

/// The place of a workload in its queue. Waiting for its own preemptions would come first; preemption is not built yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    priority: Reverse<i64>,
    /// In whole seconds, as the API has it.
    queued: i64,
    uid: Arc<str>,
    key: WorkloadKey,
}

impl Rank {
    pub(crate) fn of(workload: &Workload) -> Self {
        Self {
            priority: Reverse(workload.priority),
            queued: Timestamp::as_second(workload.queued),
            uid: workload.uid.clone(),
            key: workload.key.clone(),
        }
    }

    pub(crate) fn key(&self) -> &WorkloadKey {
        &self.key
    }
}

/// The pending workloads of one ClusterQueue, each with the shape of what it asks for.
#[derive(Clone, Debug)]
pub(crate) struct PendingQueue {
    heap: BTreeMap<Rank, u64>,
    /// Those in the heap again, by shape.
    equal: BTreeMap<u64, BTreeSet<Rank>>,
    parked: BTreeMap<Rank, u64>,
    in_flight: Option<Rank>,
    /// Counts the heads that were taken.
    pops: i64,
    /// The value of `pops` when parked workloads last came back.
    returned_at: i64,
    /// Whether the head was just refused and nothing has changed since, so that trying it again would be idle.
    pub(crate) blocked: bool,
    /// Shapes that were found not to fit since then, and why.
    pub(crate) failed_shapes: BTreeMap<u64, PendingReason>,
}

impl Default for PendingQueue {
    fn default() -> Self {
        Self {
            heap: BTreeMap::new(),
            equal: BTreeMap::new(),
            parked: BTreeMap::new(),
            in_flight: None,
            pops: 0,
            returned_at: -1,
            blocked: false,
            failed_shapes: BTreeMap::new(),
        }
    }
}

impl PendingQueue {
    /// Puts a workload where its turn may come.
    pub(crate) fn push(&mut self, rank: Rank, shape: u64) {
        self.blocked = false;
        self.equal.entry(shape).or_default().insert(rank.clone());
        self.heap.insert(rank, shape);
    }

    /// Sets a workload aside.
    pub(crate) fn park(&mut self, rank: Rank, shape: u64) {
        self.parked.insert(rank, shape);
    }

    /// Sets aside all whose turn may come and who ask for the same.
    pub(crate) fn park_equal(&mut self, shape: u64) -> Vec<WorkloadKey> {
        let equal = self.equal.remove(&shape).unwrap_or_default();
        let keys = equal.iter().map(|rank| rank.key.clone()).collect();
        for rank in equal {
            self.heap.remove(&rank);
            self.parked.insert(rank, shape);
        }
        keys
    }

    /// Takes a workload out, wherever it is.
    pub(crate) fn remove(&mut self, rank: &Rank) {
        if let Some(shape) = self.heap.remove(rank) {
            self.blocked = false;
            self.forget_shape(rank, shape);
        }
        self.parked.remove(rank);
        if self.in_flight.as_ref() == Some(rank) {
            self.in_flight = None;
        }
    }

    fn forget_shape(&mut self, rank: &Rank, shape: u64) {
        if let Some(equal) = self.equal.get_mut(&shape) {
            equal.remove(rank);
            if equal.is_empty() {
                self.equal.remove(&shape);
            }
        }
    }

    /// Takes the first one to try it.
    pub(crate) fn pop(&mut self) -> Option<WorkloadKey> {
        if self.blocked || self.in_flight.is_some() {
            return None;
        }
        let (rank, shape) = self.heap.pop_first()?;
        self.forget_shape(&rank, shape);
        self.pops += 1;
        let key = rank.key.clone();
        self.in_flight = Some(rank);
        Some(key)
    }

    /// Ends the try.
    pub(crate) fn land(&mut self) {
        self.in_flight = None;
    }

    /// Whether parked workloads came back while the present head was being tried.
    pub(crate) fn returned_meanwhile(&self) -> bool {
        self.returned_at >= self.pops
    }

    /// Gives the parked workloads that `may` return another chance.
    pub(crate) fn unpark(&mut self, may: impl Fn(&WorkloadKey) -> bool) -> bool {
        self.returned_at = self.pops;
        self.blocked = false;
        self.failed_shapes.clear();
        let parked = std::mem::take(&mut self.parked);
        let mut any = false;
        for (rank, shape) in parked {
            if may(&rank.key) {
                self.push(rank, shape);
                any = true;
            } else {
                self.park(rank, shape);
            }
        }
        any
    }

    /// How many wait, the one being tried included.
    pub(crate) fn len(&self) -> usize {
        self.active() + self.parked.len()
    }

    /// How many of them may get their turn.
    pub(crate) fn active(&self) -> usize {
        self.heap.len() + usize::from(self.in_flight.is_some())
    }

    /// Whether a cycle would find a head here.
    pub(crate) fn has_head(&self) -> bool {
        !self.blocked && self.in_flight.is_none() && !self.heap.is_empty()
    }

    pub(crate) fn is_parked(&self, rank: &Rank) -> bool {
        self.parked.contains_key(rank)
    }

    pub(crate) fn is_in_flight(&self, rank: &Rank) -> bool {
        self.in_flight.as_ref() == Some(rank)
    }

    /// Those that are set aside, in order.
    pub(crate) fn parked(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.parked.keys().map(Rank::key)
    }

    /// All of them in the order of the queue.
    pub(crate) fn in_order(&self) -> Vec<&WorkloadKey> {
        let waiting = self.heap.keys().chain(self.parked.keys());
        let mut ranks: Vec<&Rank> = waiting.chain(&self.in_flight).collect();
        ranks.sort();
        ranks.into_iter().map(Rank::key).collect()
    }

    /// Whether the heap and its order by shape say the same.
    pub(crate) fn is_consistent(&self) -> bool {
        let by_shape = self
            .equal
            .iter()
            .flat_map(|(shape, ranks)| ranks.iter().map(move |rank| (rank, shape)));
        by_shape.collect::<BTreeMap<_, _>>() == self.heap.iter().collect()
    }
}
