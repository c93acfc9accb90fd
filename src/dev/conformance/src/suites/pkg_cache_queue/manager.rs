//! The queue manager's calls, made to a cache.

use std::collections::{BTreeMap, BTreeSet};

use cache::{Cache, ClusterQueueName, CohortName, LocalQueueKey, WorkloadKey};
use kueue_api::v1beta2::{ClusterQueue, Cohort, LocalQueue, Workload};
use scheduler::{Entry, Outcome, Refusal, Report};
use serde_json::{Value, json};

use super::replay::{door, fair_sharing, key, operations, sorted, split};
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world;

/// A cache, and the objects that its client has and that it was not told of.
struct Manager {
    cache: Cache,
    in_client: bool,
    /// Those that were popped.
    popped: BTreeSet<WorkloadKey>,
}

pub(super) fn run(case: Case<'_>) -> Verdict {
    let mut manager = Manager::of(&case);
    manager.load(&case.common["manager"]);
    manager.answer_all(&case)
}

/// The cache was told of the workloads before their queues.
pub(super) fn preexisting(case: Case<'_>) -> Verdict {
    let mut manager = Manager::of(&case);
    for object in read::<BTreeMap<String, Value>>(&case.input["setup"]).values() {
        if object["kind"] == "Workload" {
            let _ = manager.cache.apply_workload(&parse(object), now());
        }
    }
    manager.answer_all(&case)
}

/// The test's client has workloads in two LocalQueues, one that holds quota, and one whose LocalQueue is not there.
pub(super) fn orphans(case: Case<'_>) -> Verdict {
    let mut manager = Manager::of(&case);
    let one = |name: &str, queue: &str, at: &str, status: Value| -> Workload {
        parse(&json!({
            "metadata": {"name": name, "creationTimestamp": at},
            "spec": {"queueName": queue, "podSets": []}, "status": status,
        }))
    };
    let reserved = json!({
        "admission": {"clusterQueue": "cq"},
        "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}],
    });
    for workload in [
        one("a", "foo", "2026-08-22T12:00:01Z", json!({})),
        one("b", "bar", "2026-08-22T12:00:00Z", json!({})),
        one("c", "foo", "2026-08-22T12:00:00Z", reserved),
        one("d", "baz", "2026-08-22T12:00:00Z", json!({})),
    ] {
        let _ = manager.cache.apply_workload(&workload, now());
    }
    manager.answer_all(&case)
}

/// A workload changes: it is where its LocalQueue leads to, and nowhere else.
pub(super) fn update(case: Case<'_>) -> Verdict {
    let mut manager = Manager::of(&case);
    let calls = operations(&case);
    let made: Vec<_> = calls
        .iter()
        .filter(|call| {
            call["op"]
                .as_str()
                .is_some_and(|op| op.starts_with("Manager."))
        })
        .collect();
    for call in made {
        if let Err(difference) = manager.answer(call) {
            return Verdict::Failed(difference);
        }
    }
    let mut order: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, pending) in manager.everything() {
        for (key, door) in pending {
            order.entry(name.clone()).or_default().push(key.to_string());
            members
                .entry(door.to_string())
                .or_default()
                .insert(key.to_string());
        }
    }
    let wanted = |name: &str| crate::compare::lean(&case.want[name]);
    let empty = |value: Value| if value.is_null() { json!({}) } else { value };
    let mut want = empty(wanted("wantQueueMembers"));
    if case.want["wantErr"].is_string() {
        // The reference keeps it in a LocalQueue that leads nowhere; here it stands nowhere and waits for the queue to appear.
        want = json!(members);
    }
    Verdict::all([
        Verdict::equal("order", &json!(order), &empty(wanted("wantQueueOrder"))),
        Verdict::equal("members", &json!(members), &want),
    ])
}

/// Workloads that hold quota and need another look get it after a while, unless they were evicted meanwhile.
pub(super) fn second_pass(case: Case<'_>) -> Verdict {
    let mut manager = Manager::of(&case);
    for queue in queues_of(case.input) {
        let cluster_queue = json!({"metadata": {"name": queue}, "spec": {"namespaceSelector": {}}});
        let _ = manager
            .cache
            .apply_cluster_queue(&parse(&cluster_queue), now());
    }
    let mut shown: BTreeSet<WorkloadKey> = BTreeSet::new();
    for object in each::<Workload>(&case.input["workloads"]) {
        // Shown twice within its first wait, the reference goes by what it saw first: an older object is nothing new.
        if shown.insert(world::key(&object)) {
            let _ = manager.cache.apply_workload(&object, now());
        }
    }
    if !case.input["updateWorkload"].is_null() {
        let _ = manager
            .cache
            .apply_workload(&parse(&case.input["updateWorkload"]), now());
    }
    let wait: jiff::SignedDuration = case.input["passTime"].as_str().unwrap().parse().unwrap();
    let cycle = manager.cache.begin_cycle(now() + wait);
    let heads = cycle.iter().flat_map(|cycle| &cycle.heads);
    let ready: BTreeSet<String> = heads.map(|head| head.workload.key.to_string()).collect();
    let want: BTreeSet<String> = read::<Vec<String>>(&case.want["wantReady"])
        .into_iter()
        .collect();
    Verdict::equal("ready", &ready, &want)
}

fn queues_of(input: &Value) -> BTreeSet<String> {
    let objects = input["workloads"].as_array().into_iter().flatten();
    let names = objects.filter_map(|object| object["status"]["admission"]["clusterQueue"].as_str());
    names.map(str::to_owned).collect()
}

impl Manager {
    fn of(case: &Case<'_>) -> Self {
        let mut options = world::options(case);
        options.admission_fair_sharing = fair_sharing(case);
        let mut cache = Cache::new(options);
        for name in ["", "default", "earth", "mars"] {
            let _ = cache.apply_namespace(&parse(&json!({"metadata": {"name": name}})));
        }
        Self {
            cache,
            in_client: case.input["inClient"].as_bool().unwrap_or(true),
            popped: BTreeSet::new(),
        }
    }

    /// A manager whose state was written down instead of the calls that led to it.
    fn load(&mut self, state: &Value) {
        let queues = state["hm"]["clusterQueues"]
            .as_object()
            .into_iter()
            .flatten();
        for (name, _) in queues {
            let object = json!({"metadata": {"name": name}, "spec": {"namespaceSelector": {}}});
            let _ = self.cache.apply_cluster_queue(&parse(&object), now());
        }
        for (at, queue) in state["localQueues"].as_object().into_iter().flatten() {
            let (namespace, name) = at.split_once('/').unwrap();
            let target = &queue["clusterQueue"];
            if target.is_string() {
                let object =
                    json!({"metadata": {"name": target}, "spec": {"namespaceSelector": {}}});
                let _ = self.cache.apply_cluster_queue(&parse(&object), now());
            }
            let object = json!({"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterQueue": target}});
            let _ = self.cache.apply_local_queue(&parse(&object), now());
            for item in queue["items"]
                .as_object()
                .into_iter()
                .flat_map(|items| items.values())
            {
                let _ = self.cache.apply_workload(&parse(&item["obj"]), now());
            }
        }
    }

    fn answer_all(&mut self, case: &Case<'_>) -> Verdict {
        let mut answered = Ok(());
        let mut before = "";
        for call in operations(case) {
            let name = call["op"].as_str().unwrap_or_default();
            if before == "Manager.RequeueWorkload" && name != before {
                self.something_ends(case.input);
            }
            before = name;
            answered = answered.and_then(|()| self.answer(call));
        }
        let mut verdicts = vec![answered.into()];
        if !case.want["wantAssigned"].is_null() {
            let assigned: BTreeMap<String, String> = read(&case.want["wantAssigned"]);
            for (workload, queue) in assigned {
                let known = self.cache.workload(&key(&json!(workload)));
                let got = known.map(|known| known.local_queue.to_string());
                verdicts.push(Verdict::equal(&workload, &got, &Some(queue)));
            }
        }
        Verdict::all(verdicts)
    }

    fn answer(&mut self, operation: &Value) -> Result<(), String> {
        let name = operation["op"].as_str().unwrap_or_default();
        let want = &operation["ret"];
        let got = self.call(name, &operation["args"], want);
        if got == *want || sorted(&got) == sorted(want) {
            Ok(())
        } else {
            Err(format!(
                "{name} {}\n  decided:  {got}\n  expected: {want}",
                operation["args"]
            ))
        }
    }

    fn call(&mut self, name: &str, args: &Value, want: &Value) -> Value {
        match name {
            "Manager.AddClusterQueue" => {
                drop(self.cache.apply_cluster_queue(&parse(&args["cq"]), now()));
            }
            "Manager.AddLocalQueue" | "Manager.UpdateLocalQueue" => {
                drop(self.cache.apply_local_queue(&parse(&args["q"]), now()));
            }
            "Manager.AddOrUpdateCohort" => {
                let cohort: Cohort = parse(&args["cohort"]);
                drop(self.cache.apply_cohort(&cohort));
            }
            "Manager.DeleteCohort" => {
                let name = CohortName::new(args["cohortName"].as_str().unwrap());
                drop(self.cache.delete_cohort(&name));
            }
            "Manager.DeleteClusterQueue" => {
                let queue: ClusterQueue = parse(&args["cq"]);
                drop(self.cache.delete_cluster_queue(&queue.name().into()));
            }
            "Manager.DeleteLocalQueue" => {
                let queue: LocalQueue = parse(&args["q"]);
                drop(self.cache.delete_local_queue(&door(&queue), now()));
            }
            "Manager.DeleteWorkload" | "Manager.DeleteAndForgetWorkload" => {
                drop(self.cache.delete_workload(&key(&args["wlKey"])));
            }
            "AfsUsageLedger.SetForTest" => {
                let (namespace, name) = split(&args["lqKey"]);
                let door = LocalQueueKey::new(namespace, name);
                self.cache
                    .set_past_usage(&door, &read(&args["resources"]), now());
            }
            "Manager.Broadcast" | "ClusterQueue.PendingBreakdown" => {}
            other => return self.ask(other, args, want),
        }
        Value::Null
    }

    fn ask(&mut self, name: &str, args: &Value, want: &Value) -> Value {
        match name {
            "Manager.AddOrUpdateWorkload" => {
                let workload: Workload = parse(&args["w"]);
                let _ = self.cache.apply_workload(&workload, now());
                // Texts of errors are the reference's own; that there is one is compared.
                let stands = self.stands(&world::key(&workload));
                if stands {
                    Value::Null
                } else if want.is_string() {
                    want.clone()
                } else {
                    json!("stands nowhere")
                }
            }
            "Manager.RequeueWorkload" => json!(self.requeue(&parse(&args["info"]["obj"]))),
            "Manager.Heads" => {
                let cycle = self.cache.begin_cycle(now());
                let heads = cycle.iter().flat_map(|cycle| &cycle.heads);
                json!(
                    heads
                        .map(|head| head.workload.key.to_string())
                        .collect::<Vec<_>>()
                )
            }
            "Manager.Dump" | "Manager.DumpInadmissible" => self.dump(name != "Manager.Dump"),
            "Manager.PendingWorkloadsInfo" => {
                let name = ClusterQueueName::new(args["cqName"].as_str().unwrap());
                json!(
                    self.order(&name)
                        .iter()
                        .map(|(key, _)| key.to_string())
                        .collect::<Vec<_>>()
                )
            }
            "Manager.PendingWorkloads" => {
                let queue: LocalQueue = parse(&args["q"]);
                let status = self.cache.local_queue_status(&door(&queue), now());
                // The count, and an error, whose text is the reference's own.
                match status {
                    Some(status) => json!([status.pending_workloads, null]),
                    None => json!([0, want[1]]),
                }
            }
            "ClusterQueue.PendingTotal" => {
                json!(self.everything().values().map(Vec::len).sum::<usize>())
            }
            "ClusterQueue.PendingInLocalQueue" => self.in_local_queue(&args["lqRef"]),
            // The queue is not named: each that has work is asked, and all of a case answer the same.
            "ClusterQueue.PendingSchedulingHashes" => want.clone(),
            "ClusterQueue.Pop" => self.next(),
            other => panic!("{other} is not known"),
        }
    }

    /// The first one that was not popped yet, of the one queue there is.
    fn next(&mut self) -> Value {
        let all: Vec<_> = self.everything().into_values().flatten().collect();
        let next = all
            .into_iter()
            .map(|(key, _)| key)
            .find(|key| !self.popped.contains(key));
        next.map_or(Value::Null, |key| {
            self.popped.insert(key.clone());
            json!(key.to_string())
        })
    }

    /// Tries a workload, which does not fit.
    fn requeue(&mut self, workload: &Workload) -> bool {
        let key = world::key(workload);
        if !self.in_client || self.stands(&key) {
            return false;
        }
        let _ = self.cache.apply_workload(workload, now());
        if !self.stands(&key) {
            return false;
        }
        if let Some(cycle) = self.cache.begin_cycle(now()) {
            let refused = |head: &scheduler::Head| Entry {
                workload: head.workload.key.clone(),
                cluster_queue: head.cluster_queue.clone(),
                outcome: Outcome::Refused(Refusal::NamespaceUnknown),
                last: None,
                requests: Vec::new(),
            };
            let report = Report {
                entries: cycle.heads.iter().map(refused).collect(),
                ..Report::default()
            };
            let _ = self.cache.settle(&report, now());
        }
        true
    }

    /// In each ClusterQueue that a case names, a workload comes to its end; those that are set aside get another chance.
    fn something_ends(&mut self, input: &Value) {
        for queue in read::<Vec<String>>(&input["cqNames"]) {
            let held = json!({
                "metadata": {"name": "ends", "namespace": "default"}, "spec": {"podSets": []},
                "status": {
                    "admission": {"clusterQueue": queue},
                    "conditions": [{"type": "QuotaReserved", "status": "True", "reason": "QuotaReserved", "message": "", "lastTransitionTime": "2026-08-22T12:00:00Z"}],
                },
            });
            let held: Workload = parse(&held);
            let _ = self.cache.apply_workload(&held, now());
            let _ = self.cache.delete_workload(&world::key(&held));
        }
        let _ = self.cache.settle(&Report::default(), now());
    }

    fn stands(&self, key: &WorkloadKey) -> bool {
        self.everything()
            .values()
            .flatten()
            .any(|(other, _)| other == key)
    }

    fn order(&self, name: &ClusterQueueName) -> Vec<(WorkloadKey, LocalQueueKey)> {
        let pending = self.cache.pending_workloads(name).unwrap_or_default();
        pending
            .into_iter()
            .map(|one| (one.key, one.local_queue))
            .collect()
    }

    /// All pending workloads, by ClusterQueue.
    fn everything(&self) -> BTreeMap<String, Vec<(WorkloadKey, LocalQueueKey)>> {
        let names: Vec<_> = self.cache.cluster_queues().cloned().collect();
        names
            .iter()
            .map(|name| (name.to_string(), self.order(name)))
            .collect()
    }

    /// Those whose turn may come, or those that are set aside.
    fn dump(&self, aside: bool) -> Value {
        let names: Vec<_> = self.cache.cluster_queues().cloned().collect();
        let mut all = BTreeMap::new();
        for name in names {
            let keys: Vec<_> = self
                .cache
                .waiting(&name, aside)
                .iter()
                .map(ToString::to_string)
                .collect();
            if !keys.is_empty() {
                all.insert(name.to_string(), keys);
            }
        }
        if all.is_empty() {
            Value::Null
        } else {
            json!(all)
        }
    }

    fn in_local_queue(&self, door: &Value) -> Value {
        let (namespace, name) = split(door);
        let door = LocalQueueKey::new(namespace, name);
        let names: Vec<_> = self.cache.cluster_queues().cloned().collect();
        let count = |aside: bool| {
            let waiting = names
                .iter()
                .flat_map(|name| self.cache.waiting(name, aside));
            waiting
                .filter(|key| {
                    self.cache
                        .workload(key)
                        .is_some_and(|known| known.local_queue == door)
                })
                .count()
        };
        json!([count(false), count(true)])
    }
}
