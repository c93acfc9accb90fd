//! One search: pod sets in their groups, one group after the other, each seeing what the earlier ones took. Section 4.14.1.
//!
//! The steps of [`place`]: resolve the request (`needs.rs`), fill the rooms from the leaves up (`fill.rs`), choose domains (`balanced.rs` or
//! `select.rs`), go down to leaves (`descend.rs`).

use std::ops::Range;

use super::assignment::{DomainAssignment, TopologyAssignment};
use super::assumed::AssumedUsage;
use super::balanced;
use super::descend::Overrun;
use super::failure::{Exclusions, Failure, LayerFit, Reason, Unit};
use super::field::Field;
use super::fill::{Filling, fill};
use super::needs::Needs;
use super::request::{PodSetRequest, Search};
use super::select::Short;
use super::snapshot::Snapshot;
use super::tree::{DomainId, Tree};
use super::{elastic, replace};
use crate::names::PodSetName;

/// Who received which place.
pub(super) type Placed = Vec<(PodSetName, TopologyAssignment)>;

/// Pod sets that are placed together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a> {
    pub(super) workers: &'a PodSetRequest,
    pub(super) leader: Option<&'a PodSetRequest>,
}

/// What a search knows besides the request.
pub(super) struct Context<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) search: &'a Search,
}

impl Snapshot {
    /// A place for every request, in their order, or why there is none. What is placed is added to `assumed`, and what is there already is
    /// respected; the snapshot itself does not change.
    ///
    /// # Errors
    /// When some pod set cannot be placed: the first one, with what was placed before it.
    pub fn find(
        &self,
        requests: &[PodSetRequest],
        assumed: &mut AssumedUsage,
        search: &Search,
    ) -> Result<Vec<(PodSetName, TopologyAssignment)>, Failure> {
        let context = Context {
            snapshot: self,
            search,
        };
        let mut placed = Placed::new();
        for members in groups(requests) {
            let outcome = match &search.unhealthy {
                Some(unhealthy) => {
                    replace::all(&context, &members, unhealthy, assumed, &mut placed)
                }
                None => context.group(&members, assumed, &mut placed),
            };
            if let Err((pod_sets, reason)) = outcome {
                return Err(Failure {
                    pod_sets,
                    reason,
                    placed,
                });
            }
        }
        Ok(placed)
    }
}

/// Requests of one group stand where its first member stood.
fn groups(requests: &[PodSetRequest]) -> Vec<Vec<&PodSetRequest>> {
    let mut groups: Vec<Vec<&PodSetRequest>> = Vec::new();
    for request in requests {
        let name = request.request.group.as_ref();
        let same = |group: &&mut Vec<&PodSetRequest>| {
            name.is_some()
                && group
                    .iter()
                    .any(|other| other.request.group.as_ref() == name)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(request),
            None => groups.push(vec![request]),
        }
    }
    groups
}

/// Of two pod sets the smaller one leads; of equal ones the second.
fn roles<'a>(members: &[&'a PodSetRequest]) -> Option<Group<'a>> {
    match members {
        [] => None,
        [only] => Some(Group {
            workers: only,
            leader: None,
        }),
        [first, second, ..] => {
            let (workers, leader) = if second.count > first.count {
                (second, first)
            } else {
                (first, second)
            };
            Some(Group {
                workers,
                leader: Some(leader),
            })
        }
    }
}

impl Context<'_> {
    fn group(
        &self,
        members: &[&PodSetRequest],
        assumed: &mut AssumedUsage,
        placed: &mut Placed,
    ) -> Result<(), (Vec<PodSetName>, Reason)> {
        let Some(group) = roles(members) else {
            return Ok(());
        };
        if self.search.gates.elastic_jobs
            && let Some(outcome) = elastic::place(self, group, assumed)
        {
            let kept = outcome.map_err(|reason| (vec![group.workers.pod_set.clone()], reason))?;
            placed.extend(kept);
            return Ok(());
        }
        let names = || {
            members
                .iter()
                .map(|member| member.pod_set.clone())
                .collect()
        };
        let (workers, leader) = self
            .place(group, assumed, None)
            .map_err(|reason| (names(), reason))?;
        for member in members {
            let is_leader = group
                .leader
                .is_some_and(|leader| leader.pod_set == member.pod_set);
            let own = leader.as_ref().filter(|_| is_leader).unwrap_or(&workers);
            assumed.add_assignment(own, &member.per_pod);
            placed.push((member.pod_set.clone(), own.clone()));
        }
        Ok(())
    }

    /// Places workers, with their leader if there is one; a replacement only among the leaves `within`.
    pub(super) fn place(
        &self,
        group: Group<'_>,
        assumed: &AssumedUsage,
        within: Option<Range<DomainId>>,
    ) -> Result<(TopologyAssignment, Option<TopologyAssignment>), Reason> {
        let tree = &*self.snapshot.tree;
        let needs = Needs::of(group.workers, i64::from(group.leader.is_some()), tree)?;
        let mut field = Field::new(tree, self.search.gates, needs.unconstrained);
        let rows = self.snapshot.rows(self.search.empty, assumed);
        let filling = Filling {
            workers: group.workers,
            leader: group.leader,
            rows: &rows,
            within,
        };
        let excluded = fill(self.snapshot, &mut field, filling, &needs);
        let balanced = balanced::select(&mut field, &needs);
        let is_balanced = balanced.is_some();
        let selected = match balanced {
            Some(selected) => selected,
            None => match field.select(&needs) {
                Ok(selected) => selected,
                Err(short) => return Err(self.reason(&field, &needs, short, excluded)),
            },
        };
        let leaves = field
            .descend(selected, &needs, is_balanced)
            .map_err(|Overrun(left)| {
                let fitted = (needs.slices() - left).max(0);
                does_not_fit(self.snapshot, &needs, fitted, excluded)
            })?;
        let workers = assignment(tree, &leaves, |leaf| field.rooms[leaf].pods);
        let leader = group
            .leader
            .map(|_| assignment(tree, &leaves, |leaf| field.rooms[leaf].leaders));
        Ok((workers, leader))
    }

    fn reason(
        &self,
        field: &Field<'_>,
        needs: &Needs,
        short: Short,
        excluded: Exclusions,
    ) -> Reason {
        match short {
            Short::Empty(level) => Reason::NoDomains(field.tree.levels()[level].clone()),
            Short::Fitted(_, fitted) if needs.layers.is_empty() => {
                does_not_fit(self.snapshot, needs, fitted, excluded)
            }
            Short::Fitted(level, _) => Reason::LayersDoNotFit {
                topology: self.snapshot.topology.to_string(),
                layers: layers(field, needs, level),
                excluded: Box::new(excluded),
            },
        }
    }
}

fn does_not_fit(snapshot: &Snapshot, needs: &Needs, fitted: i64, excluded: Exclusions) -> Reason {
    Reason::DoesNotFit {
        topology: snapshot.topology.to_string(),
        fitted,
        wanted: needs.slices(),
        unit: if needs.size == 1 {
            Unit::Pods
        } else {
            Unit::Slices
        },
        excluded: Box::new(excluded),
    }
}

/// How far each layer would get in the domain that has room for the most slices.
fn layers(field: &Field<'_>, needs: &Needs, level: usize) -> Vec<LayerFit> {
    let domains = field.tree.at_level(level);
    let best = domains.min_by_key(|domain| -field.rooms[*domain].slices);
    let ranges = best.map_or_else(Vec::new, |best| field.below(best..best + 1));
    let mut fits = Vec::new();
    for layer in &needs.layers {
        let depth = field.tree.level(&layer.level);
        let range = depth.and_then(|depth| ranges.get(depth.checked_sub(level)?));
        let slices = |room: &super::Room| room.pods / layer.size;
        fits.push(LayerFit {
            level: layer.level.clone(),
            fitted: range.map_or(0, |range| {
                field.rooms[range.clone()].iter().map(slices).sum()
            }),
            wanted: needs.count / layer.size,
        });
    }
    fits
}

/// The leaves that receive something, in their order.
fn assignment(
    tree: &Tree,
    leaves: &[DomainId],
    count: impl Fn(DomainId) -> i64,
) -> TopologyAssignment {
    let mut leaves: Vec<DomainId> = leaves.to_vec();
    leaves.sort_unstable();
    let received = leaves.into_iter().map(|leaf| DomainAssignment {
        values: tree.leaf_values(leaf),
        count: count(leaf),
    });
    TopologyAssignment {
        levels: tree.assignment_levels().to_vec(),
        domains: received.filter(|domain| domain.count > 0).collect(),
    }
}
