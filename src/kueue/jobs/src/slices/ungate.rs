//! Which pods of a job that grows may start: as many of each podset as its active slice was granted, those that run already among them.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{gates, labels};
use kueue_api::v1beta2::{PodSetUpdate, Workload};
use kueue_api::workload::pods;

use crate::pods::has_gate;

/// What the autoscaler is told of a pod; other annotations are the template's.
const ASKED_FOR: &str = "autoscaling.x-k8s.io/";

/// A pod whose gate is to be taken away, and what it gets before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Release {
    /// The pod's name; it is in the Workload's namespace.
    pub pod: String,
    pub annotations: BTreeMap<String, String>,
    pub node_selector: BTreeMap<String, String>,
}

/// Decides for all pods of a chain. Nothing may start before the slice is admitted, which holds more than quota.
#[must_use]
pub fn ungate<'a>(slice: &Workload, chain: impl IntoIterator<Item = &'a Pod>) -> Vec<Release> {
    if !slice.is_admitted() || slice.is_finished() || slice.is_evicted() {
        return Vec::new();
    }
    let granted = pods::counts(&slice.spec.pod_sets);
    let (mut gated, mut running) = (BTreeMap::new(), BTreeMap::new());
    for pod in chain {
        let set = label(pod, labels::POD_SET);
        if pods::is_over(pod) {
        } else if pod
            .spec
            .as_ref()
            .is_some_and(|spec| has_gate(spec, gates::ELASTIC_JOB))
        {
            gated.entry(set).or_insert_with(Vec::new).push(pod);
        } else {
            *running.entry(set).or_insert(0) += 1;
        }
    }
    let of_set = |(set, mut waiting): (&str, Vec<&Pod>)| {
        let granted = granted.get(set).copied().unwrap_or_default();
        let room = granted - running.get(set).copied().unwrap_or_default();
        let updates = Updates::of(slice, set);
        waiting.retain(|pod| updates.suit(pod));
        waiting.sort_by_key(|pod| name(pod));
        let room = usize::try_from(room).unwrap_or_default();
        let released: Vec<_> = waiting
            .iter()
            .take(room)
            .map(|pod| updates.release(pod))
            .collect();
        released
    };
    gated.into_iter().flat_map(of_set).collect()
}

/// What the admission checks want of the pods of a set.
#[derive(Debug, Default)]
struct Updates {
    annotations: BTreeMap<String, String>,
    node_selector: BTreeMap<String, String>,
    /// Two checks want different things of the same key: nobody can serve both.
    in_conflict: bool,
}

impl Updates {
    fn of(slice: &Workload, set: &str) -> Self {
        let mut all = Self::default();
        let status = slice.status.iter();
        let checks = status.flat_map(|status| &status.admission_checks);
        let updates = checks.flat_map(|check| &check.pod_set_updates);
        for update in updates.filter(|update| update.name == set) {
            all.add(update);
        }
        all
    }

    fn add(&mut self, update: &PodSetUpdate) {
        let noted = |key: &&String| key.starts_with(ASKED_FOR);
        let notes = update.annotations.iter().filter(|(key, _)| noted(key));
        for (key, value) in notes {
            let old = self.annotations.insert(key.clone(), value.clone());
            self.in_conflict |= old.is_some_and(|old| old != *value);
        }
        for (key, value) in &update.node_selector {
            let old = self.node_selector.insert(key.clone(), value.clone());
            self.in_conflict |= old.is_some_and(|old| old != *value);
        }
    }

    /// Whether a pod says nothing else already: what it was given for an earlier slice cannot be changed any more.
    fn suit(&self, pod: &Pod) -> bool {
        let says = |own: Option<&BTreeMap<String, String>>, wanted: &BTreeMap<String, String>| {
            let other = |(key, value): (&String, &String)| {
                own.and_then(|own| own.get(key))
                    .is_some_and(|own| own != value)
            };
            !wanted.iter().any(other)
        };
        let spec = pod.spec.as_ref();
        !self.in_conflict
            && says(pod.metadata.annotations.as_ref(), &self.annotations)
            && says(
                spec.and_then(|spec| spec.node_selector.as_ref()),
                &self.node_selector,
            )
    }

    fn release(&self, pod: &Pod) -> Release {
        Release {
            pod: name(pod).to_owned(),
            annotations: self.annotations.clone(),
            node_selector: self.node_selector.clone(),
        }
    }
}

fn name(pod: &Pod) -> &str {
    pod.metadata.name.as_deref().unwrap_or_default()
}

fn label<'a>(pod: &'a Pod, key: &str) -> &'a str {
    let own = pod.metadata.labels.as_ref();
    own.and_then(|own| own.get(key)).map_or("", String::as_str)
}
