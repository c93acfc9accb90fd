//! Wire types of the Kueue groups and of the manager's configuration, with their names, conditions, reasons and feature gates.
//! Everything here is a value: no client, no clock. Amounts stay the quantities of the wire; `quantity` gives them a meaning.

pub mod conditions;
pub mod config;
pub mod conversion;
pub mod features;
pub mod field;
pub mod names;
pub mod v1beta2;
pub mod validation;
pub mod visibility;
mod wire;
pub mod workload;

pub use k8s_openapi::api::core::v1::{PodTemplateSpec, Taint, Toleration};
pub use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    Condition, LabelSelector, ObjectMeta, Time,
};
