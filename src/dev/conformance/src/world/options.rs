//! What a case says about gates and configuration.

use cache::{FairSharing, Features, Options, QuotaCheck};

use crate::corpus::Case;

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
        ..Options::default()
    }
}
