//! Names and numbers of resources.

use quantity::{Quantity, ResourceName};
use serde_json::{Map, Value};

use super::File;
use crate::corpus::{Case, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestIsExtendedResourceName", is_extended),
    ("TestMulByFloat", faded),
    ("TestQuantityToFloat", approximate),
];

fn is_extended(case: Case<'_>) -> Verdict {
    let got = ResourceName::from(read::<String>(&case.input["name"])).is_extended();
    Verdict::equal("extended", &got, &(case.want["want"] == true))
}

fn faded(case: Case<'_>) -> Verdict {
    let factor = case.input["f"].as_f64().unwrap_or_default();
    let amounts = case.input["rl"].as_object().into_iter().flatten();
    let fade = |text: &Value| -> Value {
        let amount: Quantity = read::<String>(text).parse().unwrap();
        amount.faded(factor).to_string().into()
    };
    let got: Map<_, _> = amounts
        .map(|(name, amount)| (name.clone(), fade(amount)))
        .collect();
    Verdict::same(&got, &case.want["want"])
}

fn approximate(case: Case<'_>) -> Verdict {
    let amount: Quantity = read::<String>(&case.input["q"]).parse().unwrap();
    let want = case.want["wantResult"].as_f64().unwrap_or_default();
    Verdict::equal("float", &amount.approximate(), &want)
}
