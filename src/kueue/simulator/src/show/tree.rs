//! Cohorts and ClusterQueues with what they have and use. What a member lends is counted in the order of names: first what its cohort
//! brings in itself, then members with something to spare.

use std::collections::{BTreeMap, BTreeSet};

use quantity::Amount;
use scheduler::FlavorResource;

use super::table::table;
use super::{quantity, short};
use crate::check::{Balance, Ledger, Name, weight};
use crate::world::World;

pub(super) fn tree(world: &World) -> String {
    let ledger = Ledger::of(world);
    let header = [
        "", "flavor", "resource", "used", "nominal", "borrowed", "lent",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    let all = ledger.resources();
    let balances: BTreeMap<_, _> = all
        .iter()
        .map(|of| (of, ledger.balances(of, &BTreeMap::new())))
        .collect();
    let mut printer = Printer {
        world,
        ledger: &ledger,
        balances,
        rows: &mut rows,
    };
    for root in ledger.roots() {
        printer.node(root, "", "");
    }
    let text = if rows.len() > 1 {
        table(&rows, 3)
    } else {
        String::new()
    };
    text + &in_circles(&ledger)
}

fn in_circles(ledger: &Ledger) -> String {
    let names: Vec<_> = ledger.in_circles().map(|(_, name)| name.as_str()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!("below cohorts that form a circle: {}\n", names.join(", "))
    }
}

struct Printer<'a> {
    world: &'a World,
    ledger: &'a Ledger,
    balances: BTreeMap<&'a FlavorResource, BTreeMap<Name, Balance>>,
    rows: &'a mut Vec<Vec<String>>,
}

impl Printer<'_> {
    /// One node and those below it; `branch` is drawn before its name, `stem` before those of its children.
    fn node(&mut self, name: &Name, branch: &str, stem: &str) {
        let title = format!("{branch}{}", name.1);
        let mut first = Some(title);
        let shown: BTreeSet<_> = self.ledger.resources_of(name);
        for of in &shown {
            let share = first.as_ref().and_then(|_| self.share(name));
            let title = first.take().unwrap_or_else(|| stem.trim_end().to_owned());
            let mut row = self.row(title, name, of);
            row.extend(share);
            self.rows.push(row);
        }
        if let Some(title) = first {
            self.rows.push(vec![title]);
        }
        let children = self.ledger.children(name);
        for (at, child) in children.iter().enumerate() {
            let last = at + 1 == children.len();
            let (branch, below) = if last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            self.node(child, &format!("{stem}{branch}"), &format!("{stem}{below}"));
        }
    }

    /// Its weighted share, on its first row, where shares decide.
    fn share(&self, name: &Name) -> Option<String> {
        if !self.world.fair_sharing {
            return None;
        }
        let share = self.ledger.share(name, weight(self.world, name));
        Some(match share {
            Some(share) if share.is_infinite() => "∞".to_owned(),
            Some(share) => format!("{share:.0}"),
            None => "-".to_owned(),
        })
    }

    fn row(&self, title: String, name: &Name, of: &FlavorResource) -> Vec<String> {
        let balance = self.balance(name, of);
        let borrowed = (balance.used - balance.quota).floor_zero();
        let (borrowed, lent) = match self.ledger.parent(name) {
            Some(parent) => (Some(borrowed), Some(self.lent(parent, name, of))),
            None => (None, None),
        };
        let cell = |amount: Option<Amount>| match amount {
            Some(amount) => quantity(&of.resource, amount),
            None => "-".to_owned(),
        };
        vec![
            title,
            of.flavor.to_string(),
            short(of.resource.as_str()).to_owned(),
            cell(Some(balance.used)),
            cell(Some(balance.quota)),
            cell(borrowed),
            cell(lent),
        ]
    }

    fn balance(&self, name: &Name, of: &FlavorResource) -> Balance {
        let all = self.balances.get(of);
        all.and_then(|all| all.get(name))
            .copied()
            .unwrap_or_default()
    }

    /// What others of its cohort use of it.
    fn lent(&self, parent: &Name, name: &Name, of: &FlavorResource) -> Amount {
        let above = self.balance(parent, of);
        let siblings = self.ledger.children(parent);
        let over = |name: &Name| {
            let balance = self.balance(name, of);
            (balance.used - balance.quota).floor_zero()
        };
        let borrowed: Amount = siblings.iter().copied().map(over).sum();
        let from_above = match self.ledger.parent(parent) {
            Some(_) => (above.used - above.quota).floor_zero(),
            None => Amount::ZERO,
        };
        let mut missing = borrowed - from_above - self.ledger.nominal(parent, of);
        for sibling in siblings {
            let balance = self.balance(sibling, of);
            let spare = (balance.quota - balance.kept.max(balance.used)).floor_zero();
            let lent = spare.min(missing.floor_zero());
            if sibling == name {
                return lent;
            }
            missing -= lent;
        }
        Amount::ZERO
    }
}
