//! Balanced placement: the same number of slices, as nearly as possible, on as few domains as possible. Behind the gate `TASBalancedPlacement`,
//! for preferred topologies; whatever goes wrong falls back to the usual selection. Section 4.14.1, "Balanced placement".

use std::ops::Range;

use super::field::{Field, Room};
use super::fill::Rule;
use super::needs::Needs;
use super::optimal;
use super::select::Selected;
use super::tree::DomainId;

/// How far a greedy placement gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Greedy {
    /// How many domains it uses.
    pub(super) domains: usize,
    /// The last one that takes a leader.
    last_with_leader: Option<DomainId>,
    /// The last one that takes slices only.
    last: Option<DomainId>,
}

/// The rooms of some neighbours and of everything below them.
struct Saved(Vec<(Range<DomainId>, Vec<Room>)>);

/// The neighbours that allow for the highest threshold.
struct Best {
    neighbours: Range<DomainId>,
    threshold: i64,
    domains: usize,
    /// Their rooms without what lies below the threshold.
    pruned: Saved,
}

/// The domains that take everything in balance, if that is wanted and possible. Their rooms then say how much.
pub(super) fn select(field: &mut Field<'_>, needs: &Needs) -> Option<Selected> {
    if !field.gates.balanced_placement || needs.required || needs.unconstrained {
        return None;
    }
    let best = best(field, needs)?;
    let before = field.save(best.neighbours.clone());
    field.restore(&best.pruned);
    let selected = apply(field, needs, &best);
    if selected.is_none() {
        field.restore(&before);
    }
    selected
}

fn apply(field: &mut Field<'_>, needs: &Needs, best: &Best) -> Option<Selected> {
    let slices = needs.slices();
    let mut level = needs.level;
    let mut domains: Vec<DomainId> = best.neighbours.clone().collect();
    if needs.level < needs.slice_level {
        let chosen = optimal::select(field, &domains, needs.leaders, slices, needs.size, true)?;
        domains = field.children(&chosen);
        level += 1;
    }
    let domains = field.spread(&domains, needs.leaders, slices, needs.size, best.threshold)?;
    Some(Selected { level, domains })
}

fn best(field: &mut Field<'_>, needs: &Needs) -> Option<Best> {
    let sets: Vec<Range<DomainId>> = match needs.level.checked_sub(1) {
        None => vec![field.tree.at_level(0)],
        Some(above) => {
            let parents = field.tree.at_level(above);
            parents.map(|parent| field.tree.children(parent)).collect()
        }
    };
    let mut best: Option<Best> = None;
    for neighbours in sets {
        let floor = best.as_ref().map_or(0, |best| best.threshold);
        let before = field.save(neighbours.clone());
        let fewest = best.as_ref().map_or(usize::MAX, |best| best.domains);
        if let Some((threshold, domains)) = weigh(field, needs, &neighbours, floor, &before)
            && (threshold > floor || (best.is_some() && domains < fewest))
        {
            best = Some(Best {
                threshold,
                domains,
                pruned: field.save(neighbours.clone()),
                neighbours,
            });
        }
        field.restore(&before);
    }
    best
}

/// The threshold that some neighbours allow for and how many of them it takes. Leaves their rooms pruned.
fn weigh(
    field: &mut Field<'_>,
    needs: &Needs,
    neighbours: &Range<DomainId>,
    floor: i64,
    before: &Saved,
) -> Option<(i64, usize)> {
    let slices = needs.slices();
    let domains: Vec<DomainId> = neighbours.clone().collect();
    let lower = if needs.level < needs.slice_level {
        field.children(&domains)
    } else {
        domains.clone()
    };
    let greedy = field.greedy(&lower, slices, needs.leaders)?;
    let threshold = field.threshold(&greedy, slices)?;
    if threshold < floor {
        return None;
    }
    field.prune(&domains, threshold, needs);
    if let Some(after) = field.greedy(&domains, slices, needs.leaders) {
        return Some((threshold, after.domains));
    }
    // The leader may need room in the last domain: once more, with that much less in each.
    field.restore(before);
    let last = greedy.last.filter(|_| needs.leaders > 0)?;
    let lowered = field.rooms[last].slices_with_leader;
    if lowered >= threshold || lowered <= 0 || lowered < floor {
        return None;
    }
    field.prune(&domains, lowered, needs);
    let after = field.greedy(&domains, slices, needs.leaders)?;
    Some((lowered, after.domains))
}

impl Field<'_> {
    fn save(&self, neighbours: Range<DomainId>) -> Saved {
        let ranges = self.below(neighbours).into_iter();
        Saved(
            ranges
                .map(|range| (range.clone(), self.rooms[range].to_vec()))
                .collect(),
        )
    }

    fn restore(&mut self, saved: &Saved) {
        for (range, rooms) in &saved.0 {
            self.rooms[range.clone()].copy_from_slice(rooms);
        }
    }

    /// The largest domains first, until everything is placed; `None` if it does not fit.
    pub(super) fn greedy(&self, domains: &[DomainId], slices: i64, leaders: i64) -> Option<Greedy> {
        let mut domains = domains.to_vec();
        let (mut slices, mut leaders) = (slices, leaders);
        let mut greedy = Greedy {
            domains: 0,
            last_with_leader: None,
            last: None,
        };
        if leaders > 0 {
            self.sort_with_leader(&mut domains);
            for domain in &domains {
                let room = &self.rooms[*domain];
                if leaders <= 0 || room.leaders <= 0 {
                    break;
                }
                greedy.domains += 1;
                greedy.last_with_leader = Some(*domain);
                leaders -= room.leaders;
                slices -= room.slices_with_leader;
            }
        }
        let mut rest = domains.split_off(greedy.domains);
        self.sort(&mut rest);
        for domain in &rest {
            let room = &self.rooms[*domain];
            if slices <= 0 || room.slices <= 0 {
                break;
            }
            greedy.domains += 1;
            greedy.last = Some(*domain);
            slices -= room.slices;
        }
        (leaders <= 0 && slices <= 0).then_some(greedy)
    }

    /// The most slices that each of the greedy placement's domains could have.
    fn threshold(&self, greedy: &Greedy, slices: i64) -> Option<i64> {
        let even = slices.checked_div(i64::try_from(greedy.domains).ok()?)?;
        let with_leader = greedy.last_with_leader;
        let with_leader = with_leader.map(|last| self.rooms[last].slices_with_leader);
        let without = greedy.last.map(|last| self.rooms[last].slices);
        let least = [with_leader, without].into_iter().flatten().min();
        Some(least.map_or(even, |least| least.min(even)))
    }

    /// Takes out what has no room for a threshold of slices.
    fn prune(&mut self, domains: &[DomainId], threshold: i64, needs: &Needs) {
        for child in self.children(domains) {
            self.prune_one(child, threshold, needs.leaders > 0);
        }
        for domain in domains {
            self.roll_up(*domain, needs.level, Rule::flat(needs));
            self.prune_one(*domain, threshold, needs.leaders > 0);
        }
    }

    fn prune_one(&mut self, domain: DomainId, threshold: i64, with_leader: bool) {
        let room = self.rooms[domain];
        let too_small = room.slices < threshold;
        let no_leader = with_leader && room.leaders > 0 && room.slices_with_leader < threshold;
        if !too_small && !no_leader {
            return;
        }
        for range in self.below(domain..domain + 1) {
            for room in &mut self.rooms[range] {
                room.pods_with_leader = 0;
                room.slices_with_leader = 0;
                room.leaders = 0;
                if too_small {
                    room.pods = 0;
                    room.slices = 0;
                }
            }
        }
    }

    /// A threshold of slices for each of the fewest domains, the remainder for the first of them; sets their rooms.
    pub(super) fn spread(
        &mut self,
        domains: &[DomainId],
        leaders: i64,
        slices: i64,
        size: i64,
        threshold: i64,
    ) -> Option<Vec<DomainId>> {
        let mut domains = optimal::select(self, domains, leaders, slices, size, false)?;
        let mut extra = slices - i64::try_from(domains.len()).ok()? * threshold;
        if extra < 0 {
            return None;
        }
        self.sort_with_leader(&mut domains);
        let mut leaders = leaders;
        for domain in &domains {
            let room = &mut self.rooms[*domain];
            let most = if leaders > 0 {
                room.slices_with_leader
            } else {
                room.slices
            };
            room.leaders = leaders.min(1);
            leaders -= room.leaders;
            let more = (most - threshold).min(extra);
            extra -= more;
            room.slices = threshold + more;
            room.slices_with_leader = room.slices;
            room.pods = room.slices * size;
            room.pods_with_leader = room.pods - room.leaders;
        }
        (extra <= 0 && leaders <= 0).then_some(domains)
    }
}
