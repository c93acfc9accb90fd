//! What must hold whatever happened: the end of every scenario test. Production code does not call it.

use std::collections::{BTreeMap, BTreeSet};

use quantity::Amount;
use scheduler::{ClusterQueueName, Usage, Violation, check_tree};

use crate::Cache;
use crate::holdings::Holdings;
use crate::pending::Order;

impl Cache {
    /// Everything that should not be. Limits are only exceeded where quota was taken away from workloads that hold it.
    #[must_use]
    pub fn check(&mut self) -> Vec<Violation> {
        self.fresh_tree();
        let mut found = check_tree(&self.tree);
        self.check_usage(&mut found);
        self.check_admitted(&mut found);
        self.check_places(&mut found);
        self.check_doors(&mut found);
        found
    }

    /// The tree and the sums say what the workloads hold.
    fn check_usage(&self, found: &mut Vec<Violation>) {
        let mut sums: BTreeMap<&ClusterQueueName, Holdings> = BTreeMap::new();
        for holding in self
            .workloads
            .in_order()
            .filter_map(|(_, state)| state.holding.as_ref())
        {
            sums.entry(&holding.cluster_queue).or_default().add(holding);
        }
        for name in self.queues.keys() {
            let held = sums
                .get(name)
                .map(|sum| sum.reserved.clone())
                .unwrap_or_default();
            let in_tree = self
                .tree
                .cluster_queue(name)
                .map(|id| self.tree.usage_of(id).clone())
                .unwrap_or_default();
            let booked = self
                .held
                .get(name)
                .map(|held| held.reserved.clone())
                .unwrap_or_default();
            for used in [in_tree, booked] {
                if without_zeros(&used) != without_zeros(&held) {
                    found.push(Violation::WrongUsage {
                        cluster_queue: name.to_string(),
                        used,
                        held: held.clone(),
                    });
                }
            }
        }
    }

    /// Preemption sees those who hold quota, all of them and nobody else.
    fn check_admitted(&self, found: &mut Vec<Violation>) {
        let holding = self.workloads.in_order().filter_map(|(_, state)| {
            let holding = state.holding.as_ref()?;
            Some((&holding.cluster_queue, &state.info.key, &holding.usage))
        });
        let shown = self.admitted.values().flat_map(|all| all.values());
        let shown = shown.map(|one| (&one.cluster_queue, &one.workload.key, &one.usage));
        let (holding, shown): (BTreeSet<_>, BTreeSet<_>) = (holding.collect(), shown.collect());
        let differ = holding.symmetric_difference(&shown);
        found.extend(differ.map(|(queue, key, _)| Violation::Twice {
            what: format!("{key} in {queue}: not the same for preemption as for quota"),
        }));
    }

    /// The numbers of those who stand in a queue, by LocalQueue.
    fn check_doors(&self, found: &mut Vec<Violation>) {
        let mut standing = BTreeMap::new();
        for state in self
            .workloads
            .in_order()
            .map(|(_, state)| state)
            .filter(|state| state.queued_in.is_some())
        {
            *standing.entry(state.info.local_queue.clone()).or_insert(0) += 1;
        }
        if standing != self.standing {
            let what = format!("LocalQueues: {:?}, expected {standing:?}", self.standing);
            found.push(Violation::Twice { what });
        }
    }

    /// Nobody stands in two places, or in a queue and holds quota, or stands where nobody knows of.
    fn check_places(&self, found: &mut Vec<Violation>) {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, queue) in &self.queues {
            if !queue.pending.is_consistent() {
                let what = format!("queue {name}: what is kept twice differs");
                found.push(Violation::Twice { what });
            }
            for waiting in queue.pending.in_order(Order::Plain) {
                places
                    .entry(waiting.key().to_string())
                    .or_default()
                    .push(format!("queue {name}"));
            }
        }
        for (key, state) in self.workloads.in_order() {
            let stands = places.remove(&key.to_string()).unwrap_or_default();
            let expected: Vec<_> = state
                .queued_in
                .iter()
                .map(|name| format!("queue {name}"))
                .collect();
            let both = state.holding.is_some() && !stands.is_empty();
            if both || stands != expected {
                found.push(Violation::Twice {
                    what: format!(
                        "{key}: {stands:?}, expected {expected:?}, holds quota: {}",
                        state.holding.is_some()
                    ),
                });
            }
        }
        found.extend(places.into_iter().map(|(key, places)| Violation::Twice {
            what: format!("{key}: unknown, yet {places:?}"),
        }));
    }
}

fn without_zeros(usage: &Usage) -> Usage {
    usage
        .iter()
        .filter(|(_, amount)| **amount != Amount::ZERO)
        .map(|(of, amount)| (of.clone(), *amount))
        .collect()
}
