//! Dominant resource shares, computed from the ledger: how much more than its own a node uses, in thousandths of what its cohort could lend,
//! divided by its weight. Section 4.6 of the reference.

use std::collections::BTreeMap;

use quantity::{Amount, ResourceName};
use scheduler::{Holder, Share, Usage};

use super::limits::{Ledger, Name};
use crate::world::World;

impl Ledger {
    /// The weighted share of a node; `None` for a root, which shares with nobody.
    pub(crate) fn share(&self, name: &Name, weight: f64) -> Option<f64> {
        let parent = self.parent(name)?;
        let (mut borrowed, mut lendable) = (BTreeMap::new(), BTreeMap::new());
        for of in self.resources() {
            let balances = self.balances(&of, &BTreeMap::new());
            let balance = balances.get(name).copied().unwrap_or_default();
            let over = (balance.used - balance.quota).floor_zero();
            *borrowed.entry(of.resource.clone()).or_insert(Amount::ZERO) += over;
            *lendable.entry(of.resource.clone()).or_insert(Amount::ZERO) +=
                self.most(parent, &of, &balances);
        }
        let ratio = |(resource, over): (&ResourceName, &Amount)| {
            let lendable = number(lendable.get(resource).copied().unwrap_or_default());
            if lendable > 0.0 {
                number(*over) * 1_000.0 / lendable
            } else {
                0.0
            }
        };
        let ratio = borrowed.iter().map(ratio).fold(0.0, f64::max);
        Some(if ratio == 0.0 {
            0.0
        } else if weight == 0.0 {
            f64::INFINITY
        } else {
            ratio / weight
        })
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a share is a ratio: the nearest float is what is meant"
)]
fn number(amount: Amount) -> f64 {
    amount.value() as f64
}

/// The weight that an object asks for; one if it says nothing.
pub(crate) fn weight(world: &World, name: &Name) -> f64 {
    let asked = if name.0 {
        world
            .queues
            .get(&name.1)
            .and_then(|queue| queue.spec.fair_sharing.as_ref())
    } else {
        world
            .cohorts
            .get(&name.1)
            .and_then(|cohort| cohort.spec.fair_sharing.as_ref())
    };
    let text = asked.and_then(|asked| asked.weight.as_ref());
    let read = text.and_then(|text| text.0.parse::<quantity::Quantity>().ok());
    // cpu is counted in thousandths, which is as fine as scripts write weights.
    let milli = read.map(|weight| Amount::of(&ResourceName::from("cpu"), weight));
    milli.map_or(1.0, |milli| number(milli) / 1_000.0)
}

/// Shares of which the tree says something else.
pub(super) fn wrong(world: &mut World) -> Vec<String> {
    let tree = world.snapshot().tree;
    let ledger = Ledger::of(world);
    let mut found = Vec::new();
    for (id, holder) in tree.nodes() {
        let name = match holder {
            Holder::ClusterQueue(name) => (true, name.to_string()),
            Holder::Cohort(name) => (false, name.to_string()),
        };
        if ledger.in_circle(&name) {
            continue;
        }
        let Some(ours) = ledger.share(&name, weight(world, &name)) else {
            continue;
        };
        let theirs = Share::of(&tree, id, &Usage::new()).precise();
        let near = (ours - theirs).abs() <= 1e-9 * ours.max(1.0);
        if !near && ours.to_bits() != theirs.to_bits() {
            found.push(format!(
                "the share of {} is {theirs}, and should be {ours}",
                name.1
            ));
        }
    }
    found
}
