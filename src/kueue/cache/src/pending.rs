//! The pending workloads of one ClusterQueue: those whose turn may come, those that are set aside, and the one that is being tried.

use std::cmp::Reverse;
use std::collections::BTreeMap;
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

/// The pending workloads of one ClusterQueue.
#[derive(Clone, Debug)]
pub(crate) struct PendingQueue {
    heap: BTreeMap<Rank, ()>,
    parked: BTreeMap<Rank, ()>,
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
    pub(crate) fn push(&mut self, rank: Rank) {
        self.blocked = false;
        self.heap.insert(rank, ());
    }

    /// Sets a workload aside.
    pub(crate) fn park(&mut self, rank: Rank) {
        self.parked.insert(rank, ());
    }

    /// Takes a workload out, wherever it is.
    pub(crate) fn remove(&mut self, rank: &Rank) {
        if self.heap.remove(rank).is_some() {
            self.blocked = false;
        }
        self.parked.remove(rank);
        if self.in_flight.as_ref() == Some(rank) {
            self.in_flight = None;
        }
    }

    /// Takes the first one to try it.
    pub(crate) fn pop(&mut self) -> Option<WorkloadKey> {
        if self.blocked || self.in_flight.is_some() {
            return None;
        }
        let (rank, ()) = self.heap.pop_first()?;
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
        let (back, stay): (BTreeMap<_, _>, BTreeMap<_, _>) =
            parked.into_iter().partition(|(rank, ())| may(&rank.key));
        self.parked = stay;
        let any = !back.is_empty();
        self.heap.extend(back);
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

    /// Those whose turn may come, in order.
    pub(crate) fn heap(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.heap.keys().map(Rank::key)
    }

    /// Those that are set aside, in order.
    pub(crate) fn parked(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.parked.keys().map(Rank::key)
    }

    /// All of them in the order of the queue.
    pub(crate) fn in_order(&self) -> Vec<&WorkloadKey> {
        let mut ranks: Vec<&Rank> = self
            .heap
            .keys()
            .chain(self.parked.keys())
            .chain(&self.in_flight)
            .collect();
        ranks.sort();
        ranks.into_iter().map(Rank::key).collect()
    }
}
