//! The way up: how many pods each leaf has room for, and from there every domain above. Section 4.14.1, "Leaves" and "Inner nodes".

use std::ops::Range;

use quantity::{Amount, Requests, ResourceName};

use super::failure::Exclusions;
use super::field::{Field, Room};
use super::needs::Needs;
use super::nodes::Filter;
use super::request::PodSetRequest;
use super::snapshot::{Snapshot, count_in};
use super::tree::{DomainId, Tree};

/// What one pod asks for, by the numbers of a tree's resources.
struct Demand {
    known: Vec<(usize, i64)>,
    /// The first resource that no node of the tree offers, and how many known ones come before it by name.
    absent: Option<(ResourceName, usize)>,
}

impl Demand {
    fn of(per_pod: &Requests, tree: &Tree) -> Self {
        let mut total = per_pod.clone();
        total.add(&ResourceName::pods(), Amount::new(1));
        let absent = |(name, amount): &(&ResourceName, &Amount)| {
            amount.value() > 0 && tree.resource(name).is_none()
        };
        let absent = total.iter().find(absent).map(|(name, _)| name.clone());
        Self {
            known: tree.dense(&total),
            absent: absent.map(|name| {
                let before = tree.resources_before(&name);
                (name, before)
            }),
        }
    }

    /// How many pods fit. If none does, also the resource that is short, of several the first by name; the one no node offers is `None`.
    fn count(&self, row: &[i64]) -> (i64, Option<usize>) {
        let (count, limit) = count_in(&self.known, row);
        match (&self.absent, limit) {
            (None, _) => (count, limit),
            (Some((_, before)), Some(limit)) if count == 0 && limit < *before => (0, Some(limit)),
            (Some(_), _) => (0, None),
        }
    }
}

/// What kept leaves out, counted while they are filled.
#[derive(Default)]
struct Tally {
    excluded: Exclusions,
    /// By the number of a resource.
    short: Vec<usize>,
    absent: usize,
}

impl Tally {
    fn short(&mut self, resource: Option<usize>) {
        match resource {
            Some(resource) => self.short[resource] += 1,
            None => self.absent += 1,
        }
    }

    fn sum(self, tree: &Tree, demand: &Demand) -> Exclusions {
        let mut excluded = self.excluded;
        let short = self.short.iter().enumerate();
        let short = short.map(|(resource, count)| (tree.resource_name(resource), *count));
        let absent = demand.absent.as_ref().map(|(name, _)| name);
        let all = short.chain([(absent, self.absent)]);
        for (name, count) in all.filter(|(_, count)| *count > 0) {
            excluded
                .resources
                .extend(name.map(|name| (name.clone(), count)));
        }
        excluded
    }
}

/// Everything the leaves are counted with.
struct Leaves<'a> {
    tree: &'a Tree,
    rows: &'a [i64],
    worker: Demand,
    leader: Option<Demand>,
    filter: Filter<'a>,
    /// The leaves a replacement has to be among.
    within: Option<Range<DomainId>>,
}

impl Leaves<'_> {
    fn room(&mut self, leaf: usize, tally: &mut Tally) -> Option<Room> {
        let affinity = self.filter.liking(leaf, &mut tally.excluded)?;
        let within = self.within.as_ref();
        if within.is_some_and(|within| !within.contains(&leaf)) {
            tally.excluded.domain += 1;
            return None;
        }
        let width = self.tree.width();
        let row = &self.rows[leaf * width..][..width];
        let (pods, limit) = self.worker.count(row);
        if pods == 0 {
            tally.short(limit);
        }
        let (leaders, pods_with_leader) = self.beside_leader(row, pods);
        Some(Room {
            pods,
            pods_with_leader,
            leaders,
            affinity,
            ..Room::default()
        })
    }

    /// How many leaders have room, and how many pods beside them.
    fn beside_leader(&self, row: &[i64], pods: i64) -> (i64, i64) {
        match &self.leader {
            Some(leader) if leader.count(row).0 > 0 => {
                let mut left = row.to_vec();
                for (resource, amount) in &leader.known {
                    left[*resource] = left[*resource].saturating_sub(*amount);
                }
                (1, self.worker.count(&left).0)
            }
            _ => (0, pods),
        }
    }
}

/// Who is placed, where, and among which amounts.
pub(super) struct Filling<'a> {
    pub(super) workers: &'a PodSetRequest,
    pub(super) leader: Option<&'a PodSetRequest>,
    pub(super) rows: &'a [i64],
    pub(super) within: Option<Range<DomainId>>,
}

/// Fills the rooms of all domains; says what kept nodes out.
pub(super) fn fill(
    snapshot: &Snapshot,
    field: &mut Field<'_>,
    filling: Filling<'_>,
    needs: &Needs,
) -> Exclusions {
    let tree = &*snapshot.tree;
    let liking = field.gates.respect_node_affinity_preferred;
    let mut leaves = Leaves {
        tree,
        rows: filling.rows,
        worker: Demand::of(&filling.workers.per_pod, tree),
        leader: filling
            .leader
            .map(|leader| Demand::of(&leader.per_pod, tree)),
        filter: Filter::of(filling.workers, snapshot, liking),
        within: filling.within,
    };
    let range = tree.leaves();
    let mut tally = Tally {
        short: vec![0; tree.width()],
        ..Tally::default()
    };
    tally.excluded.nodes = range.len();
    for (leaf, domain) in range.enumerate() {
        if let Some(room) = leaves.room(leaf, &mut tally) {
            field.rooms[domain] = room;
        }
    }
    let rule = Rule::of(needs);
    for root in tree.at_level(0) {
        field.roll_up(root, 0, rule);
    }
    tally.sum(tree, &leaves.worker)
}

/// How rooms add up.
#[derive(Clone, Copy)]
pub(super) struct Rule<'a> {
    size: i64,
    slice_level: usize,
    inner: &'a [i64],
    with_leader: bool,
}

impl<'a> Rule<'a> {
    pub(super) fn of(needs: &'a Needs) -> Self {
        Self {
            size: needs.size,
            slice_level: needs.slice_level,
            inner: &needs.inner,
            with_leader: needs.leaders > 0,
        }
    }

    /// The same without inner layers.
    pub(super) fn flat(needs: &'a Needs) -> Self {
        Self {
            inner: &[],
            ..Self::of(needs)
        }
    }
}

impl Field<'_> {
    /// Adds up the rooms below a domain, which is of this level.
    pub(super) fn roll_up(&mut self, domain: DomainId, level: usize, rule: Rule<'_>) {
        let children = self.tree.children(domain);
        if children.start < children.end {
            for child in children.clone() {
                self.roll_up(child, level + 1, rule);
            }
            let inner = rule.inner.get(level + 1).copied().unwrap_or_default();
            self.rooms[domain] = sum(&self.rooms[children], inner, rule.with_leader);
        }
        if level == rule.slice_level {
            let room = &mut self.rooms[domain];
            room.slices = room.pods;
            room.slices_with_leader = room.pods_with_leader;
            if rule.size > 1 {
                room.slices /= rule.size;
                room.slices_with_leader /= rule.size;
            }
        }
    }
}

/// The room of a domain from that of its children. The leader costs as little as it does in the child where it costs least.
fn sum(children: &[Room], inner: i64, with_leader: bool) -> Room {
    let whole = |pods: i64| {
        if inner > 0 {
            pods / inner * inner
        } else {
            pods
        }
    };
    let mut total = Room::default();
    let mut loss: Option<(i64, i64)> = None;
    for child in children {
        let pods = whole(child.pods);
        total.pods += pods;
        total.slices += child.slices;
        total.leaders = total.leaders.max(child.leaders);
        total.affinity += child.affinity;
        if child.leaders > 0 || !with_leader {
            let pods = pods - whole(child.pods_with_leader);
            let slices = child.slices - child.slices_with_leader;
            loss = Some(loss.map_or((pods, slices), |(least_pods, least_slices)| {
                (least_pods.min(pods), least_slices.min(slices))
            }));
        }
    }
    if let Some((pods, slices)) = loss {
        total.pods_with_leader = total.pods - pods;
        total.slices_with_leader = total.slices - slices;
    }
    total
}
