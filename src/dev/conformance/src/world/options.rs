//! What a case says about gates and configuration.

use std::collections::BTreeMap;

use cache::{FairSharing, Features, Options, QuotaCheck, Transformation};
use serde_json::Value;

use crate::corpus::{Case, each, parse, read};

/// The options of a cache for this case.
#[must_use]
pub fn options(case: &Case<'_>) -> Options {
    let fair = case.input["enableFairSharing"] == true;
    Options {
        features: Features::read(|gate| case.gate(gate)),
        fair_sharing: fair.then(FairSharing::default),
        quota_check: match case.input["quotaCheckStrategy"].as_str() {
            Some("IgnoreUndeclared") => QuotaCheck::IgnoreUndeclared,
            _ => QuotaCheck::BlockUndeclared,
        },
        transformations: transformations(&case.input["resourceTransformations"]),
        ..Options::default()
    }
}

/// What is charged instead of, or beside, what pods ask for: a list, or a map, of rules.
#[must_use]
pub fn transformations(rules: &Value) -> BTreeMap<String, Transformation> {
    let made = |rule: &Value| {
        let outputs = read::<BTreeMap<String, String>>(&rule["outputs"]).into_iter();
        let made = Transformation {
            retain: rule["strategy"] != "Replace",
            multiply_by: rule["multiplyBy"].as_str().map(str::to_owned),
            outputs: outputs
                .map(|(name, factor)| (name, factor.parse().unwrap()))
                .collect(),
        };
        (parse(&rule["input"]), made)
    };
    each::<Value>(rules).iter().map(made).collect()
}
