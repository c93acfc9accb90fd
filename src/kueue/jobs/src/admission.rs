//! What the webhooks of job kinds do: defaulting on creation, checks on creation and change. The webhook server finds
//! out about the surroundings; here is only the rule.

mod defaulting;
pub mod names;
pub mod topology;
mod validation;

#[cfg(test)]
mod tests;

pub use defaulting::{Surroundings, default, should_suspend};
pub(crate) use validation::{not_a_boolean, not_a_number};
pub use validation::{validate_create, validate_update};
