//! Workloads that hold quota and are tried once more (kueue-reference.md, section 4.15): to be given a place that had to wait for an
//! admission check, or another one because a node failed. They come before all others and wait a little longer after each failure.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use scheduler::{Entry, Head, Preemptor, WorkloadKey, messages};

use crate::patch::event;
use crate::workloads::WorkloadState;
use crate::{Affected, Cache, Event, EventKind};

const LONGEST_WAIT: i64 = 30;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    due: Timestamp,
    failures: u32,
    in_flight: bool,
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecondPasses(BTreeMap<WorkloadKey, Turn>);

impl SecondPasses {
    /// A workload appeared or changed: it may need a turn, or not any more. Whether it needs one since now, so that somebody has to wait for it.
    pub(crate) fn note(&mut self, state: &WorkloadState, now: Timestamp) -> bool {
        let key = &state.info.key;
        let reservation = state.info.reservation.as_ref();
        let again = reservation.is_some_and(|reservation| reservation.again);
        if !again || state.holding.is_none() || state.assumed.is_some() {
            self.0.remove(key);
            return false;
        }
        let new = !self.0.contains_key(key);
        if new {
            self.0.insert(key.clone(), Turn::after(0, now));
        }
        new
    }

    pub(crate) fn remove(&mut self, key: &WorkloadKey) {
        self.0.remove(key);
    }

    fn due(&mut self, now: Timestamp) -> Vec<WorkloadKey> {
        let due = self.0.iter_mut();
        let due = due.filter(|(_, turn)| !turn.in_flight && turn.due <= now);
        due.map(|(key, turn)| {
            turn.in_flight = true;
            key.clone()
        })
        .collect()
    }

    fn next(&self) -> Option<Timestamp> {
        let waiting = self.0.values().filter(|turn| !turn.in_flight);
        waiting.map(|turn| turn.due).min()
    }

    pub(crate) fn is_in_flight(&self, key: &WorkloadKey) -> bool {
        self.0.get(key).is_some_and(|turn| turn.in_flight)
    }

    /// It failed and gets another turn.
    fn again(&mut self, key: &WorkloadKey, now: Timestamp) {
        if let Some(turn) = self.0.get_mut(key) {
            *turn = Turn::after(turn.failures.saturating_add(1), now);
        }
    }
}

impl Turn {
    fn after(failures: u32, now: Timestamp) -> Self {
        let seconds = 1_i64.checked_shl(failures).unwrap_or(LONGEST_WAIT);
        let wait = if failures > 5 {
            LONGEST_WAIT
        } else {
            seconds.min(LONGEST_WAIT)
        };
        Self {
            due: now
                .saturating_add(SignedDuration::from_secs(wait))
                .unwrap_or(now),
            failures,
            in_flight: false,
        }
    }
}

impl Cache {
    /// The workloads whose second turn has come.
    pub(crate) fn second_heads(&mut self, now: Timestamp) -> Vec<Head> {
        let due = self.second_passes.due(now);
        let head = |key: &WorkloadKey| {
            let state = self.workloads.get(key)?;
            let cluster_queue = state.holding.as_ref()?.cluster_queue.clone();
            let queue = self.queues.get(&cluster_queue);
            Some(Head {
                workload: state.info.clone(),
                generation: queue.map_or(0, |queue| queue.generation),
                cluster_queue,
                namespace: self.namespaces.get(&key.namespace).cloned(),
                last: None,
                preemptor: Preemptor::No,
            })
        };
        due.iter().filter_map(head).collect()
    }

    /// When a cycle has to run although nothing changes until then; `None` if never.
    #[must_use]
    pub fn next_second_pass(&self) -> Option<Timestamp> {
        self.second_passes.next()
    }

    /// A second turn that came to nothing: another one follows, and people are told.
    pub(crate) fn second_pass_failed(
        &mut self,
        entry: &Entry,
        now: Timestamp,
    ) -> (Affected, Event) {
        self.second_passes.again(&entry.workload, now);
        let note = messages::pending(entry).unwrap_or_default();
        let affected = Affected {
            wake: true,
            ..Affected::default()
        };
        (
            affected,
            event(EventKind::Warning, "SecondPassFailed", note),
        )
    }
}
