//! The priority of a job's Workload: its WorkloadPriorityClass, else a priority class of pods, else the default one. Reference section 4.22.

use jobs::{GenericJob, Priority};
use k8s_openapi::api::scheduling::v1::PriorityClass;
use kueue_api::v1beta2::{PriorityClassRef, WorkloadPriorityClass};
use kueue_api::workload::priority;

use crate::key::Key;
use crate::stores::Stores;

/// None while a class that is named does not exist.
pub(crate) fn of(job: &dyn GenericJob, stores: &Stores) -> Option<Priority> {
    let pods = pod_class_of(job);
    named(job.workload_priority_class(), pods.as_deref(), stores)
}

/// The same for whoever names a class of ours, or one of pods.
pub(crate) fn named(
    class: Option<&str>,
    pod_class: Option<&str>,
    stores: &Stores,
) -> Option<Priority> {
    choose(
        (class, pod_class),
        |name| Some(stores.classes.get(&Key::cluster(name))?.value),
        |name| {
            let class = stores.priority_classes.get(&Key::cluster(name))?;
            Some(class.value.unwrap_or_default())
        },
    )
    .or_else(|| {
        let classes = stores.priority_classes.list();
        default(classes.iter().map(AsRef::as_ref))
    })
}

/// The priority of a job among classes at hand.
#[must_use]
pub fn among(
    job: &dyn GenericJob,
    classes: &[WorkloadPriorityClass],
    pod_classes: &[PriorityClass],
) -> Option<Priority> {
    let pods = pod_class_of(job);
    let own = job.workload_priority_class();
    named_among(own, pods.as_deref(), classes, pod_classes)
}

/// [`named`] among classes at hand.
#[must_use]
pub fn named_among(
    class: Option<&str>,
    pod_class: Option<&str>,
    classes: &[WorkloadPriorityClass],
    pod_classes: &[PriorityClass],
) -> Option<Priority> {
    choose(
        (class, pod_class),
        |name| Some(classes.iter().find(|class| class.name() == name)?.value),
        |name| {
            let mut all = pod_classes.iter();
            let class = all.find(|class| class.metadata.name.as_deref() == Some(name))?;
            Some(class.value.unwrap_or_default())
        },
    )
    .or_else(|| default(pod_classes.iter()))
}

/// What came of the classes that a job names.
enum Choice {
    Unnamed,
    /// Named, but not there.
    Missing,
    Found(Priority),
}

impl Choice {
    fn of(class: PriorityClassRef, value: Option<i32>) -> Self {
        let class = Some(class);
        value.map_or(Self::Missing, |value| {
            Self::Found(Priority { class, value })
        })
    }

    fn or_else(self, default: impl FnOnce() -> Priority) -> Option<Priority> {
        match self {
            Self::Unnamed => Some(default()),
            Self::Missing => None,
            Self::Found(priority) => Some(priority),
        }
    }
}

fn choose(
    (own, of_pods): (Option<&str>, Option<&str>),
    class: impl Fn(&str) -> Option<i32>,
    pod_class: impl Fn(&str) -> Option<i32>,
) -> Choice {
    match (own, of_pods) {
        (Some(name), _) => Choice::of(PriorityClassRef::workload(name), class(name)),
        (None, Some(name)) => Choice::of(PriorityClassRef::pod(name), pod_class(name)),
        (None, None) => Choice::Unnamed,
    }
}

fn pod_class_of(job: &dyn GenericJob) -> Option<String> {
    if let Some(name) = job.priority_class() {
        return Some(name.to_owned());
    }
    let of_template = |set: &kueue_api::v1beta2::PodSet| {
        let spec = set.template.spec.as_ref()?;
        let name = spec.priority_class_name.clone();
        name.filter(|name| !name.is_empty())
    };
    job.pod_sets().ok()?.iter().find_map(of_template)
}

/// Of several default classes the lowest counts.
fn default<'a>(classes: impl Iterator<Item = &'a PriorityClass>) -> Priority {
    let named = |class: &PriorityClass| {
        let name = class.metadata.name.as_deref();
        name.map(PriorityClassRef::pod)
    };
    priority::default_class(classes).map_or_else(Priority::default, |class| Priority {
        class: named(class),
        value: class.value.unwrap_or_default(),
    })
}
