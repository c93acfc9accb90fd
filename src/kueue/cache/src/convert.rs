//! Objects of the API as values of the scheduler. What cannot be read is an error of that one object and names the field.

mod cluster_queue;
mod flavor;
mod limits;
mod node;
mod places;
mod pods;
mod relations;
mod selectors;
mod transform;
mod workload;

#[cfg(test)]
mod tests;

pub(crate) use cluster_queue::{cluster_queue, cohort};
pub(crate) use flavor::flavor;
pub use limits::Limits;
pub(crate) use node::node;
pub(crate) use places::places_held;
pub use pods::limits_as_requests;
pub(crate) use pods::of_template as pod_requests;
pub(crate) use selectors::{taint, toleration};
pub use workload::{PodSetHolding, held_by_pod_set, usage, workload};
pub(crate) use workload::{chances, held};

use quantity::{Amount, Quantity, ResourceName};

/// A field that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct Unreadable {
    field: String,
    problem: String,
}

fn quantity(field: &str, text: &kueue_api::Quantity) -> Result<Quantity, Unreadable> {
    text.0
        .parse()
        .map_err(|error: quantity::ParseError| Unreadable {
            field: field.to_owned(),
            problem: error.to_string(),
        })
}

fn amount(
    field: &str,
    resource: &ResourceName,
    text: &kueue_api::Quantity,
) -> Result<Amount, Unreadable> {
    Ok(Amount::of(resource, quantity(field, text)?))
}
