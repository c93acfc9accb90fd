//! The kinds of `kueue.x-k8s.io/v1beta2`, one file a kind. Optional fields are `Option` and stay as they were written;
//! a method of the same name gives the value that holds when a field with a schema default is absent.

mod admission_check;
mod cluster_queue;
mod cohort;
mod local_queue;
mod multikueue;
mod priority_class;
mod provisioning;
mod quota;
mod resource_flavor;
mod topology;
mod workload;
mod workload_status;

pub use admission_check::*;
pub use cluster_queue::*;
pub use cohort::*;
pub use local_queue::*;
pub use multikueue::*;
pub use priority_class::*;
pub use provisioning::*;
pub use quota::*;
pub use resource_flavor::*;
pub use topology::*;
pub use workload::*;
pub use workload_status::*;
