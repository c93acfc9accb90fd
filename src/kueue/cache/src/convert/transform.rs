//! Turns what a pod asks for into what is charged: excluded resources are dropped, and transformations of the configuration make
//! other resources of some. Reference 4.20, steps 2 and 3.

use quantity::Quantity;

use super::pods::{Amounts, add};
use crate::{Options, Transformation};

/// The amounts of one pod as quota is charged for them.
pub(super) fn charged(mut asked: Amounts, options: &Options) -> Amounts {
    let excluded = |name: &str| {
        let mut prefixes = options.exclude_resource_prefixes.iter();
        prefixes.any(|prefix| name.starts_with(prefix.as_str()))
    };
    asked.retain(|name, _| !excluded(name));
    transformed(&asked, options)
}

/// What transformations generate is summed by itself and never below zero, so that an allowance cannot eat an ordinary request.
fn transformed(asked: &Amounts, options: &Options) -> Amounts {
    let (mut kept, mut generated) = (Amounts::new(), Amounts::new());
    for (name, amount) in asked {
        let Some(rule) = options.transformations.get(name) else {
            kept.insert(name.clone(), *amount);
            continue;
        };
        add(&mut generated, &outputs(rule, *amount, asked));
        if rule.retain {
            kept.insert(name.clone(), *amount);
        }
    }
    for amount in generated.values_mut() {
        *amount = (*amount).max(Quantity::ZERO);
    }
    add(&mut kept, &generated);
    kept
}

fn outputs(rule: &Transformation, amount: Quantity, asked: &Amounts) -> Amounts {
    let multiplier = rule.multiply_by.as_ref().and_then(|name| asked.get(name));
    let amount = multiplier.map_or(amount, |times| amount.times(*times));
    let outputs = rule.outputs.iter();
    outputs
        .map(|(name, factor)| (name.clone(), amount.times(*factor)))
        .collect()
}
