//! One pending queue, asked what the reference's was asked.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use cache::pending::{Order, PendingQueue, Place, Requeue, Waiting};
use cache::{LocalQueueKey, Options, PodsReadyTimestamp, Surroundings, TrackedLabel, WorkloadKey};
use kueue_api::v1beta2::{AdmissionMode, ClusterQueue, LocalQueue, QueueingStrategy, Workload};
use scheduler::{
    AdmissionFairSharing, Ledger, NoFitReason, PendingReason, Preemptor, Quantities, RequeueReason,
    Strategy, messages,
};
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world;

/// A queue and what lies around it.
pub(super) struct Replay {
    pub(super) queue: PendingQueue,
    pub(super) options: Options,
    fair: bool,
    ledger: Ledger,
    weights: BTreeMap<LocalQueueKey, f64>,
}

/// Replays all calls and compares all answers.
pub(super) fn run(case: Case<'_>) -> Verdict {
    let mut replay = Replay::of(&case);
    for operation in operations(&case) {
        if let Err(difference) = replay.answer(operation) {
            return Verdict::Failed(difference);
        }
    }
    Verdict::Passed
}

pub(super) fn operations<'a>(case: &Case<'a>) -> &'a [Value] {
    case.input["operations"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

impl Replay {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let mut options = world::options(case);
        let creation = "Creation";
        for ordering in [
            &case.input["workloadOrdering"],
            &case.common["defaultOrdering"],
        ] {
            if ordering["podsReadyRequeuingTimestamp"] == creation {
                options.pods_ready_timestamp = PodsReadyTimestamp::Creation;
            }
            if !ordering.is_null() {
                break;
            }
        }
        options.admission_fair_sharing = fair_sharing(case);
        options.tracked_labels = tracked(&case.input["labels"]);
        let weights = each::<LocalQueue>(&case.input["lqs"]).into_iter();
        Self {
            queue: PendingQueue::new(Strategy::BestEffortFifo),
            options,
            fair: false,
            ledger: Ledger::default(),
            weights: weights
                .map(|queue| (door(&queue), weight(&queue)))
                .collect(),
        }
    }

    /// Does what one call asks for, and compares its answer.
    pub(super) fn answer(&mut self, operation: &Value) -> Result<(), String> {
        let name = operation["op"].as_str().unwrap_or_default();
        let (got, in_order) = self.call(name, &operation["args"]);
        let want = &operation["ret"];
        if got == *want || (!in_order && sorted(&got) == sorted(want)) {
            Ok(())
        } else {
            Err(format!(
                "{name} {}\n  decided:  {got}\n  expected: {want}",
                operation["args"]
            ))
        }
    }

    fn call(&mut self, name: &str, args: &Value) -> (Value, bool) {
        let answer = match name {
            "ClusterQueue.Update" => self.update(&parse(&args["apiCQ"])),
            "AfsUsageLedger.SetForTest" => self.set_usage(args),
            "ClusterQueue.PushOrUpdate" => {
                let waiting = self.waiting(&args["wInfo"]);
                self.queue.push_or_update(waiting, now());
                Value::Null
            }
            "ClusterQueue.RequeueIfNotPresent" => {
                let requeued = self.requeue(args, false);
                json!(requeued)
            }
            "ClusterQueue.Delete" => {
                self.queue.remove(&key(&args["wlKey"]));
                Value::Null
            }
            "ClusterQueue.Pop" => {
                let popped =
                    self.with_order(|queue, order| queue.pop(order).map(|head| head.key().clone()));
                popped.map_or(Value::Null, |key| json!(key.to_string()))
            }
            "ClusterQueue.Snapshot" => {
                let all = self.with_order(|queue, order| {
                    texts(queue.in_order(order).into_iter().map(Waiting::key))
                });
                return (json!(all), true);
            }
            "ClusterQueue.Dump" => dump(self.queue.active()),
            "ClusterQueue.DumpInadmissible" => dump(self.queue.parked()),
            "ClusterQueue.AddFromLocalQueue" => self.join(&args["q"]),
            "ClusterQueue.DeleteFromLocalQueue" => {
                for item in items(&args["q"]) {
                    let workload: Workload = parse(&item["obj"]);
                    self.queue.remove(&world::key(&workload));
                }
                Value::Null
            }
            other => self.ask(other, args),
        };
        (answer, name == "ClusterQueue.Pop")
    }

    /// Questions that change nothing.
    fn ask(&self, name: &str, args: &Value) -> Value {
        let (pending, shapes) = (self.queue.pending(), self.queue.shapes());
        match name {
            "ClusterQueue.PendingTotal" => json!(self.queue.len()),
            "ClusterQueue.Pending" => json!([pending.active, pending.parked]),
            "ClusterQueue.PendingSchedulingHashes" => json!([shapes.active, shapes.parked]),
            "ClusterQueue.PendingInLocalQueue" => {
                let (namespace, name) = split(&args["lqRef"]);
                let of = self.queue.pending_of(&LocalQueueKey::new(namespace, name));
                json!([of.active, of.parked])
            }
            "ClusterQueue.PendingBreakdown" => Value::Null,
            "ClusterQueue.Info" => {
                let key = key(&args["key"]);
                match self.queue.place(&key) {
                    Some(Place::Active) => json!(key.to_string()),
                    _ => Value::Null,
                }
            }
            "ClusterQueue.IsPreemptor" => {
                let workload: Workload = parse(&args["wInfo"]["obj"]);
                let generation = workload.metadata.generation.unwrap_or_default();
                json!(self.queue.preempts(&world::key(&workload), generation) != Preemptor::No)
            }
            "ClusterQueue.GetNoFitReason" => {
                let reason = self.queue.no_fit_reason(&key(&args["wl"]));
                let text = reason.map(messages::pending_reason).unwrap_or_default();
                json!([text, reason.is_some()])
            }
            other => panic!("{other} is not known"),
        }
    }

    fn update(&mut self, object: &ClusterQueue) -> Value {
        self.queue
            .set_strategy(match object.spec.queueing_strategy() {
                QueueingStrategy::StrictFIFO => Strategy::StrictFifo,
                QueueingStrategy::BestEffortFIFO => Strategy::BestEffortFifo,
            });
        let mode = object
            .spec
            .admission_scope
            .as_ref()
            .map(|scope| scope.admission_mode);
        self.fair = mode == Some(AdmissionMode::UsageBasedAdmissionFairSharing);
        Value::Null
    }

    fn set_usage(&mut self, args: &Value) -> Value {
        let (namespace, name) = split(&args["lqKey"]);
        let at = read::<Option<kueue_api::Time>>(&args["lastUpdate"]).map_or_else(now, |at| at.0);
        let consumed = quantities(&args["resources"]);
        self.ledger
            .set(&LocalQueueKey::new(namespace, name), consumed, at);
        Value::Null
    }

    fn join(&mut self, queue: &Value) -> Value {
        let mut joined = false;
        for item in items(queue) {
            let waiting = self.waiting(item);
            joined |= self.queue.push_if_absent(waiting);
        }
        json!(joined)
    }

    /// A workload as the reference's record of it says.
    pub(super) fn waiting(&self, info: &Value) -> Waiting {
        let object: Workload = parse(&info["obj"]);
        let mut waiting = Waiting::of(&object, &self.options, &Surroundings::default());
        let evaluated = info["lastEvaluatedGeneration"].as_i64();
        waiting.evaluated = evaluated.filter(|generation| *generation != 0);
        waiting.shape = shape(info["schedulingHash"].as_str().unwrap_or_default());
        let tried: Vec<BTreeMap<String, i64>> = read(&info["lastAssignment"]["lastTriedFlavorIdx"]);
        waiting.untried_flavors = tried
            .iter()
            .flat_map(BTreeMap::values)
            .any(|index| *index != -1);
        waiting
    }

    /// Puts a workload back. Returns whether that was needed.
    pub(super) fn requeue(&mut self, args: &Value, changed: bool) -> bool {
        let requeue = Requeue {
            waiting: self.waiting(&args["wInfo"]),
            reason: reason(args["reason"].as_str().unwrap_or_default()),
            told: told(args["quotaReservedReason"].as_str().unwrap_or_default()),
            changed,
        };
        self.queue.requeue(requeue, now()).place.is_some()
    }

    fn with_order<T>(&mut self, ask: impl FnOnce(&mut PendingQueue, Order<'_>) -> T) -> T {
        let Some(rules) = self
            .options
            .admission_fair_sharing
            .as_ref()
            .filter(|_| self.fair)
        else {
            return ask(&mut self.queue, Order::Plain);
        };
        let (ledger, weights) = (&self.ledger, &self.weights);
        let usage = |door: &LocalQueueKey| {
            let weight = weights.get(door).copied().unwrap_or(1.0);
            ledger.weighed(door, weight, rules)
        };
        ask(&mut self.queue, Order::ByUsage(&usage))
    }
}

/// The rules of admission fair sharing of a case. Where a test's body sets the ledger without saying its rules, each resource counts one.
pub(super) fn fair_sharing(case: &Case<'_>) -> Option<AdmissionFairSharing> {
    let places = [
        &case.input["afsConfig"],
        &case.input["setup"]["afsConfig"],
        &case.common["afsConfig"],
    ];
    let found = places.into_iter().find(|place| !place.is_null());
    let used = || {
        operations(case)
            .iter()
            .any(|call| call["op"] == "AfsUsageLedger.SetForTest")
    };
    let rules = found.map(|found| AdmissionFairSharing {
        half_life: duration(&found["usageHalfLifeTime"]),
        sampling_interval: duration(&found["usageSamplingInterval"]),
        weights: read::<BTreeMap<String, f64>>(&found["resourceWeights"])
            .into_iter()
            .map(|(name, weight)| (name.as_str().into(), weight))
            .collect(),
    });
    rules.or_else(|| used().then(AdmissionFairSharing::default))
}

fn duration(value: &Value) -> Duration {
    let text = value.as_str().unwrap_or("0s");
    let span: jiff::SignedDuration = text
        .parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    Duration::try_from(span).unwrap()
}

pub(super) fn quantities(value: &Value) -> Quantities {
    let all: BTreeMap<String, kueue_api::Quantity> = read(value);
    let one = |(name, text): (String, kueue_api::Quantity)| {
        (name.as_str().into(), text.0.parse().unwrap())
    };
    all.into_iter().map(one).collect()
}

fn tracked(labels: &Value) -> Vec<TrackedLabel> {
    let all: Vec<Value> = read(labels);
    let of_workloads = all.iter().filter(|label| label["sourceKind"] == "Workload");
    of_workloads
        .map(|label| TrackedLabel {
            key: label["sourceLabelKey"]
                .as_str()
                .or(label["sourceAnnotationKey"].as_str())
                .unwrap_or_default()
                .to_owned(),
            annotation: label["sourceAnnotationKey"].is_string(),
            values: read(&label["trackedValues"]),
        })
        .collect()
}

/// The opaque hash of a case as a number; none where the reference does not know it.
pub(super) fn shape(hash: &str) -> Option<u64> {
    if matches!(hash, "" | "unknown") {
        return None;
    }
    let mut hasher = DefaultHasher::new();
    hash.hash(&mut hasher);
    Some(hasher.finish())
}

pub(super) fn reason(text: &str) -> RequeueReason {
    match text {
        "" => RequeueReason::Generic,
        "FailedAfterNomination" => RequeueReason::FailedAfterNomination,
        "NamespaceMismatch" => RequeueReason::NamespaceMismatch,
        "PreemptionGated" => RequeueReason::PreemptionGated,
        "PendingPreemption" => RequeueReason::PendingPreemption,
        "PendingMigration" => RequeueReason::PendingMigration,
        "PreemptionFailed" => RequeueReason::PreemptionFailed,
        "NoFit" => RequeueReason::NoFit,
        "PreemptionNoCandidates" => RequeueReason::PreemptionNoCandidates,
        other => panic!("{other} is no reason"),
    }
}

fn told(text: &str) -> Option<PendingReason> {
    let all = [
        PendingReason::NoFit(NoFitReason::TopologyPlacementFailed),
        PendingReason::NoFit(NoFitReason::WaitingForQuota),
        PendingReason::NoFit(NoFitReason::ExceedsMaxQuota),
        PendingReason::NoFit(NoFitReason::NoMatchingFlavor),
        PendingReason::Misconfigured,
        PendingReason::Suspended,
        PendingReason::PendingEvaluation,
        PendingReason::AdmissionGated,
        PendingReason::WaitingForPreemptedWorkloads,
        PendingReason::WaitingForPodsReady,
    ];
    let named = |reason: &PendingReason| messages::pending_reason(*reason) == text;
    all.into_iter().find(named)
}

pub(super) fn door(queue: &LocalQueue) -> LocalQueueKey {
    let namespace = queue.metadata.namespace.as_deref().unwrap_or_default();
    LocalQueueKey::new(namespace, queue.name())
}

fn weight(queue: &LocalQueue) -> f64 {
    let weight = queue
        .spec
        .fair_sharing
        .as_ref()
        .and_then(|fair| fair.weight.as_ref());
    let parsed = weight.map(|weight| weight.0.parse::<quantity::Quantity>().unwrap());
    parsed.map_or(1.0, quantity::Quantity::approximate)
}

pub(super) fn split(value: &Value) -> (&str, &str) {
    let text = value.as_str().unwrap_or_default();
    text.split_once('/').unwrap_or(("", text))
}

pub(super) fn key(value: &Value) -> WorkloadKey {
    let (namespace, name) = split(value);
    WorkloadKey::new(namespace, name)
}

fn items(queue: &Value) -> Vec<&Value> {
    queue["items"]
        .as_object()
        .into_iter()
        .flat_map(|all| all.values())
        .collect()
}

fn texts<'a>(keys: impl Iterator<Item = &'a WorkloadKey>) -> Vec<String> {
    keys.map(ToString::to_string).collect()
}

/// The keys, and whether there are any.
fn dump<'a>(keys: impl Iterator<Item = &'a WorkloadKey>) -> Value {
    let all = texts(keys);
    let any = !all.is_empty();
    json!([all, any])
}

/// Lists without their order; what is empty equals what is absent.
pub(super) fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(all) => {
            let all: BTreeSet<String> = all.iter().map(|one| sorted(one).to_string()).collect();
            json!(all)
        }
        Value::Object(all) => {
            let all = all.iter().map(|(key, one)| (key.clone(), sorted(one)));
            Value::Object(all.collect())
        }
        Value::Null => json!([]),
        other => other.clone(),
    }
}

/// A record of a workload that nobody wrote down.
pub(super) fn made(named: &str, hash: &str) -> Value {
    json!({"obj": {"metadata": {"namespace": "default", "name": named}, "spec": {"podSets": []}}, "schedulingHash": hash})
}

/// Where a workload is.
pub(super) fn place(replay: &Replay, workload: &Arc<scheduler::Workload>) -> Option<Place> {
    replay.queue.place(&workload.key)
}
