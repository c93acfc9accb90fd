//! The fewest domains that hold everything, and of those the ones that leave the least room unused: dynamic programming over how many domains
//! are used and what is left to place. Part of balanced placement.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::field::{Field, Room};
use super::tree::DomainId;

/// Domains chosen so far, the last one first, as links into a list.
#[derive(Clone, Copy)]
struct Link {
    domain: DomainId,
    before: Option<usize>,
}

/// What is left to place (leaders, pods), and the first choice of domains that leaves just that.
type Choices = BTreeMap<(i64, i64), Option<usize>>;

/// The best set, in the order in which it was built; `None` if nothing holds everything.
pub(super) fn select(
    field: &Field<'_>,
    domains: &[DomainId],
    leaders: i64,
    slices: i64,
    size: i64,
    by_entropy: bool,
) -> Option<Vec<DomainId>> {
    let fewest = field.greedy(domains, slices, leaders)?.domains;
    let mut ordered = domains.to_vec();
    ordered.sort_unstable();
    if by_entropy {
        sort_by_entropy(field, &mut ordered);
    }
    let mut links: Vec<Link> = Vec::new();
    let mut choices: Vec<Choices> = vec![Choices::new(); fewest + 1];
    choices[0].insert((leaders, slices * size), None);
    for domain in ordered {
        for used in (0..fewest).rev() {
            let (before, after) = choices.split_at_mut(used + 1);
            let (Some(before), Some(after)) = (before.last(), after.first_mut()) else {
                continue;
            };
            extend(before, after, &mut links, domain, &field.rooms[domain]);
        }
    }
    let complete = choices.last()?.range((0, i64::MIN)..=(0, 0)).next_back();
    let (_, chosen) = complete?;
    Some(follow(&links, *chosen))
}

/// One more domain for every choice that still has something to place, with a leader or without.
fn extend(
    before: &Choices,
    after: &mut Choices,
    links: &mut Vec<Link>,
    domain: DomainId,
    room: &Room,
) {
    for ((leaders, pods), chosen) in before {
        if *leaders <= 0 && *pods <= 0 {
            continue;
        }
        let with_leader = (*leaders > 0 && room.leaders > 0)
            .then(|| (leaders - room.leaders, pods - room.pods_with_leader));
        let without = (room.slices > 0).then(|| (*leaders, pods - room.pods));
        for left in [with_leader, without].into_iter().flatten() {
            after.entry(left).or_insert_with(|| {
                links.push(Link {
                    domain,
                    before: *chosen,
                });
                Some(links.len() - 1)
            });
        }
    }
}

fn follow(links: &[Link], last: Option<usize>) -> Vec<DomainId> {
    let mut domains = Vec::new();
    let mut at = last;
    while let Some(link) = at.and_then(|at| links.get(at)) {
        domains.push(link.domain);
        at = link.before;
    }
    domains.reverse();
    domains
}

/// Leaders first, then more slices, then the more even distribution below.
fn sort_by_entropy(field: &Field<'_>, domains: &mut [DomainId]) {
    let entropy: BTreeMap<DomainId, f64> = domains
        .iter()
        .map(|domain| (*domain, entropy(&field.rooms[field.tree.children(*domain)])))
        .collect();
    let known = |domain: &DomainId| entropy.get(domain).copied().unwrap_or_default();
    let size = |domain: &DomainId| {
        let room = &field.rooms[*domain];
        Reverse((room.leaders, room.slices_with_leader))
    };
    domains.sort_by(|a, b| {
        let by_size = size(a).cmp(&size(b));
        let by_entropy = known(b).total_cmp(&known(a));
        by_size.then(by_entropy).then(a.cmp(b))
    });
}

/// How evenly pods spread over rooms, in bits.
#[expect(
    clippy::cast_precision_loss,
    reason = "pods of a cluster are far fewer than 2^52"
)]
fn entropy(rooms: &[Room]) -> f64 {
    let total: i64 = rooms.iter().map(|room| room.pods).sum();
    let shares = rooms.iter().filter(|room| room.pods > 0);
    shares
        .map(|room| room.pods as f64 / total as f64)
        .map(|share| -share * share.log2())
        .sum()
}
