//! Topology assignments as the corpus writes them: a list of domains, or the compressed form of the API.

use scheduler::topology::{DomainAssignment, TopologyAssignment};
use serde_json::{Value, json};

use crate::corpus::read;

/// An assignment written as `{levels, domains: [{values, count}]}`.
#[must_use]
pub fn assignment(value: &Value) -> TopologyAssignment {
    TopologyAssignment {
        levels: read(&value["levels"]),
        domains: domains(&value["domains"]),
    }
}

/// Domains written as `[{values, count}]`.
#[must_use]
pub fn domains(value: &Value) -> Vec<DomainAssignment> {
    let domain = |one: &Value| DomainAssignment {
        values: read(&one["values"]),
        count: read(&one["count"]),
    };
    value.as_array().into_iter().flatten().map(domain).collect()
}

/// The same as JSON.
#[must_use]
pub fn written(assignment: &TopologyAssignment) -> Value {
    let domain = |one: &DomainAssignment| json!({"values": one.values.clone(), "count": one.count});
    json!({
        "levels": assignment.levels.clone(),
        "domains": assignment.domains.iter().map(domain).collect::<Vec<_>>(),
    })
}
