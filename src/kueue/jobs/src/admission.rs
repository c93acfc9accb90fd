//! What the webhooks of job kinds do: defaulting on creation, checks on creation and change. The webhook server finds
//! out about the surroundings; here is only the rule.

mod defaulting;
pub mod names;
pub mod topology;
mod validation;

#[cfg(test)]
mod tests;

pub use defaulting::{
    Surroundings, default, default_managed_by, default_names, should_manage, should_suspend,
};
pub(crate) use defaulting::{label, set_label};
pub(crate) use validation::{
    elastic_annotation, immutable_queue, not_a_boolean, not_a_number, priority_class_change,
    queue_name,
};
pub use validation::{validate_create, validate_update};
