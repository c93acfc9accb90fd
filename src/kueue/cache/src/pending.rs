//! The pending workloads of one ClusterQueue: those whose turn may come, those that are set aside, and the one that is being tried.
//!
//! Takes workloads as values and the present time, says who is next and where a workload went. Knows neither the cache around it nor the
//! objects. Follows section 4.1 of the reference, and 4.7 where LocalQueues are served by their past usage.

mod bucket;
mod counts;
mod rank;
mod requeue;
mod waiting;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use scheduler::{LocalQueueKey, PendingReason, Preemptor, Strategy, WorkloadKey};

use bucket::Bucket;
use counts::Totals;
use rank::Rank;

pub use counts::Pending;
pub use requeue::{Requeue, Requeued};
pub use waiting::{Backoff, Tracked, Waiting};
pub(crate) use waiting::{shape, tracked};

/// How a LocalQueue has used its ClusterQueue in the past; the one with less goes first.
pub type UsageOf<'a> = dyn Fn(&LocalQueueKey) -> f64 + 'a;

/// By what a queue is ordered.
#[derive(Clone, Copy, Default)]
pub enum Order<'a> {
    /// Priority, then age.
    #[default]
    Plain,
    /// Past usage of the LocalQueue before everything else.
    ByUsage(&'a UsageOf<'a>),
}

impl std::fmt::Debug for Order<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::ByUsage(_) => "ByUsage",
        })
    }
}

/// Where a workload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its turn may come.
    Active,
    /// It is set aside until something changes that may help it.
    Parked,
    /// It is being tried.
    InFlight,
}

/// So often a preemptor puts up with others taking what had become free for it.
const MOST_OVERTAKEN: u32 = 3;

/// The workload for which others are being evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Preempting {
    key: WorkloadKey,
    /// The version of its object that was tried.
    generation: i64,
    /// Whether it stays in front of all others.
    sticky: bool,
}

/// The pending workloads of one ClusterQueue.
#[derive(Clone, Debug)]
pub struct PendingQueue {
    strategy: Strategy,
    active: Bucket,
    parked: Bucket,
    in_flight: Option<Waiting>,
    /// Where each one is; nobody goes through them.
    places: HashMap<WorkloadKey, Rank>,
    totals: Totals,
    preemptor: Option<Preempting>,
    /// How often others took what had become free for a workload, with the version of its object that was tried.
    overtaken: BTreeMap<WorkloadKey, (i64, u32)>,
    /// Counts the heads that were taken.
    pops: i64,
    /// The value of `pops` when parked workloads last came back.
    returned_at: i64,
    /// Whether the head was just refused and nothing has changed since, so that trying it again would be idle.
    blocked: bool,
    /// Shapes that were found not to fit since then, and why.
    failed_shapes: BTreeMap<u64, PendingReason>,
}

impl Default for PendingQueue {
    fn default() -> Self {
        Self::new(Strategy::default())
    }
}

impl PendingQueue {
    /// A queue without workloads.
    #[must_use]
    pub fn new(strategy: Strategy) -> Self {
        Self {
            strategy,
            active: Bucket::default(),
            parked: Bucket::default(),
            in_flight: None,
            places: HashMap::new(),
            totals: Totals::default(),
            preemptor: None,
            overtaken: BTreeMap::new(),
            pops: 0,
            returned_at: -1,
            blocked: false,
            failed_shapes: BTreeMap::new(),
        }
    }

    /// Changes what happens to those that do not fit from now on.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// A workload appeared or changed. Returns where it is now.
    ///
    /// One that is set aside stays there unless it changed in a way that may help it. The one being tried is left alone: whoever
    /// tries it puts it back as it is then.
    pub fn push_or_update(&mut self, waiting: Waiting, now: Timestamp) -> Place {
        let key = waiting.key().clone();
        match self.place(&key) {
            Some(Place::InFlight) => return Place::InFlight,
            Some(Place::Parked) => {
                let hopeless = self
                    .get(&key)
                    .is_some_and(|before| !waiting.deserves_another_try(before));
                self.take(&key);
                if hopeless {
                    return self.park(waiting);
                }
            }
            Some(Place::Active) => {
                // What was written about a refusal must not bring the same refusal about again.
                let still_blocked = self.blocked
                    && self.get(&key).is_some_and(|before| {
                        Rank::of(before) == Rank::of(&waiting)
                            && !waiting.deserves_another_try(before)
                    });
                self.take(&key);
                let place = self.activate(waiting);
                self.blocked = still_blocked;
                return place;
            }
            None => {}
        }
        let hopeless = waiting.shape.is_some_and(|shape| self.failed(shape));
        if waiting.backoff.waits(now) || hopeless {
            self.park(waiting)
        } else {
            self.activate(waiting)
        }
    }

    /// A workload that waited elsewhere, in a LocalQueue that begins to lead here. Returns whether it was not here yet.
    pub fn push_if_absent(&mut self, waiting: Waiting) -> bool {
        let absent = self.place(waiting.key()).is_none();
        if absent {
            self.activate(waiting);
        }
        absent
    }

    /// Takes a workload out, wherever it is.
    pub fn remove(&mut self, key: &WorkloadKey) -> Option<Waiting> {
        if self.preemptor.as_ref().is_some_and(|one| one.key == *key) {
            self.preemptor = None;
        }
        self.overtaken.remove(key);
        if let Some(flying) = self.in_flight.take_if(|flying| flying.key() == key) {
            return Some(flying);
        }
        self.take(key)
    }

    /// Takes the first one to try it. Whoever was being tried and was not put back is forgotten.
    pub fn pop(&mut self, order: Order<'_>) -> Option<&Waiting> {
        self.pops += 1;
        self.in_flight = None;
        let rank = self.first(order)?.clone();
        let mut head = self.active.remove(&rank)?;
        self.places.remove(head.key());
        self.totals.subtract(&head);
        head.evaluated = Some(head.generation);
        self.in_flight = Some(head);
        self.in_flight.as_ref()
    }

    fn first(&self, order: Order<'_>) -> Option<&Rank> {
        let sticky = self
            .sticky()
            .and_then(|key| self.places.get(key))
            .filter(|rank| self.active.contains(rank));
        match order {
            Order::Plain => sticky.or_else(|| self.active.first()),
            Order::ByUsage(usage) => {
                let heads = self
                    .active
                    .first_of_doors()
                    .map(|(door, rank)| (usage(door), door, rank));
                let (_, door, rank) = heads.min_by(|(left, _, first), (right, _, second)| {
                    let stuck = |rank: &Rank| sticky != Some(rank);
                    let (one, other) = (stuck(first), stuck(second));
                    left.total_cmp(right)
                        .then(one.cmp(&other))
                        .then(first.cmp(second))
                })?;
                let own = sticky
                    .filter(|rank| self.active.get(rank).is_some_and(|own| own.door() == door));
                Some(own.unwrap_or(rank))
            }
        }
    }

    /// Gives the parked workloads whose namespace `may` use the queue another chance, but for those that have to wait. Returns how
    /// many came back.
    pub fn unpark(&mut self, now: Timestamp, may: impl Fn(&WorkloadKey) -> bool) -> usize {
        self.returned_at = self.pops;
        self.blocked = false;
        self.failed_shapes.clear();
        let ready = self
            .parked
            .drain(|waiting| !waiting.backoff.waits(now) && may(waiting.key()));
        let number = ready.len();
        for (rank, waiting) in ready {
            self.active.insert(rank, waiting);
        }
        number
    }

    /// Whether a cycle would find a head here.
    #[must_use]
    pub fn has_head(&self) -> bool {
        !self.blocked && self.in_flight.is_none() && !self.active.is_empty()
    }

    /// Where a workload is; `None` if not here.
    #[must_use]
    pub fn place(&self, key: &WorkloadKey) -> Option<Place> {
        if self
            .in_flight
            .as_ref()
            .is_some_and(|flying| flying.key() == key)
        {
            return Some(Place::InFlight);
        }
        let rank = self.places.get(key)?;
        Some(if self.active.contains(rank) {
            Place::Active
        } else {
            Place::Parked
        })
    }

    /// A workload, wherever it is.
    #[must_use]
    pub fn get(&self, key: &WorkloadKey) -> Option<&Waiting> {
        let flying = self.in_flight.as_ref().filter(|flying| flying.key() == key);
        flying.or_else(|| {
            let rank = self.places.get(key)?;
            self.active.get(rank).or_else(|| self.parked.get(rank))
        })
    }

    /// Whether others are being evicted for this workload as it is now.
    #[must_use]
    pub fn preempts(&self, key: &WorkloadKey, generation: i64) -> Preemptor {
        let same = |one: &&Preempting| one.key == *key && one.generation == generation;
        match self.preemptor.as_ref().filter(same) {
            None => Preemptor::No,
            Some(_) if self.times_overtaken(key, generation) < MOST_OVERTAKEN => Preemptor::Waits,
            Some(_) => Preemptor::Overtaken,
        }
    }

    fn times_overtaken(&self, key: &WorkloadKey, generation: i64) -> u32 {
        let known = self.overtaken.get(key);
        known.map_or(0, |(of, times)| if *of == generation { *times } else { 0 })
    }

    /// The workload that stays in front of all others.
    fn sticky(&self) -> Option<&WorkloadKey> {
        let preemptor = self.preemptor.as_ref().filter(|one| one.sticky)?;
        Some(&preemptor.key)
    }

    /// Those whose turn may come, without the one being tried.
    pub fn active(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.active.iter().map(Waiting::key)
    }

    /// Those that are set aside.
    pub fn parked(&self) -> impl Iterator<Item = &WorkloadKey> {
        self.parked.iter().map(Waiting::key)
    }

    /// All of them in the order of the queue, the one being tried and those set aside included.
    #[must_use]
    pub fn in_order(&self, order: Order<'_>) -> Vec<&Waiting> {
        let usage_of = |waiting: &Waiting| match order {
            Order::Plain => 0.0,
            Order::ByUsage(usage) => usage(waiting.door()),
        };
        let waiting = self.active.iter().chain(self.parked.iter());
        let mut all: Vec<_> = waiting
            .chain(&self.in_flight)
            .map(|one| {
                (
                    usage_of(one),
                    Some(one.key()) != self.sticky(),
                    Rank::of(one),
                    one,
                )
            })
            .collect();
        all.sort_by(|left, right| {
            let usage = left.0.total_cmp(&right.0);
            usage.then_with(|| (left.1, &left.2).cmp(&(right.1, &right.2)))
        });
        all.into_iter().map(|(.., waiting)| waiting).collect()
    }

    fn activate(&mut self, waiting: Waiting) -> Place {
        self.blocked = false;
        let rank = self.enter(&waiting);
        self.active.insert(rank, waiting);
        Place::Active
    }

    fn park(&mut self, waiting: Waiting) -> Place {
        let rank = self.enter(&waiting);
        self.parked.insert(rank, waiting);
        Place::Parked
    }

    fn enter(&mut self, waiting: &Waiting) -> Rank {
        let rank = Rank::of(waiting);
        self.totals.add(waiting);
        self.places.insert(waiting.key().clone(), rank.clone());
        rank
    }

    /// Takes a workload out that is not being tried.
    fn take(&mut self, key: &WorkloadKey) -> Option<Waiting> {
        let rank = self.places.remove(key)?;
        let active = self.active.remove(&rank);
        self.blocked &= active.is_none();
        let taken = active.or_else(|| self.parked.remove(&rank))?;
        self.totals.subtract(&taken);
        Some(taken)
    }

    /// Whether all that is kept twice says the same.
    pub(crate) fn is_consistent(&self) -> bool {
        let mut totals = Totals::default();
        let mut places = HashMap::new();
        for waiting in self.active.iter().chain(self.parked.iter()) {
            totals.add(waiting);
            places.insert(waiting.key().clone(), Rank::of(waiting));
        }
        self.active.is_consistent()
            && self.parked.is_consistent()
            && totals.same_as(&self.totals)
            && places == self.places
    }
}
