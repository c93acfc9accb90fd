//! What is read is written again, nothing more and nothing less.

use kueue_api::v1beta2::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::corpus::table;

fn round_trip<T: DeserializeOwned + Serialize>(written: &Value) -> Value {
    let read: T = serde_json::from_value(written.clone())
        .unwrap_or_else(|error| panic!("{error}: {written}"));
    serde_json::to_value(read).unwrap()
}

fn object(kind: &str, fields: &Value) -> Value {
    let mut object =
        json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": "x"}});
    object
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    object
}

#[test]
fn objects_with_every_field_survive() {
    let quota = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": [
        {"name": "cpu", "nominalQuota": "1500m", "borrowingLimit": "0", "lendingLimit": "1"}]}]}]);
    let conditions = json!([{"type": "Active", "status": "True", "reason": "Ready", "message": "m", "observedGeneration": 3,
        "lastTransitionTime": "2026-08-22T12:00:00Z"}]);
    let usage =
        json!([{"name": "f", "resources": [{"name": "cpu", "total": "1", "borrowed": "0"}]}]);
    let queue = object(
        "ClusterQueue",
        &json!({
        "spec": {"resourceGroups": quota, "cohortName": "c", "queueingStrategy": "StrictFIFO", "namespaceSelector": {},
            "flavorFungibility": {"whenCanBorrow": "TryNextFlavor", "whenCanPreempt": "TryNextFlavor", "preference": "PreemptionOverBorrowing"},
            "preemption": {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 5},
                "withinClusterQueue": "LowerOrNewerEqualPriority"},
            "admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["f"]}]}, "stopPolicy": "HoldAndDrain",
            "fairSharing": {"weight": "2"}, "admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"},
            "concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors", "constraints": {"lastAcceptableFlavorName": "f"}}}},
        "status": {"conditions": conditions, "flavorsReservation": usage, "flavorsUsage": usage, "pendingWorkloads": 1,
            "reservingWorkloads": 2, "admittedWorkloads": 3, "fairSharing": {"weightedShare": 9}}}),
    );
    assert_eq!(round_trip::<ClusterQueue>(&queue), queue);
    let class = object(
        "WorkloadPriorityClass",
        &json!({"value": 0, "description": "d"}),
    );
    assert_eq!(round_trip::<WorkloadPriorityClass>(&class), class);
    let topology = object(
        "Topology",
        &json!({"spec": {"levels": [{"nodeLabel": "a/b"}]}}),
    );
    assert_eq!(round_trip::<Topology>(&topology), topology);
    let check = object(
        "AdmissionCheck",
        &json!({"spec": {"controllerName": "c", "parameters": {"apiGroup": "g", "kind": "k", "name": "n"}},
        "status": {"conditions": conditions}}),
    );
    assert_eq!(round_trip::<AdmissionCheck>(&check), check);
    let cluster = object(
        "MultiKueueCluster",
        &json!({"spec": {"clusterSource": {"kubeConfig": {"location": "s", "locationType": "Secret"}}}}),
    );
    assert_eq!(round_trip::<MultiKueueCluster>(&cluster), cluster);
    let workload = object(
        "Workload",
        &json!({"spec": {"podSets": [{"name": "main", "count": 2, "minCount": 1,
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
            "topologyRequest": {"required": "r", "podSetGroupName": "g", "podSetSliceSize": 1,
                "podsetSliceRequiredTopologyConstraints": [{"topology": "t", "size": 2}]}}],
            "queueName": "q", "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"}, "priority": 7,
            "active": false, "maximumExecutionTimeSeconds": 60, "preemptionGates": [{"name": "g"}]},
        "status": {"schedulingStats": {"evictions": [{"reason": "Preempted", "underlyingCause": "", "count": 1}]},
            "admission": {"clusterQueue": "cq", "podSetAssignments": [{"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "2"}, "count": 2,
                "topologyAssignment": {"levels": ["l"], "slices": [{"domainCount": 1,
                    "valuesPerLevel": [{"individual": {"prefix": "p", "suffix": "s", "roots": ["r"]}}], "podCounts": {"individual": [2]}}]}}]},
            "requeueState": {"count": 1, "requeueAt": "2026-08-22T12:00:00Z"}, "clusterName": "w1", "unhealthyNodes": [{"name": "n"}],
            "accumulatedPastExecutionTimeSeconds": 4}}),
    );
    assert_eq!(round_trip::<Workload>(&workload), workload);
}

#[test]
fn empty_objects_say_their_kind_and_nothing_else() {
    let bare = serde_json::to_value(LocalQueue::named("x")).unwrap();
    assert_eq!(bare, object("LocalQueue", &json!({"spec": {}})));
    let text = serde_json::from_value::<ClusterQueue>(json!({"spec": {"stopPolicy": "Maybe"}}))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("unknown variant `Maybe`, expected one of `None`, `Hold`, `HoldAndDrain`"),
        "{text}"
    );
}

/// Every Kueue object of the reference's scheduler cases comes back as it went in.
#[test]
fn objects_of_the_corpus_survive() {
    let mut objects = 0;
    for file in [
        "pkg-scheduler/TestSchedule.json",
        "pkg-scheduler/TestScheduleForTAS.json",
    ] {
        let Some(table) = table(file) else { return };
        for (name, input, want) in table.cases() {
            each_object(input, &mut |kind, written| {
                objects += survives(file, name, kind, written);
            });
            each_object(want, &mut |kind, written| {
                objects += survives(file, name, kind, written);
            });
        }
    }
    assert!(objects > 500, "only {objects} objects");
}

fn survives(file: &str, name: &str, kind: &str, written: &Value) -> usize {
    let read = match kind {
        "ClusterQueue" => round_trip::<ClusterQueue>(written),
        "Cohort" => round_trip::<Cohort>(written),
        "LocalQueue" => round_trip::<LocalQueue>(written),
        "ResourceFlavor" => round_trip::<ResourceFlavor>(written),
        "Workload" => round_trip::<Workload>(written),
        "Topology" => round_trip::<Topology>(written),
        "AdmissionCheck" => round_trip::<AdmissionCheck>(written),
        _ => return 0,
    };
    assert_eq!(lean(&read), lean(written), "{file}: {name}");
    1
}

/// Empty values and zeros are dropped in the corpus, and a pod template's defaults are the machinery's business.
fn lean(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), lean(value)));
            Value::Object(fields.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(lean).collect()),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => {
            text.is_empty() || text == "1970-01-01T00:00:00Z" || text == "0001-01-01T00:00:00Z"
        }
        Value::Number(number) => number.as_i64() == Some(0),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) => false,
    }
}

fn each_object(value: &Value, found: &mut impl FnMut(&str, &Value)) {
    if let (Some("kueue.x-k8s.io/v1beta2"), Some(kind)) =
        (value["apiVersion"].as_str(), value["kind"].as_str())
    {
        found(kind, value);
        return;
    }
    match value {
        Value::Object(fields) => fields.values().for_each(|value| each_object(value, found)),
        Value::Array(items) => items.iter().for_each(|value| each_object(value, found)),
        _ => {}
    }
}
