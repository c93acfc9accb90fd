//! Which domains, of which level, take the pods: one if possible, else several. Section 4.14.1, "Selecting the level".

use std::cmp::Reverse;
use std::ops::Range;

use super::field::{Field, Grain, Left};
use super::needs::Needs;
use super::tree::DomainId;

/// The domains that hold everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) level: usize,
    pub(super) domains: Vec<DomainId>,
}

/// Not everything finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Short {
    /// There is not a single domain of this level.
    Empty(usize),
    /// So much would fit, looked at from this level.
    Fitted(usize, i64),
}

impl Field<'_> {
    /// The requested level first, then upwards as far as the request allows it.
    pub(super) fn select(&self, needs: &Needs) -> Result<Selected, Short> {
        let mut level = needs.level;
        loop {
            let domains = self.tree.at_level(level);
            let Some(top) = domains
                .clone()
                .min_by_key(|domain| self.rank_with_leader(*domain))
            else {
                return Err(Short::Empty(level));
            };
            if let Some(one) = self.single(domains.clone(), top, needs) {
                let domains = vec![one];
                return Ok(Selected { level, domains });
            }
            let short = |fitted| Short::Fitted(level, fitted);
            if needs.required {
                return Err(short(self.required_fitted(domains, top)));
            }
            if level == 0 || needs.unconstrained {
                let domains = self.several(domains, needs).map_err(short)?;
                return Ok(Selected { level, domains });
            }
            level -= 1;
        }
    }

    /// The one domain for everything, without sorting them all. `top` is the first in order.
    fn single(&self, domains: Range<DomainId>, top: DomainId, needs: &Needs) -> Option<DomainId> {
        let (left, grain) = start(needs);
        let holding = domains.filter(|domain| self.holds(*domain, left, grain));
        if self.least_free {
            return holding.min_by_key(|domain| self.rank_with_leader(*domain));
        }
        // Domains that are liked more come first, whatever their size: a required domain may be further down.
        let later = needs.required && self.gates.respect_node_affinity_preferred;
        if !later && !self.holds(top, left, grain) {
            return None;
        }
        let best = |domain: &DomainId| {
            let room = &self.rooms[*domain];
            let units = grain.units(room, left.leaders > 0);
            let rank = self.rank_with_leader(*domain);
            (Reverse(self.liking(room)), units, rank)
        };
        holding.min_by_key(best)
    }

    /// How much fits into the most promising domain.
    fn required_fitted(&self, domains: Range<DomainId>, top: DomainId) -> i64 {
        if self.least_free {
            let last = domains.max_by_key(|domain| self.rank_with_leader(*domain));
            last.map_or(0, |last| self.rooms[last].pods)
        } else {
            self.rooms[top].slices
        }
    }

    /// As many domains as it takes: first one for the leader, then for the rest; or how much would fit.
    fn several(&self, domains: Range<DomainId>, needs: &Needs) -> Result<Vec<DomainId>, i64> {
        let (mut left, grain) = start(needs);
        // A domain without room for a slice can still have the leader, but is of no use otherwise.
        let useful = |domain: &DomainId| left.leaders > 0 || self.rooms[*domain].slices > 0;
        let mut domains: Vec<DomainId> = domains.filter(useful).collect();
        if left.leaders > 0 {
            self.sort_with_leader(&mut domains);
        }
        self.prioritize(&mut domains, left, grain);
        let mut taken = Vec::new();
        let mut at = 0;
        while left.leaders > 0 && at < domains.len() && self.rooms[domains[at]].leaders > 0 {
            let domain = self.choose(&domains[at..], left, grain);
            taken.push(domain);
            left.leaders -= self.rooms[domain].leaders;
            left.units -= self.rooms[domain].slices_with_leader;
            at += 1;
        }
        if left.leaders > 0 {
            return Err(needs.leaders - left.leaders);
        }
        let rest = &mut domains[at..];
        self.sort(rest);
        for at in 0..rest.len() {
            if left.units <= 0 {
                break;
            }
            let domain = self.choose(&rest[at..], left, grain);
            taken.push(domain);
            left.units -= self.rooms[domain].slices;
        }
        if left.units > 0 {
            return Err(needs.slices() - left.units);
        }
        Ok(taken)
    }
}

fn start(needs: &Needs) -> (Left, Grain) {
    let left = Left {
        units: needs.slices(),
        leaders: needs.leaders,
    };
    (left, Grain::Slices(needs.size))
}
