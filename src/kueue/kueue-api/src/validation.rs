//! What the webhooks refuse beyond the schema, as pure functions from objects and gates to faults of fields.
//! Faults come in the order in which the reference reports them.

pub mod admission_gates;
mod cluster_queue;
mod cohort;
mod defaulting;
mod names;
mod quotas;
mod resource_flavor;
mod selector;
mod workload;
mod workload_status;
mod workload_update;

pub use cluster_queue::{cluster_queue, cluster_queue_update};
pub use cohort::cohort;
pub use defaulting::{add_finalizer, default_workload};
pub use names::{
    SUBDOMAIN, is_label_value, is_qualified_name, is_subdomain, qualified_name_faults,
};
pub use resource_flavor::resource_flavor;
pub use selector::{matches_selector, selector};
pub use workload::workload;
pub use workload_update::workload_update;
