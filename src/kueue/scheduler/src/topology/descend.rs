//! The way down: from the chosen domains to leaves, using as few domains as possible at each level. Section 4.14.1, "Minimise" and "Descent".

use super::field::{Field, Grain, Left};
use super::needs::Needs;
use super::select::Selected;
use super::tree::DomainId;

/// Less room below than above: the counts on the way up promised more. Holds the units that were left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overrun(pub(super) i64);

impl Field<'_> {
    /// The leaves that receive pods or the leader; their rooms now say how many. A balanced selection keeps to what each domain was given.
    pub(super) fn descend(
        &mut self,
        selected: Selected,
        needs: &Needs,
        balanced: bool,
    ) -> Result<Vec<DomainId>, Overrun> {
        let lowest = self.tree.levels().len() - 1;
        let outer = Grain::Slices(needs.size);
        let mut level = selected.level;
        let mut current = selected.domains;
        self.minimize(&mut current, needs.count, needs.leaders, outer)?;
        // Above the slices all children are looked at together: fewer of them may do.
        while level < lowest.min(needs.slice_level) && !balanced {
            let mut children = self.children(&current);
            self.sort(&mut children);
            self.minimize(&mut children, needs.count, needs.leaders, outer)?;
            current = children;
            level += 1;
        }
        while level < lowest {
            let size = match needs.inner.get(level + 1) {
                _ if level < needs.slice_level => needs.size,
                Some(inner) if *inner > 0 => *inner,
                _ => 1,
            };
            current = self.descend_each(&current, size)?;
            level += 1;
        }
        Ok(current)
    }

    /// Each domain's share goes to its own children.
    fn descend_each(&mut self, parents: &[DomainId], size: i64) -> Result<Vec<DomainId>, Overrun> {
        let mut taken = Vec::new();
        for parent in parents {
            let share = self.rooms[*parent];
            let mut children: Vec<DomainId> = self.tree.children(*parent).collect();
            self.sort(&mut children);
            let mut grain = Grain::Pods;
            if size > 1 {
                // The slices counted on the way up were those of the outermost layer.
                grain = Grain::Slices(size);
                for child in &children {
                    let room = &mut self.rooms[*child];
                    room.slices = room.pods / size;
                    room.slices_with_leader = room.pods_with_leader / size;
                }
            }
            self.minimize(&mut children, share.pods, share.leaders, grain)?;
            taken.extend(children);
        }
        Ok(taken)
    }

    /// Keeps only the domains it takes to hold `count` pods and the leaders, and sets their rooms to what they receive.
    pub(super) fn minimize(
        &mut self,
        domains: &mut Vec<DomainId>,
        count: i64,
        leaders: i64,
        grain: Grain,
    ) -> Result<(), Overrun> {
        let mut left = Left {
            units: count / grain.size(),
            leaders,
        };
        self.prioritize(domains, left, grain);
        for at in 0..domains.len() {
            if left.nothing() {
                domains.truncate(at);
                return Ok(());
            }
            let chosen = self.choose(&domains[at..], left, grain);
            self.give(chosen, &mut left, grain);
            // The best fit is taken last, so whoever stood here is not needed any more.
            domains[at] = chosen;
        }
        if left.nothing() {
            Ok(())
        } else {
            Err(Overrun(left.units))
        }
    }

    /// Gives a domain what is left, as far as it has room.
    fn give(&mut self, domain: DomainId, left: &mut Left, grain: Grain) {
        let everything = self.holds(domain, *left, grain);
        let room = &mut self.rooms[domain];
        let units = match (everything, left.leaders > 0) {
            (true, _) => left.units,
            (false, true) => grain.units(room, true).min(left.units),
            (false, false) => grain.units(room, false),
        };
        room.leaders = room.leaders.min(left.leaders);
        room.pods = units * grain.size();
        left.units -= units;
        left.leaders -= room.leaders;
    }
}
