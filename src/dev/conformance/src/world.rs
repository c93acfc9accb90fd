//! The world of a case: its objects in an API server of no more than a map and in a cache, scheduling cycles as a controller runs them, and
//! what is left afterwards: Workloads, events, queues.
//!
//! [`World::of`] finds the objects under the keys that the corpus uses, in `common` and in the case. `write.rs` keeps what the reference's
//! test client keeps of a status, `outcome.rs` compares.

mod options;
mod outcome;
pub(crate) mod write;

use std::collections::{BTreeMap, BTreeSet};

use cache::{
    Admission, Cache, Event, EventKind, Options, Plan, Report, Violation, WorkloadKey,
    WorkloadPatch,
};
use k8s_openapi::api::core::v1::{LimitRange, Namespace, Node, Pod};
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Workload,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::corpus::{Case, each, now, parse};

pub use options::{options, transformations};

/// An event as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// About which workload.
    pub workload: WorkloadKey,
    /// `Normal` or `Warning`.
    pub kind: &'static str,
    /// Its reason.
    pub reason: String,
    /// Its note, cut to length.
    pub note: String,
}

/// The objects of a case, and the cache that was told of them.
#[derive(Debug)]
pub struct World {
    /// The cache.
    pub cache: Cache,
    /// The Workloads of the API, as they are now.
    pub api: BTreeMap<WorkloadKey, Workload>,
    /// The events sent so far.
    pub events: Vec<Told>,
    /// What the cycles decided, one entry each.
    pub decided: Vec<(Plan, Report)>,
    /// Every write of a status fails.
    pub refuses_writes: bool,
    /// Slices that were finished because another workload took their place.
    pub replaced: BTreeSet<WorkloadKey>,
    /// What the objects of the case break already.
    known_violations: Vec<Violation>,
}

impl World {
    /// An empty world.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            cache: Cache::new(options),
            api: BTreeMap::new(),
            events: Vec::new(),
            decided: Vec::new(),
            refuses_writes: false,
            replaced: BTreeSet::new(),
            known_violations: Vec::new(),
        }
    }

    /// The world of a case, in the load order of the reference's core runner.
    #[must_use]
    pub fn of(case: &Case<'_>) -> Self {
        Self::with(case, options(case))
    }

    /// The world of a case under options of the suite's choice.
    #[must_use]
    pub fn with(case: &Case<'_>, options: Options) -> Self {
        let mut world = Self::new(options);
        world.refuses_writes =
            !case.input["admissionError"].is_null() || !case.input["patchStatusErr"].is_null();
        for namespace in objects::<Namespace>(case, &["namespaces"]) {
            let _ = world.cache.apply_namespace(&namespace);
        }
        for queue in objects::<LocalQueue>(case, &["queues", "additionalLocalQueues"]) {
            let _ = world.cache.apply_local_queue(&queue, now());
        }
        for flavor in objects::<ResourceFlavor>(case, &["resourceFlavors"]) {
            let _ = world.cache.apply_resource_flavor(&flavor);
        }
        for topology in objects::<Topology>(case, &["topologies"]) {
            let _ = world.cache.apply_topology(&topology);
        }
        for node in objects::<Node>(case, &["nodes"]) {
            let _ = world.cache.apply_node(&node);
        }
        for pod in objects::<Pod>(case, &["pods"]) {
            let _ = world.cache.apply_pod(&pod);
        }
        for check in objects::<AdmissionCheck>(case, &["admissionChecks"]) {
            let _ = world.cache.apply_admission_check(&check);
        }
        for queue in
            objects::<ClusterQueue>(case, &["clusterQueues", "additionalClusterQueues", "cqs"])
        {
            let _ = world.cache.apply_cluster_queue(&queue, now());
        }
        for cohort in objects::<Cohort>(case, &["cohorts"]) {
            let _ = world.cache.apply_cohort(&cohort);
        }
        for object in each::<Value>(&case.input["objects"]) {
            if object["kind"] == "LimitRange" {
                let _ = world.cache.apply_limit_range(&parse::<LimitRange>(&object));
            }
        }
        for workload in objects::<Workload>(case, &["workloads"]) {
            world.put(workload);
        }
        world.known_violations = world.cache.check();
        world
    }

    /// Creates or replaces a Workload.
    pub fn put(&mut self, workload: Workload) {
        let _ = self.cache.apply_workload(&workload, now());
        self.api.insert(key(&workload), workload);
    }

    /// Deletes a Workload.
    pub fn delete(&mut self, key: &WorkloadKey) {
        self.api.remove(key);
        let _ = self.cache.delete_workload(key);
    }

    /// One cycle as a controller runs it, its writes included. False if there was nothing to do.
    pub fn cycle(&mut self) -> bool {
        self.cycle_at(now())
    }

    /// The same, with workloads whose time to wait ends by then.
    pub fn cycle_at(&mut self, then: jiff::Timestamp) -> bool {
        let Some(cycle) = self.cache.begin_cycle(then) else {
            return false;
        };
        let (plan, mut report) = cycle.run();
        self.tell_to_leave(&plan, &mut report);
        for admission in &plan.admissions {
            self.admit(admission);
        }
        let settled = self.cache.settle(&report, now());
        for patch in settled.patches {
            self.write(patch);
        }
        for (workload, event) in settled.events {
            self.tell(&workload, event);
        }
        self.decided.push((plan, report));
        true
    }

    fn tell_to_leave(&mut self, plan: &Plan, report: &mut Report) {
        for preemption in &plan.preemptions {
            let Some(patch) = self.cache.preemption_patch(preemption, now()) else {
                continue;
            };
            let preemptor = &preemption.preemptor.key;
            if self.write(patch) {
                self.tell(preemptor, Cache::preemptor_event(preemption));
            } else {
                report.preemption_failed(preemptor);
            }
        }
        for eviction in &plan.evictions {
            let patch = self.cache.eviction_patch(eviction, now());
            if patch.is_some_and(|patch| !self.write(patch)) {
                report.eviction_failed(&eviction.evicted().workload.key);
            }
        }
    }

    fn admit(&mut self, admission: &Admission) {
        if self.cache.assume(admission).is_err() {
            return;
        }
        let patch = self.cache.admission_patch(admission, now());
        if !patch.is_some_and(|patch| self.write(patch)) {
            let _ = self.cache.forget(&admission.workload, now());
            return;
        }
        if let Some(patch) = self.cache.replacement_patch(admission, now()) {
            self.replaced.insert(patch.key.clone());
            self.write(patch);
        }
    }

    /// Writes a status and sends the events that belong to it. Whether it could be written.
    pub fn write(&mut self, patch: WorkloadPatch) -> bool {
        if self.refuses_writes {
            return false;
        }
        let Some(mut workload) = self.api.get(&patch.key).cloned() else {
            return false;
        };
        workload.status = Some(write::merged(
            workload.status.unwrap_or_default(),
            patch.status,
        ));
        self.put(workload);
        for event in patch.events {
            self.tell(&patch.key, event);
        }
        true
    }

    fn tell(&mut self, workload: &WorkloadKey, event: Event) {
        let kind = match event.kind {
            EventKind::Normal => "Normal",
            EventKind::Warning => "Warning",
        };
        self.events.push(Told {
            workload: workload.clone(),
            kind,
            reason: event.reason,
            note: kueue_api::conditions::truncate(
                &event.note,
                kueue_api::conditions::MAX_EVENT_NOTE,
            ),
        });
    }
}

/// The key of a Workload.
#[must_use]
pub fn key(workload: &Workload) -> WorkloadKey {
    WorkloadKey::new(workload.namespace(), workload.name())
}

/// The objects under these keys, first those that all cases share.
fn objects<T: DeserializeOwned>(case: &Case<'_>, keys: &[&str]) -> Vec<T> {
    let mut all = Vec::new();
    for place in [case.common, case.input] {
        for key in keys {
            all.extend(each::<T>(&place[*key]));
        }
    }
    all
}

/// A list of `namespace/name` as keys.
#[must_use]
pub fn keys(value: &Value) -> Vec<WorkloadKey> {
    let read = |text: &String| {
        let (namespace, name) = text.split_once('/').unwrap_or(("", text));
        WorkloadKey::new(namespace, name)
    };
    crate::corpus::read::<Vec<String>>(value)
        .iter()
        .map(read)
        .collect()
}
