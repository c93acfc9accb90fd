//! A small API server in memory: it keeps the objects, writes the patches of the cache into them and shows them to the cache again.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kueue_api::conditions;
use kueue_api::v1beta2::{self as api, Workload};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Cache, Options, WorkloadKey, WorkloadPatch};

pub(crate) fn second(number: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + number).unwrap()
}

pub(crate) fn object<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{error}"))
}

/// A ClusterQueue with one flavor `red` and this much cpu.
pub(crate) fn cluster_queue(name: &str, cpu: &str, more: &Value) -> api::ClusterQueue {
    let mut spec = json!({
        "namespaceSelector": {},
        "resourceGroups": [{
            "coveredResources": ["cpu"],
            "flavors": [{"name": "red", "resources": [{"name": "cpu", "nominalQuota": cpu}]}],
        }],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    object(json!({"metadata": {"name": name, "generation": 1}, "spec": spec}))
}

pub(crate) fn local_queue(name: &str, target: &str) -> api::LocalQueue {
    object(json!({"metadata": {"name": name, "namespace": "ns"}, "spec": {"clusterQueue": target}}))
}

pub(crate) fn key(name: &str) -> WorkloadKey {
    WorkloadKey::new("ns", name)
}

/// A workload of one pod with this much cpu, created at this second.
pub(crate) fn workload(name: &str, queue: &str, cpu: &str, created: i64) -> Workload {
    object(json!({
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"), "generation": 1, "creationTimestamp": second(created).to_string()},
        "spec": {
            "queueName": queue,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}}}],
        },
    }))
}

pub(crate) struct World {
    pub(crate) cache: Cache,
    pub(crate) objects: BTreeMap<WorkloadKey, Workload>,
    pub(crate) now: Timestamp,
    version: u64,
}

impl World {
    /// A namespace `ns` and a flavor `red`.
    pub(crate) fn new() -> Self {
        Self::with(Options::default())
    }

    pub(crate) fn with(options: Options) -> Self {
        let mut cache = Cache::new(options);
        let _ = cache.apply_namespace(&object(
            json!({"metadata": {"name": "ns", "labels": {"team": "vision"}}}),
        ));
        let _ = cache.apply_resource_flavor(&object(json!({"metadata": {"name": "red"}})));
        Self {
            cache,
            objects: BTreeMap::new(),
            now: second(100),
            version: 0,
        }
    }

    pub(crate) fn queue(mut self, name: &str, cpu: &str, more: &Value) -> Self {
        let _ = self
            .cache
            .apply_cluster_queue(&cluster_queue(name, cpu, more), self.now);
        let _ = self
            .cache
            .apply_local_queue(&local_queue(&format!("to-{name}"), name), self.now);
        self
    }

    pub(crate) fn submit(&mut self, workload: Workload) {
        let key = WorkloadKey::new(workload.namespace(), workload.name());
        self.objects.insert(key.clone(), workload);
        self.touch(&key);
    }

    /// Gives the object a new version and shows it to the cache.
    pub(crate) fn touch(&mut self, key: &WorkloadKey) {
        self.version += 1;
        let Some(object) = self.objects.get_mut(key) else {
            return;
        };
        object.metadata.resource_version = Some(self.version.to_string());
        let _ = self.cache.apply_workload(object, self.now);
    }

    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut Workload)) {
        change(self.objects.get_mut(&key(name)).unwrap());
        self.touch(&key(name));
    }

    pub(crate) fn delete(&mut self, name: &str) {
        self.objects.remove(&key(name));
        let _ = self.cache.delete_workload(&key(name));
    }

    /// The job has ended.
    pub(crate) fn finish(&mut self, name: &str) {
        let now = self.now;
        self.change(name, |object| {
            let status = object.status.get_or_insert_default();
            conditions::set(
                &mut status.conditions,
                conditions::condition("Finished", true, "Succeeded", "done", None, now),
            );
        });
    }

    /// The job was stopped and its reservation given up.
    pub(crate) fn evict(&mut self, name: &str, reason: &str) {
        let now = self.now;
        self.change(name, |object| {
            let status = object.status.get_or_insert_default();
            status.admission = None;
            for (type_, holds) in [
                ("Evicted", true),
                ("QuotaReserved", false),
                ("Admitted", false),
                ("Requeued", reason == "Preempted"),
            ] {
                conditions::set(
                    &mut status.conditions,
                    conditions::condition(type_, holds, reason, "by test", None, now),
                );
            }
        });
    }

    /// One cycle, every write succeeds at once. Returns what was admitted.
    pub(crate) fn cycle(&mut self) -> Vec<String> {
        let Some(cycle) = self.cache.begin_cycle(self.now) else {
            return Vec::new();
        };
        let (plan, report) = cycle.run();
        let mut patches = Vec::new();
        for admission in &plan.admissions {
            let _ = self.cache.assume(admission).unwrap();
            patches.extend(self.cache.admission_patch(admission, self.now));
        }
        patches.extend(self.cache.settle(&report, self.now).patches);
        for patch in patches {
            self.write(patch);
        }
        self.checked();
        plan.admissions
            .iter()
            .map(|admission| admission.workload.name.to_string())
            .collect()
    }

    /// Cycles until nothing is left to do; the heads of a hundred cycles are more than any test needs.
    pub(crate) fn settle(&mut self) -> Vec<String> {
        let mut admitted = Vec::new();
        for _ in 0..100 {
            if !self.cache.has_work() {
                return admitted;
            }
            admitted.extend(self.cycle());
            self.now = self.now.checked_add(SignedDuration::from_secs(1)).unwrap();
        }
        panic!("still busy after a hundred cycles");
    }

    pub(crate) fn write(&mut self, patch: WorkloadPatch) {
        let Some(object) = self.objects.get_mut(&patch.key) else {
            return;
        };
        let kept = object.status.take().unwrap_or_default().reclaimable_pods;
        object.status = Some(api::WorkloadStatus {
            reclaimable_pods: kept,
            ..patch.status
        });
        self.touch(&patch.key);
        let version = self.version.to_string();
        self.cache.written(&patch.key, &version);
    }

    pub(crate) fn checked(&mut self) {
        assert_eq!(self.cache.check(), []);
    }

    /// Reason and message of a pending workload.
    pub(crate) fn why(&self, name: &str) -> String {
        if let Some(reason) = self.cache.pending_reason(&key(name)) {
            return format!("{}: {}", reason.reason, reason.message);
        }
        let found = conditions::find(self.objects[&key(name)].conditions(), "QuotaReserved");
        found.map_or_else(
            || "nothing".to_owned(),
            |found| format!("{}: {}", found.reason, found.message),
        )
    }

    /// `active 1, parked 2, admitted 3`.
    pub(crate) fn counts(&self, queue: &str) -> String {
        let counts = self.cache.counts(&queue.into()).unwrap();
        format!(
            "active {}, parked {}, admitted {}",
            counts.pending_active, counts.pending_inadmissible, counts.admitted
        )
    }
}
