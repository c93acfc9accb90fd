//! What a pass has to know, from the stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jobs::pods::Pods;
use jobs::{GenericJob, Priority};
use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::{ResourceFlavorSpec, Workload};

use super::decide::{Rules, View};
use super::key::{group_namespace, single_owner};
use crate::job::priority;
use crate::key::Key;
use crate::stores::Stores;

/// What is known about the pods of a key. `namespace_managed` answers for a namespace, none if it is not known.
pub fn look<'a>(
    stores: &Stores,
    rules: &'a Rules,
    flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    key: &Key,
    namespace_managed: impl FnOnce(&str) -> Option<bool>,
    now: Timestamp,
) -> View<'a> {
    let settled = stores.shelf.expectations.satisfied(key);
    let mut members = stores.shelf.under(key);
    let grouped = group_namespace(key);
    let namespace = grouped.unwrap_or(&key.namespace);
    let pods = if grouped.is_some() {
        Pods::group(members, rules.switches, now)
    } else {
        members
            .pop()
            .map(|pod| Pods::single(pod, rules.switches, now))
    };
    let find = |name: &str| stores.workloads.get(&Key::new(namespace, name));
    let prebuilt = pods.as_ref().and_then(Pods::prebuilt).and_then(find);
    let workloads = if grouped.is_some() {
        find(&key.name).into_iter().collect()
    } else {
        of_single(stores, key)
    };
    let priority = pods.as_ref().and_then(|pods| asked(pods, stores));
    View {
        rules,
        pods,
        workloads,
        prebuilt,
        namespace_managed: namespace_managed(namespace),
        priority,
        flavors,
        remote_checks: remote_checks(stores),
        settled,
        now,
    }
}

fn asked(pods: &Pods, stores: &Stores) -> Option<Priority> {
    let job: &dyn GenericJob = pods;
    priority::of(job, stores)
}

/// Workloads that were made for a pod of this name.
fn of_single(stores: &Stores, key: &Key) -> Vec<Arc<Workload>> {
    stores
        .workloads_of_pod(key)
        .into_iter()
        .filter(|workload| single_owner(workload) == Some(&key.name))
        .collect()
}

fn remote_checks(stores: &Stores) -> Vec<String> {
    let checks = stores.checks.list();
    let remote = checks
        .iter()
        .filter(|check| check.spec.controller_name == MULTIKUEUE_CONTROLLER);
    remote.map(|check| check.name().to_owned()).collect()
}
