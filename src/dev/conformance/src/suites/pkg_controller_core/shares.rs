//! The books of admission fair sharing as Workloads come and go: a Workload is admitted by a cycle, which charges it, and then changes.

use cache::{Cache, LocalQueueKey, Options};
use k8s_openapi::api::core::v1::Namespace;
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, ResourceFlavor, Workload};
use serde_json::{Value, json};

use super::queues::rules;
use crate::corpus::{Case, now, parse, read};
use crate::verdict::Verdict;

const SHARES: &str = "UsageBasedAdmissionFairSharing";

struct Books(Cache);

impl Books {
    /// A world in which a LocalQueue of `ns` leads to a ClusterQueue that goes by past usage and has room.
    fn open(afs: &Value, doors: &[&str]) -> Self {
        let mut cache = Cache::new(Options {
            admission_fair_sharing: Some(rules(afs)),
            ..Options::default()
        });
        let namespace: Namespace = parse(&json!({"metadata": {"name": "ns"}}));
        let flavor: ResourceFlavor = parse(&json!({"metadata": {"name": "rf"}, "spec": {}}));
        let quota = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "rf", "resources": [{"name": "cpu", "nominalQuota": "100"}]}]}]);
        let queue: ClusterQueue = parse(&json!({"metadata": {"name": "cq"}, "spec": {
            "namespaceSelector": {}, "admissionScope": {"admissionMode": SHARES}, "resourceGroups": quota}}));
        let _ = cache.apply_namespace(&namespace);
        let _ = cache.apply_resource_flavor(&flavor);
        let _ = cache.apply_cluster_queue(&queue, now());
        for door in doors {
            let door: LocalQueue = parse(
                &json!({"metadata": {"name": door, "namespace": "ns"}, "spec": {"clusterQueue": "cq"}}),
            );
            let _ = cache.apply_local_queue(&door, now());
        }
        Self(cache)
    }

    /// A cycle admits a Workload, which is charged. It is told as `then` afterwards.
    fn charge(&mut self, workload: &Workload, then: &Workload) {
        let mut waiting = workload.clone();
        waiting.status = None;
        waiting.spec.active = None;
        self.apply(&waiting);
        let (plan, _) = self.0.begin_cycle(now()).unwrap().run();
        let _ = self.0.assume(&plan.admissions[0]).unwrap();
        if then != &waiting {
            self.apply(then);
        }
    }

    fn apply(&mut self, workload: &Workload) {
        let _ = self.0.apply_workload(workload, now());
    }

    fn consumed(&self, door: &str) -> f64 {
        let written = self.0.written_usage(&LocalQueueKey::new("ns", door));
        let status = written.and_then(|written| written.admission_fair_sharing_status);
        let consumed = status
            .map(|status| status.consumed_resources)
            .unwrap_or_default();
        let all = consumed.values().map(|text| {
            let amount: quantity::Quantity = text.0.parse().unwrap();
            amount.approximate()
        });
        all.sum()
    }

    fn pending(&self, door: &str) -> bool {
        let weighed = self.0.past_usage(&LocalQueueKey::new("ns", door)).unwrap();
        weighed - self.consumed(door) > 1e-9
    }
}

/// Which changes of a Workload make a charge part of what was used.
pub(super) fn settled(case: Case<'_>) -> Verdict {
    let mut books = Books::open(&case.input["setup"]["afsConfig"], &["lq"]);
    let (old, new): (Workload, Workload) =
        (parse(&case.input["oldWl"]), parse(&case.input["newWl"]));
    if case.name.starts_with("Admitted to Admitted") {
        // Charged by code after it began; no cycle charges whoever runs.
        return Verdict::Skipped(crate::verdict::Skip::Internal(
            "a charge of a Workload that runs already, which the test makes by code",
        ));
    }
    books.charge(&old, &old);
    books.apply(&new);
    Verdict::all([
        Verdict::equal(
            "pending",
            &books.pending("lq"),
            &(case.want["wantPending"] == true),
        ),
        Verdict::equal(
            "folded",
            &(books.consumed("lq") > 0.0),
            &(case.want["wantFolded"] == true),
        ),
    ])
}

/// Which changes of a Workload take a charge back.
pub(super) fn dropped(case: Case<'_>) -> Verdict {
    let afs = json!({"usageHalfLifeTime": "1m", "usageSamplingInterval": "1s"});
    let mut books = Books::open(&afs, &["lq", "lq2"]);
    let (old, new): (Workload, Workload) =
        (parse(&case.input["oldWl"]), parse(&case.input["newWl"]));
    books.charge(&old, &old);
    books.apply(&new);
    let wanted: std::collections::BTreeMap<String, bool> = read(&case.want["wantPendingOn"]);
    Verdict::all(wanted.iter().map(|(key, want)| {
        let door = key.strip_prefix("ns/").unwrap();
        Verdict::equal(key, &books.pending(door), want)
    }))
}

/// What was used, once a Workload began.
pub(super) fn consumed(case: Case<'_>) -> Verdict {
    let mut books = Books::open(&case.common["afsConfig"], &["lq"]);
    let entry = &case.input["initialEntry"];
    if let Some(at) = entry["lastUpdate"].as_str() {
        let door = LocalQueueKey::new("ns", "lq");
        books
            .0
            .set_past_usage(&door, &read(&entry["resources"]), at.parse().unwrap());
    }
    let workload: Workload = parse(&case.input["setup"]["wl"]);
    books.charge(&workload, &workload);
    let written = books
        .0
        .written_usage(&LocalQueueKey::new("ns", "lq"))
        .unwrap();
    let at = written.admission_fair_sharing_status.unwrap().last_update;
    let want = case.want["wantLastUpdate"]
        .as_str()
        .unwrap_or("2026-08-22T12:00:00Z");
    let milli = f64::from(read::<i32>(&case.want["wantCPUMilli"]));
    Verdict::all([
        Verdict::equal("consumed", &(books.consumed("lq") * 1000.0).round(), &milli),
        Verdict::equal("at", &at.map(|at| at.0), &want.parse().ok()),
    ])
}
