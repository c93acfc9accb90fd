//! Arithmetic of amounts and requests.

use quantity::{Amount, Quantity, ResourceName};

use super::File;
use crate::corpus::{Case, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[("TestAmountFromQuantity", amount_from_quantity)];

fn amount_from_quantity(case: Case<'_>) -> Verdict {
    let resource = ResourceName::from(read::<String>(&case.input["resource"]).as_str());
    let quantity: Quantity = read::<String>(&case.input["quantity"]).parse().unwrap();
    let got = Amount::of(&resource, quantity);
    if case.want["wantUnlimited"] == true {
        return Verdict::equal("amount", &got, &Amount::UNLIMITED);
    }
    Verdict::equal(
        "amount",
        &got,
        &Amount::new(case.want["wantValue"].as_i64().unwrap_or_default()),
    )
}
