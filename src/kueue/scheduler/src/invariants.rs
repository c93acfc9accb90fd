//! Checks that hold after every step, whatever happened before. Scenario tests end with them; nothing in production relies on them.

use std::collections::BTreeMap;
use std::fmt;

use quantity::Amount;

use crate::names::FlavorResource;
use crate::objects::Usage;
use crate::quota::{Holder, NodeId, QuotaTree};

/// Something that must never be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A ClusterQueue uses more than it could ever get.
    AboveMaximum {
        /// Who.
        cluster_queue: String,
        /// Of what.
        of: FlavorResource,
        /// How much.
        used: Amount,
        /// The most there can be.
        maximum: Amount,
    },
    /// A whole tree uses more than it brings in.
    RootOverdrawn {
        /// The root.
        root: String,
        /// Of what.
        of: FlavorResource,
        /// How much.
        used: Amount,
        /// What it brings in.
        quota: Amount,
    },
    /// The usage of a cohort is not what its members pass on.
    WrongSum {
        /// The cohort.
        cohort: String,
        /// Of what.
        of: FlavorResource,
        /// What the node says.
        used: Amount,
        /// What its children pass on.
        sum: Amount,
    },
    /// Usage that nobody holds, or less than is held.
    WrongUsage {
        /// Whose.
        cluster_queue: String,
        /// What the tree says.
        used: Usage,
        /// What its workloads hold.
        held: Usage,
    },
    /// A workload is in two places at once.
    Twice {
        /// The workload and the places.
        what: String,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Checks the sums of a tree and that nobody is over a limit. Quota that was taken away from running workloads shows up here too.
#[must_use]
pub fn check_tree(tree: &QuotaTree) -> Vec<Violation> {
    let mut found = Vec::new();
    for (id, holder) in tree.nodes() {
        check_sums(tree, id, holder, &mut found);
        check_limits(tree, id, holder, &mut found);
    }
    found
}

fn check_sums(tree: &QuotaTree, id: NodeId, holder: Holder<'_>, found: &mut Vec<Violation>) {
    let Holder::Cohort(cohort) = holder else {
        return;
    };
    let mut sums: BTreeMap<FlavorResource, Amount> = BTreeMap::new();
    for child in tree.children(id) {
        for (of, used) in tree.usage_of(*child) {
            *sums.entry(of.clone()).or_default() +=
                (*used - tree.local_quota(*child, of)).floor_zero();
        }
    }
    let everything = sums.keys().chain(tree.usage_of(id).keys());
    for of in everything {
        let (used, sum) = (tree.used(id, of), sums.get(of).copied().unwrap_or_default());
        if used != sum {
            found.push(Violation::WrongSum {
                cohort: cohort.to_string(),
                of: of.clone(),
                used,
                sum,
            });
        }
    }
}

fn check_limits(tree: &QuotaTree, id: NodeId, holder: Holder<'_>, found: &mut Vec<Violation>) {
    for (of, used) in tree.usage_of(id) {
        let (of, used) = (of.clone(), *used);
        if let Holder::ClusterQueue(name) = holder {
            let maximum = tree.potential(id, &of);
            if used > maximum {
                found.push(Violation::AboveMaximum {
                    cluster_queue: name.to_string(),
                    of: of.clone(),
                    used,
                    maximum,
                });
            }
        }
        let quota = tree
            .subtree_quotas(id)
            .get(&of)
            .copied()
            .unwrap_or_default();
        if tree.parent(id).is_none() && used > quota {
            let root = match holder {
                Holder::ClusterQueue(name) => name.to_string(),
                Holder::Cohort(name) => name.to_string(),
            };
            found.push(Violation::RootOverdrawn {
                root,
                of,
                used,
                quota,
            });
        }
    }
}
