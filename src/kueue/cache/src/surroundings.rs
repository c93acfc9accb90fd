//! What surrounds pod templates and changes what they ask for: the LimitRanges of their namespace and the overhead of RuntimeClasses.
//! Takes those objects, and gives templates as pods will have them. Reference 4.4, steps a to c.

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{LimitRange, PodSpec};
use k8s_openapi::api::node::v1::RuntimeClass;
use scheduler::{NamespaceName, WorkloadKey};

use crate::convert::{Limits, limits_as_requests};
use crate::{Affected, Cache};

/// LimitRanges by namespace, and the overhead that RuntimeClasses add to pods.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    ranges: BTreeMap<NamespaceName, BTreeMap<String, LimitRange>>,
    limits: BTreeMap<NamespaceName, Arc<Limits>>,
    overheads: BTreeMap<String, BTreeMap<String, kueue_api::Quantity>>,
}

impl Surroundings {
    /// The limits of a namespace, if it has any.
    #[must_use]
    pub fn limits(&self, namespace: &str) -> Option<&Limits> {
        self.limits.get(namespace).map(Arc::as_ref)
    }

    /// Makes of a template what its pods will be: with the overhead of its RuntimeClass unless it names its own, with the defaults of
    /// the namespace, and with limits where requests are left open.
    pub fn adjust(&self, namespace: &str, spec: &mut PodSpec) {
        let bare = spec.overhead.as_ref().is_none_or(BTreeMap::is_empty);
        let class = spec.runtime_class_name.as_ref().filter(|_| bare);
        if let Some(overhead) = class.and_then(|name| self.overheads.get(name)) {
            spec.overhead = Some(overhead.clone());
        }
        // In the API server's order: a container's own limit is its request before a LimitRange fills in what is missing (#15020).
        limits_as_requests(spec);
        if let Some(limits) = self.limits(namespace) {
            limits.fill_in(spec);
            limits_as_requests(spec);
        }
    }

    /// A LimitRange appeared or changed. Whether that changes anything.
    pub fn apply_limit_range(&mut self, object: &LimitRange) -> bool {
        let (namespace, name) = key(&object.metadata);
        let known = self.ranges.entry(namespace.clone()).or_default();
        let before = known.insert(name, object.clone());
        if before.is_some_and(|before| before.spec == object.spec) {
            return false;
        }
        self.take_together(namespace);
        true
    }

    /// A LimitRange is gone. Whether it was known.
    pub fn delete_limit_range(&mut self, namespace: &NamespaceName, name: &str) -> bool {
        let known = self.ranges.get_mut(namespace);
        let was_there = known.and_then(|ranges| ranges.remove(name)).is_some();
        self.take_together(namespace.clone());
        was_there
    }

    /// A RuntimeClass appeared or changed. Whether its overhead did.
    pub fn apply_runtime_class(&mut self, object: &RuntimeClass) -> bool {
        let name = object.metadata.name.clone().unwrap_or_default();
        let overhead = object.overhead.as_ref();
        let overhead = overhead.and_then(|overhead| overhead.pod_fixed.clone());
        let before = self.overheads.get(&name).cloned();
        match overhead.clone().filter(|fixed| !fixed.is_empty()) {
            Some(fixed) => self.overheads.insert(name, fixed),
            None => self.overheads.remove(&name),
        };
        before != overhead
    }

    /// A RuntimeClass is gone. Whether it had an overhead.
    pub fn delete_runtime_class(&mut self, name: &str) -> bool {
        self.overheads.remove(name).is_some()
    }

    fn take_together(&mut self, namespace: NamespaceName) {
        let ranges = self.ranges.get(&namespace).filter(|all| !all.is_empty());
        match ranges.map(|ranges| Limits::of(ranges.values())) {
            Some(limits) => self.limits.insert(namespace, Arc::new(limits)),
            None => {
                self.ranges.remove(&namespace);
                self.limits.remove(&namespace)
            }
        };
    }
}

fn key(meta: &kueue_api::ObjectMeta) -> (NamespaceName, String) {
    let namespace = NamespaceName::new(meta.namespace.as_deref().unwrap_or_default());
    (namespace, meta.name.clone().unwrap_or_default())
}

impl Cache {
    /// A LimitRange appeared or changed: workloads of its namespace that wait ask for something else now.
    pub fn apply_limit_range(&mut self, object: &LimitRange) -> Affected {
        let (namespace, _) = key(&object.metadata);
        let changed = self.surroundings.apply_limit_range(object);
        self.stale(|key| changed && key.namespace == namespace)
    }

    /// A LimitRange is gone.
    pub fn delete_limit_range(&mut self, namespace: &NamespaceName, name: &str) -> Affected {
        let changed = self.surroundings.delete_limit_range(namespace, name);
        self.stale(|key| changed && key.namespace == *namespace)
    }

    /// A RuntimeClass appeared or changed: any workload that waits may be of that class.
    pub fn apply_runtime_class(&mut self, object: &RuntimeClass) -> Affected {
        let changed = self.surroundings.apply_runtime_class(object);
        self.stale(|_| changed)
    }

    /// A RuntimeClass is gone.
    pub fn delete_runtime_class(&mut self, name: &str) -> Affected {
        let changed = self.surroundings.delete_runtime_class(name);
        self.stale(|_| changed)
    }

    /// Workloads that wait have to be read anew; those that hold quota keep what they were given.
    fn stale(&self, asks: impl Fn(&WorkloadKey) -> bool) -> Affected {
        let waits = |(key, state): &(&WorkloadKey, &crate::workloads::WorkloadState)| {
            state.holding.is_none() && !state.finished && asks(key)
        };
        let stale = self.workloads.in_order().filter(waits);
        Affected {
            stale: stale.map(|(key, _)| key.clone()).collect(),
            ..Affected::default()
        }
    }
}
