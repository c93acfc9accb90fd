//! The priority of a job's Workload: its WorkloadPriorityClass, else a priority class of pods, else the default one.

use jobs::{GenericJob, Priority};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kueue_api::v1beta2::PriorityClassRef;
use kueue_api::workload::priority;

use crate::key::Key;
use crate::stores::Stores;

/// None while a class that is named does not exist.
pub(super) fn of(job: &dyn GenericJob, stores: &Stores) -> Option<Priority> {
    if let Some(name) = job.workload_priority_class() {
        let class = stores.classes.get(&Key::cluster(name))?;
        return Some(Priority {
            class: Some(PriorityClassRef::workload(name)),
            value: class.value,
        });
    }
    if let Some(name) = pod_class(job) {
        let class = stores.priority_classes.get(&Key::cluster(&name))?;
        return Some(Priority {
            class: Some(PriorityClassRef::pod(&name)),
            value: class.value.unwrap_or_default(),
        });
    }
    Some(default(stores))
}

fn pod_class(job: &dyn GenericJob) -> Option<String> {
    if let Some(name) = job.priority_class() {
        return Some(name.to_owned());
    }
    let sets = job.pod_sets().ok()?;
    let of_template = |set: &kueue_api::v1beta2::PodSet| {
        set.template
            .spec
            .as_ref()
            .and_then(|s| s.priority_class_name.clone())
    };
    sets.first()
        .and_then(of_template)
        .filter(|name| !name.is_empty())
}

/// Of several default classes the lowest counts.
fn default(stores: &Stores) -> Priority {
    let classes = stores.priority_classes.list();
    let lowest = priority::default_class(classes.iter().map(AsRef::as_ref));
    let named = |class: &PriorityClass| {
        class
            .metadata
            .name
            .clone()
            .map(|name| PriorityClassRef::pod(&name))
    };
    lowest.map_or_else(Priority::default, |class| Priority {
        class: named(class),
        value: class.value.unwrap_or_default(),
    })
}
