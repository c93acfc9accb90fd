//! What becomes of the resources that pods ask for before quota is counted: some are left out, some are made into others,
//! and those that no ClusterQueue covers are refused or ignored.

use std::collections::BTreeMap;

use quantity::Quantity;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::devices::DeviceClassMapping;
use super::read::{self, Reader};
use crate::features::{Features, gate};
use crate::field::FieldError;
use crate::wire::wire_enum;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resources {
    pub exclude_resource_prefixes: Vec<String>,
    pub transformations: Vec<ResourceTransformation>,
    pub quota_check_strategy: QuotaCheckStrategy,
    pub device_class_mappings: Vec<DeviceClassMapping>,
}

wire_enum! {
    /// What becomes of a request for a resource that no group of the ClusterQueue covers.
    QuotaCheckStrategy { BlockUndeclared, IgnoreUndeclared }
}

/// Makes other resources of one that pods ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ResourceTransformation {
    pub input: String,
    /// `Retain` if absent; whether it is one of the two is for the rules to say.
    pub strategy: Option<String>,
    /// What comes out is multiplied by what is asked of this resource.
    pub multiply_by: Option<String>,
    /// How much of each resource comes out for one.
    #[serde(deserialize_with = "amounts")]
    pub outputs: BTreeMap<String, Quantity>,
}

impl ResourceTransformation {
    /// Whether the resource itself is asked for, too.
    #[must_use]
    pub fn retains(&self) -> bool {
        self.strategy.as_deref() != Some("Replace")
    }
}

/// Amounts in YAML may be written without quotes.
fn amounts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Quantity>, D::Error> {
    let read = BTreeMap::<String, Value>::deserialize(from)?;
    let amount = |(name, value): (String, Value)| {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        text.parse()
            .map(|amount| (name, amount))
            .map_err(D::Error::custom)
    };
    read.into_iter().map(amount).collect()
}

/// A word that nobody knows is a fault only while the gate `QuotaCheckStrategy` is on: without it, none has an effect.
pub(super) fn quota_check(r: &mut Reader) -> QuotaCheckStrategy {
    const FIELD: &str = "resources.quotaCheckStrategy";
    let gates = Features::with(r.or("featureGates", BTreeMap::new()));
    let asked = r.or(FIELD, String::new());
    if !gates.on(gate::QUOTA_CHECK_STRATEGY) {
        return QuotaCheckStrategy::BlockUndeclared;
    }
    match asked.as_str() {
        "" | "BlockUndeclared" => QuotaCheckStrategy::BlockUndeclared,
        "IgnoreUndeclared" => QuotaCheckStrategy::IgnoreUndeclared,
        other => {
            let known = ["IgnoreUndeclared", "BlockUndeclared"];
            r.fault(FieldError::not_supported(&read::path(FIELD), other, known));
            QuotaCheckStrategy::BlockUndeclared
        }
    }
}
