//! What is free in a topology now. Takes usage in and gives it back; cloning shares everything until one side writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use quantity::{Amount, Requests, ResourceName};

use super::assignment::{DomainRequests, TopologyAssignment};
use super::assumed::AssumedUsage;
use super::request::TopologyRequest;
use super::tree::Tree;
use crate::labels::Toleration;

/// The domains of one flavor with what is free in them.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(super) topology: Arc<str>,
    pub(super) tree: Arc<Tree>,
    /// What the flavor adds to what pods tolerate.
    pub(super) tolerations: Arc<[Toleration]>,
    /// A row a leaf: what nodes offer, without what pods placed by others use.
    free: Arc<Vec<i64>>,
    /// The same without what workloads placed by topology use.
    remaining: Arc<Vec<i64>>,
}

/// How many pods fit into a row, and the resource that stops them: of several the first by name.
pub(super) fn count_in(requests: &[(usize, i64)], row: &[i64]) -> (i64, Option<usize>) {
    let most = i64::from(i32::MAX);
    let mut fewest = (most, None);
    for (resource, amount) in requests {
        let free = row[*resource];
        // Most resources are not the one that is short: a multiplication shows it, where a division would be slow.
        if fewest.1.is_some() && free >= amount.saturating_mul(fewest.0) {
            continue;
        }
        let count = match amount {
            0 => most,
            _ => (free / amount).clamp(0, most),
        };
        if count < fewest.0 || fewest.1.is_none() {
            fewest = (count, Some(*resource));
        }
    }
    fewest
}

impl Snapshot {
    /// A topology in which nothing runs yet.
    #[must_use]
    pub fn new(topology: impl Into<Arc<str>>, tree: Arc<Tree>, tolerations: &[Toleration]) -> Self {
        Self {
            topology: topology.into(),
            free: Arc::clone(tree.capacity()),
            remaining: Arc::clone(tree.capacity()),
            tolerations: tolerations.into(),
            tree,
        }
    }

    /// The name of the topology.
    #[must_use]
    pub fn topology(&self) -> &str {
        &self.topology
    }

    /// The shape below.
    #[must_use]
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Whether leaves are single nodes.
    #[must_use]
    pub fn lowest_is_hostname(&self) -> bool {
        self.tree.by_host()
    }

    /// A pod that nobody placed by topology runs on this node. False if the node is not part of it.
    pub fn subtract_foreign(&mut self, node: &str, usage: &Requests) -> bool {
        self.foreign(node, usage, i64::saturating_sub)
    }

    /// The opposite of [`Self::subtract_foreign`].
    pub fn return_foreign(&mut self, node: &str, usage: &Requests) -> bool {
        self.foreign(node, usage, i64::saturating_add)
    }

    fn foreign(&mut self, node: &str, usage: &Requests, change: fn(i64, i64) -> i64) -> bool {
        let Some(leaf) = self.tree.leaf_of_node(node) else {
            return false;
        };
        let usage = self.tree.dense(usage);
        apply(&mut self.free, &self.tree, leaf, &usage, change);
        apply(&mut self.remaining, &self.tree, leaf, &usage, change);
        true
    }

    /// Amounts, pods included, are used in this domain by workloads placed by topology, of this flavor or of another one on the same hosts.
    /// False if the domain is gone, as after the loss of a node: then nothing is counted.
    pub fn add_usage(&mut self, values: &[String], usage: &Requests) -> bool {
        self.placed(values, usage, i64::saturating_sub)
    }

    /// The opposite of [`Self::add_usage`].
    pub fn remove_usage(&mut self, values: &[String], usage: &Requests) -> bool {
        self.placed(values, usage, i64::saturating_add)
    }

    /// A workload takes this.
    pub fn take(&mut self, usage: &[DomainRequests]) {
        self.change_all(usage, i64::saturating_sub);
    }

    /// A workload gives this back.
    pub fn give_back(&mut self, usage: &[DomainRequests]) {
        self.change_all(usage, i64::saturating_add);
    }

    fn change_all(&mut self, usage: &[DomainRequests], change: fn(i64, i64) -> i64) {
        for domain in usage {
            let pod = self.tree.dense_pod(&domain.per_pod);
            apply_pods(
                &mut self.remaining,
                &self.tree,
                &domain.values,
                (&pod, domain.count),
                change,
            );
        }
    }

    fn placed(&mut self, values: &[String], usage: &Requests, change: fn(i64, i64) -> i64) -> bool {
        let Some(leaf) = self.tree.find_leaf(values) else {
            return false;
        };
        let usage = self.tree.dense(usage);
        apply(&mut self.remaining, &self.tree, leaf, &usage, change);
        true
    }

    /// What workloads placed by topology use of a domain of the lowest level, pods included.
    #[must_use]
    pub fn used(&self, values: &[String]) -> Requests {
        let width = self.tree.width();
        let leaf = self.tree.find_leaf(values);
        let rows = leaf.map(|leaf| leaf * width..(leaf + 1) * width);
        let rows = rows.map(|row| self.free[row.clone()].iter().zip(&self.remaining[row]));
        let used = rows.into_iter().flatten().zip(self.tree.resources());
        let used = used.filter(|((free, left), _)| free != left);
        used.map(|((free, left), name)| (name.clone(), Amount::new(free - left)))
            .collect()
    }

    /// Whether all of it fits together into what is free. Two pod sets of one workload may share a domain; the reference looks at each of
    /// them on its own (DIFFERENCES.md).
    #[must_use]
    pub fn fits(&self, usage: &[DomainRequests]) -> bool {
        let width = self.tree.width();
        let mut rows: BTreeMap<usize, Vec<i64>> = BTreeMap::new();
        usage.iter().all(|usage| {
            let Some(leaf) = self.tree.find_leaf(&usage.values) else {
                return false;
            };
            let free = || self.remaining[leaf * width..][..width].to_vec();
            let row = rows.entry(leaf).or_insert_with(free);
            let fits = self.fits_row(usage, row);
            for (resource, amount) in self.tree.dense_pod(&usage.per_pod) {
                let taken = amount.saturating_mul(usage.count.max(0));
                row[resource] = row[resource].saturating_sub(taken);
            }
            fits
        })
    }

    fn fits_row(&self, usage: &DomainRequests, row: &[i64]) -> bool {
        let offered = |(name, amount): (&ResourceName, &Amount)| {
            amount.value() == 0 || self.tree.resource(name).is_some()
        };
        let (count, _) = count_in(&self.tree.dense(&usage.per_pod), row);
        usage.count <= 0 || (usage.per_pod.iter().all(offered) && count >= usage.count)
    }

    /// What is left of every leaf, for a search: as if empty or not, and without what the same decision took before.
    pub(super) fn rows(&self, empty: bool, assumed: &AssumedUsage) -> Arc<Vec<i64>> {
        let mut rows = Arc::clone(if empty { &self.free } else { &self.remaining });
        for (values, usage) in assumed.amounts() {
            if let Some(leaf) = self.tree.find_leaf(values) {
                let usage = self.tree.dense(usage);
                apply(&mut rows, &self.tree, leaf, &usage, i64::saturating_sub);
            }
        }
        for (domains, per_pod) in assumed.pods() {
            let pod = self.tree.dense_pod(per_pod);
            for domain in domains {
                let pods = (pod.as_slice(), domain.count);
                let values = &domain.values;
                apply_pods(&mut rows, &self.tree, values, pods, i64::saturating_sub);
            }
        }
        rows
    }

    /// Whether the topology has every level that the request names, and it names one.
    #[must_use]
    pub fn has_level(&self, request: &TopologyRequest) -> bool {
        let named = request.required.as_ref().or(request.preferred.as_ref());
        let main = match named {
            Some(level) => self.tree.level(level).is_some(),
            None => !request.slices.is_empty() || request.unconstrained == Some(true),
        };
        let mut slices = request.slices.iter();
        main && slices.all(|slice| self.tree.level(&slice.level).is_some())
    }

    /// A value of the first domain that is not there any more.
    #[must_use]
    pub fn stale_domain<'a>(&self, assignment: &'a TopologyAssignment) -> Option<&'a str> {
        let mut domains = assignment.domains.iter();
        let gone = domains.find(|domain| self.tree.find_leaf(&domain.values).is_none())?;
        gone.values.first().map(String::as_str)
    }

    /// Both assignments as one, in the order of the domains; what is in both is summed.
    #[must_use]
    pub fn merged(
        &self,
        one: &TopologyAssignment,
        other: &TopologyAssignment,
    ) -> TopologyAssignment {
        let mut domains: Vec<_> = one.domains.iter().chain(&other.domains).cloned().collect();
        domains.sort_by_cached_key(|domain| self.tree.find_leaf(&domain.values));
        let mut merged = TopologyAssignment {
            levels: one.levels.clone(),
            domains: Vec::with_capacity(domains.len()),
        };
        for domain in domains {
            match merged.domains.last_mut() {
                Some(last) if last.values == domain.values => last.count += domain.count,
                _ => merged.domains.push(domain),
            }
        }
        merged
    }
}

fn apply(
    rows: &mut Arc<Vec<i64>>,
    tree: &Tree,
    leaf: usize,
    usage: &[(usize, i64)],
    change: fn(i64, i64) -> i64,
) {
    let start = leaf * tree.width();
    let rows = Arc::make_mut(rows);
    for (resource, amount) in usage {
        let place = &mut rows[start + resource];
        *place = change(*place, *amount);
    }
}

/// So many pods of one kind, if the domain is there.
fn apply_pods(
    rows: &mut Arc<Vec<i64>>,
    tree: &Tree,
    values: &[String],
    (pod, count): (&[(usize, i64)], i64),
    change: fn(i64, i64) -> i64,
) {
    let Some(leaf) = tree.find_leaf(values) else {
        return;
    };
    let start = leaf * tree.width();
    let rows = Arc::make_mut(rows);
    for (resource, amount) in pod {
        let place = &mut rows[start + resource];
        *place = change(*place, amount.saturating_mul(count));
    }
}
