//! Arithmetic of amounts and requests.

use quantity::{Amount, Quantity, ResourceName};
use serde_json::Value;

use super::File;
use crate::corpus::{Case, amount, read, requests};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestAmountAsApproximateFloat64", approximate),
    ("TestAmountFromQuantity", amount_from_quantity),
    ("TestCountIn", count_in),
    ("TestCountInWithLimitingResource", limiting_resource),
    ("TestFloorToZero", floor_to_zero),
    ("TestGreaterKeys", greater_keys),
    ("TestResourceQuantityRoundTrips", round_trips),
    ("TestResourceValueClampsOutsideInt64", clamps),
];

fn resource(case: Case<'_>) -> ResourceName {
    ResourceName::from(read::<String>(&case.input["resource"]))
}

fn quantity(case: Case<'_>) -> Quantity {
    read::<String>(&case.input["quantity"]).parse().unwrap()
}

fn approximate(case: Case<'_>) -> Verdict {
    let got = amount(&case.input["amount"]).approximate(&resource(case));
    let want = match &case.want["want"] {
        Value::String(text) => text.parse().unwrap(),
        number => number.as_f64().unwrap_or_default(),
    };
    Verdict::equal("float", &got, &want)
}

fn amount_from_quantity(case: Case<'_>) -> Verdict {
    let got = Amount::of(&resource(case), quantity(case));
    if case.want["wantUnlimited"] == true {
        return Verdict::equal("amount", &got, &Amount::UNLIMITED);
    }
    Verdict::equal("amount", &got, &amount(&case.want["wantValue"]))
}

fn count_in(case: Case<'_>) -> Verdict {
    let (times, _) = requests(&case.input["requests"]).times_in(&requests(&case.input["capacity"]));
    Verdict::equal("times", &times, &read(&case.want["wantResult"]))
}

fn limiting_resource(case: Case<'_>) -> Verdict {
    let (times, stops) =
        requests(&case.input["requests"]).times_in(&requests(&case.input["capacity"]));
    let stops = stops.map(|name| name.to_string()).unwrap_or_default();
    Verdict::equal(
        "times and what stops",
        &(times, stops),
        &(
            read(&case.want["wantCount"]),
            read(&case.want["wantLimitingResource"]),
        ),
    )
}

fn floor_to_zero(case: Case<'_>) -> Verdict {
    let got = requests(&case.input["requests"]).floor_zero();
    Verdict::equal("requests", &got, &requests(&case.want["want"]))
}

fn greater_keys(case: Case<'_>) -> Verdict {
    let got = requests(&case.input["a"]).greater_keys(&requests(&case.input["b"]));
    let got: Vec<_> = got.iter().map(ToString::to_string).collect();
    Verdict::equal("resources", &got, &read(&case.want["want"]))
}

fn round_trips(case: Case<'_>) -> Verdict {
    let got = amount(&case.input["value"]).to_quantity(&resource(case));
    Verdict::equal("text", &got.to_string(), &read(&case.want["expected"]))
}

fn clamps(case: Case<'_>) -> Verdict {
    let got = Amount::of(&resource(case), quantity(case)).value();
    Verdict::equal("value", &got, &read(&case.want["want"]))
}
