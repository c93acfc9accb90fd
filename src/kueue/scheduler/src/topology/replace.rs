//! A failed node is replaced, and nothing else moves: its pods go where the request still holds, the other domains stay. Section 4.14.1,
//! "Replacement".

use std::ops::Range;

use super::assignment::{DomainAssignment, TopologyAssignment};
use super::assumed::AssumedUsage;
use super::failure::Reason;
use super::find::{Context, Group, Placed};
use super::needs::{level_key, slice_size};
use super::request::{PodSetRequest, SliceConstraint, Unhealthy};
use super::tree::{DomainId, Tree};
use crate::names::PodSetName;

/// Replaces the node in every assignment of the group.
pub(super) fn all(
    context: &Context<'_>,
    members: &[&PodSetRequest],
    unhealthy: &Unhealthy,
    assumed: &mut AssumedUsage,
    placed: &mut Placed,
) -> Result<(), (Vec<PodSetName>, Reason)> {
    for member in members {
        let Some(current) = &member.current else {
            continue;
        };
        let name = &member.pod_set;
        if unhealthy.keep {
            placed.push((name.clone(), current.clone()));
            continue;
        }
        let beside = beside(member, members, &unhealthy.node, placed);
        let (whole, replacement) = replace(context, member, current, beside, assumed, unhealthy)
            .map_err(|reason| (vec![name.clone()], reason))?;
        assumed.add_assignment(&replacement, &member.per_pod);
        placed.push((name.clone(), whole));
    }
    Ok(())
}

/// Where another member of the group runs, or will: one that lost all its pods has to find it again.
fn beside(
    member: &PodSetRequest,
    members: &[&PodSetRequest],
    node: &str,
    placed: &Placed,
) -> Option<DomainAssignment> {
    let mut others = members.iter().filter(|one| one.pod_set != member.pod_set);
    others.find_map(|other| {
        let moved = placed.iter().find(|(name, _)| *name == other.pod_set);
        let mut place = moved
            .map(|(_, place)| place)
            .or(other.current.as_ref())?
            .clone();
        if moved.is_none() {
            place.remove_node(node);
        }
        place.domains.into_iter().next()
    })
}

/// The whole new assignment, and the part of it that is new.
fn replace(
    context: &Context<'_>,
    request: &PodSetRequest,
    current: &TopologyAssignment,
    beside: Option<DomainAssignment>,
    assumed: &AssumedUsage,
    unhealthy: &Unhealthy,
) -> Result<(TopologyAssignment, TopologyAssignment), Reason> {
    let snapshot = context.snapshot;
    let mut remaining = current.clone();
    let mut lost = request.clone();
    lost.count = remaining.remove_node(&unhealthy.node);
    if let Some(stale) = snapshot.stale_domain(&remaining) {
        return Err(Reason::Stale(stale.to_owned()));
    }
    let tree = &*snapshot.tree;
    let size = slice_size(&lost.request)?;
    let anchor = remaining.domains.first().cloned().or(beside);
    let domain = required_domain(&lost, &remaining, anchor.as_ref(), size, tree);
    if domain.is_some() && lost.count % size != 0 {
        lost.request.slices = smaller_slices(&lost);
    }
    let group = Group {
        workers: &lost,
        leader: None,
    };
    let within = domain.map(|domain| leaves_below(domain, tree));
    let (replacement, _) = context.place(group, assumed, within)?;
    if replacement.domains.is_empty() {
        return Err(Reason::NoReplacement(unhealthy.node.clone()));
    }
    Ok((snapshot.merged(&replacement, &remaining), replacement))
}

/// The innermost layer whose size divides the lost pods, as the only one; single pods if none does.
fn smaller_slices(lost: &PodSetRequest) -> Vec<SliceConstraint> {
    let layers = lost.request.slices.iter().rev();
    let mut even = layers.filter(|layer| layer.size > 0 && lost.count % layer.size == 0);
    even.next().cloned().into_iter().collect()
}

/// The domain the lost pods have to stay in, so that slices stay whole or the pod set stays together.
fn required_domain(
    lost: &PodSetRequest,
    remaining: &TopologyAssignment,
    anchor: Option<&DomainAssignment>,
    size: i64,
    tree: &Tree,
) -> Option<DomainId> {
    let level = tree.level(level_key(lost, tree)?)?;
    if lost.count % size != 0 {
        let mut layers = lost.request.slices.iter().rev();
        let broken = layers.find(|layer| layer.size > 0 && lost.count % layer.size != 0)?;
        return incomplete(lost.count, broken, remaining, tree);
    }
    lost.request.required.as_ref()?;
    above(&anchor?.values, level, tree)
}

/// The first domain of the layer's level that lacks just these pods.
fn incomplete(
    lost: i64,
    layer: &SliceConstraint,
    remaining: &TopologyAssignment,
    tree: &Tree,
) -> Option<DomainId> {
    let level = tree.level(&layer.level)?;
    let mut pods: Vec<(DomainId, i64)> = Vec::new();
    for domain in &remaining.domains {
        let Some(at) = above(&domain.values, level, tree) else {
            continue;
        };
        match pods.iter_mut().find(|(known, _)| *known == at) {
            Some((_, count)) => *count += domain.count,
            None => pods.push((at, domain.count)),
        }
    }
    let mut pods = pods.into_iter();
    let fits = pods.find(|(_, count)| (count + lost) % layer.size == 0);
    fits.map(|(domain, _)| domain)
}

/// The domain of a level in which a leaf lies.
fn above(values: &[String], level: usize, tree: &Tree) -> Option<DomainId> {
    let leaf = tree.leaves().start + tree.find_leaf(values)?;
    Some(tree.ancestor(leaf, tree.levels().len() - 1 - level))
}

/// The leaves below a domain, counted among leaves.
fn leaves_below(domain: DomainId, tree: &Tree) -> Range<usize> {
    let mut range = domain..domain + 1;
    let leaves = tree.leaves().start;
    while range.start < leaves {
        range = tree.children(range.start).start..tree.children(range.end - 1).end;
    }
    range.start - leaves..range.end - leaves
}
