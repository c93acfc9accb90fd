//! Each difference between the versions, both ways.

use serde_json::{Value, json};

use super::{ConversionError, Version, convert};

fn at(version: &str, kind: &str, rest: &Value) -> Value {
    let mut object = json!({"apiVersion": format!("kueue.x-k8s.io/{version}"), "kind": kind, "metadata": {"name": "x"}});
    for (name, value) in rest.as_object().unwrap() {
        object[name] = value.clone();
    }
    object
}

/// Converts in one direction and expects this.
fn one_way(kind: &str, (from, before): (&str, Value), (to, after): (Version, Value)) {
    let mut object = at(from, kind, &before);
    convert(&mut object, to).unwrap();
    assert_eq!(object, at(to.as_str(), kind, &after), "{kind} from {from}");
}

/// Converts in both directions.
fn both_ways(kind: &str, old: &Value, new: &Value) {
    one_way(
        kind,
        ("v1beta1", old.clone()),
        (Version::V1Beta2, new.clone()),
    );
    one_way(
        kind,
        ("v1beta2", new.clone()),
        (Version::V1Beta1, old.clone()),
    );
}

#[test]
fn cluster_queues() {
    both_ways(
        "ClusterQueue",
        &json!({"spec": {"namespaceSelector": {}, "cohort": "c"}, "status": {"pendingWorkloads": 1}}),
        &json!({"spec": {"namespaceSelector": {}, "cohortName": "c"}, "status": {"pendingWorkloads": 1}}),
    );
    one_way(
        "ClusterQueue",
        (
            "v1beta1",
            json!({
                "spec": {
                    "admissionChecks": ["a", "b"],
                    "admissionChecksStrategy": {"admissionChecks": [{"name": "z", "onFlavors": ["f"]}]},
                    "flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"},
                },
                "status": {"pendingWorkloadsStatus": {"clusterQueuePendingWorkload": []}},
            }),
        ),
        (
            Version::V1Beta2,
            json!({
                "spec": {
                    "admissionChecksStrategy": {"admissionChecks": [{"name": "a"}, {"name": "b"}]},
                    "flavorFungibility": {"whenCanBorrow": "MayStopSearch", "whenCanPreempt": "MayStopSearch"},
                },
                "status": {},
            }),
        ),
    );
    one_way(
        "ClusterQueue",
        (
            "v1beta2",
            json!({"spec": {"concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors"}}, "stopPolicy": "Hold"}}),
        ),
        (Version::V1Beta1, json!({"spec": {"stopPolicy": "Hold"}})),
    );
}

#[test]
fn local_queues() {
    let usage = json!([{"name": "f", "resources": [{"name": "cpu", "total": "1"}]}]);
    both_ways(
        "LocalQueue",
        &json!({"spec": {"clusterQueue": "cq"}, "status": {"flavorUsage": usage}}),
        &json!({"spec": {"clusterQueue": "cq"}, "status": {"flavorsUsage": usage}}),
    );
    one_way(
        "LocalQueue",
        ("v1beta1", json!({"status": {"flavors": [{"name": "f"}]}})),
        (Version::V1Beta2, json!({"status": {}})),
    );
}

#[test]
fn clusters_of_multikueue() {
    both_ways(
        "MultiKueueCluster",
        &json!({"spec": {"kubeConfig": {"location": "s", "locationType": "Secret"}}}),
        &json!({"spec": {"clusterSource": {"kubeConfig": {"location": "s", "locationType": "Secret"}}}}),
    );
    both_ways(
        "MultiKueueCluster",
        &json!({"spec": {"clusterProfileRef": {"name": "p"}}}),
        &json!({"spec": {"clusterSource": {"clusterProfileRef": {"name": "p"}}}}),
    );
}

#[test]
fn priority_classes_of_workloads() {
    for (source, group, kind) in super::workload::CLASSES {
        both_ways(
            "Workload",
            &json!({"spec": {"priority": 7, "priorityClassName": "high", "priorityClassSource": source}}),
            &json!({"spec": {"priority": 7, "priorityClassRef": {"group": group, "kind": kind, "name": "high"}}}),
        );
    }
    for source in ["", "somebody.else/class"] {
        one_way(
            "Workload",
            (
                "v1beta1",
                json!({"spec": {"priorityClassName": "high", "priorityClassSource": source}}),
            ),
            (Version::V1Beta2, json!({"spec": {}})),
        );
    }
}

#[test]
fn other_fields_of_workloads() {
    both_ways(
        "Workload",
        &json!({"spec": {}, "status": {"accumulatedPastExexcutionTimeSeconds": 30}}),
        &json!({"spec": {}, "status": {"accumulatedPastExecutionTimeSeconds": 30}}),
    );
    one_way(
        "Workload",
        (
            "v1beta2",
            json!({
                "spec": {
                    "preemptionGates": [{"name": "g"}],
                    "podSets": [{"name": "main", "topologyRequest": {"required": "rack", "podsetSliceRequiredTopologyConstraints": []}}],
                },
                "status": {"preemptionGates": []},
            }),
        ),
        (
            Version::V1Beta1,
            json!({"spec": {"podSets": [{"name": "main", "topologyRequest": {"required": "rack"}}]}, "status": {}}),
        ),
    );
}

/// A Workload with one set that was placed.
fn placed(placement: &Value) -> Value {
    json!({"status": {"admission": {"podSetAssignments": [{"name": "main", "topologyAssignment": placement}]}}})
}

#[test]
fn placements() {
    let hosts = ["pool-a1-node", "pool-a2-node", "pool-b7-node"];
    let domains = |levels: &[&str], rows: &[(&[&str], i32)]| {
        let rows = rows
            .iter()
            .map(|(values, count)| json!({"values": values, "count": count}));
        placed(&json!({"levels": levels, "domains": rows.collect::<Vec<_>>()}))
    };
    let slices =
        |levels: &[&str], slice: Value| placed(&json!({"levels": levels, "slices": [slice]}));
    both_ways(
        "Workload",
        &domains(
            &["host"],
            &[(&hosts[0..1], 1), (&hosts[1..2], 2), (&hosts[2..3], 1)],
        ),
        &slices(
            &["host"],
            json!({
                "domainCount": 3,
                "valuesPerLevel": [{"individual": {"roots": ["a1", "a2", "b7"], "prefix": "pool-", "suffix": "-node"}}],
                "podCounts": {"individual": [1, 2, 1]},
            }),
        ),
    );
    both_ways(
        "Workload",
        &domains(&["rack", "host"], &[(&["r", "h1"], 4), (&["r", "h2"], 4)]),
        &slices(
            &["rack", "host"],
            json!({
                "domainCount": 2,
                "valuesPerLevel": [{"universal": "r"}, {"individual": {"roots": ["1", "2"], "prefix": "h"}}],
                "podCounts": {"universal": 4},
            }),
        ),
    );
    // One value begins and ends with another.
    both_ways(
        "Workload",
        &domains(&["host"], &[(&["aa"], 1), (&["aaa"], 1)]),
        &slices(
            &["host"],
            json!({
                "domainCount": 2,
                "valuesPerLevel": [{"individual": {"roots": ["", "a"], "prefix": "aa"}}],
                "podCounts": {"universal": 1},
            }),
        ),
    );
}

#[test]
fn several_slices_become_one_list() {
    let slice = |host: &str, count: i32| json!({"domainCount": 1, "valuesPerLevel": [{"universal": host}], "podCounts": {"universal": count}});
    one_way(
        "Workload",
        (
            "v1beta2",
            placed(&json!({"levels": ["host"], "slices": [slice("x", 1), slice("y", 2)]})),
        ),
        (
            Version::V1Beta1,
            placed(
                &json!({"levels": ["host"], "domains": [{"values": ["x"], "count": 1}, {"values": ["y"], "count": 2}]}),
            ),
        ),
    );
}

#[test]
fn what_cannot_be_converted_is_named() {
    let torn = placed(
        &json!({"levels": ["host"], "slices": [{"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["x"]}}], "podCounts": {"universal": 1}}]}),
    );
    let error = convert(&mut at("v1beta2", "Workload", &torn), Version::V1Beta1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "topologyAssignment: a level has fewer values than domains"
    );
    let crooked =
        placed(&json!({"levels": ["rack", "host"], "domains": [{"values": ["x"], "count": 1}]}));
    assert!(convert(&mut at("v1beta1", "Workload", &crooked), Version::V1Beta2).is_err());
    let refused = |mut object: Value| convert(&mut object, Version::V1Beta2).unwrap_err();
    assert_eq!(refused(json!([])), ConversionError::Shape);
    assert_eq!(refused(json!({"kind": "Workload"})), ConversionError::Shape);
    assert_eq!(
        refused(at("v1alpha1", "Workload", &json!({}))),
        ConversionError::Version("kueue.x-k8s.io/v1alpha1".to_owned())
    );
    assert_eq!(
        refused(at("v1beta1", "Topology", &json!({}))),
        ConversionError::Kind("Topology".to_owned())
    );
}

#[test]
fn lists_are_converted_whole() {
    let mut list = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueueList",
        "items": [at("v1beta1", "ClusterQueue", &json!({"spec": {"cohort": "c"}}))],
    });
    convert(&mut list, Version::V1Beta2).unwrap();
    assert_eq!(list["apiVersion"], "kueue.x-k8s.io/v1beta2");
    assert_eq!(list["items"][0]["spec"]["cohortName"], "c");
}

/// Whatever the wire types hold survives the way down and up again, but for what the older version cannot say.
#[test]
fn a_round_trip_keeps_everything_the_older_version_knows() {
    let workload = at(
        "v1beta2",
        "Workload",
        &json!({
            "spec": {
                "active": true, "queueName": "lq", "priority": 3,
                "priorityClassRef": {"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "p"},
                "podSets": [{"name": "main", "count": 2, "minCount": 1, "template": {"spec": {"containers": [{"name": "c"}]}}}],
            },
            "status": {
                "conditions": [{"type": "Admitted", "status": "True", "reason": "Admitted", "message": "", "lastTransitionTime": "2026-11-30T20:00:00Z"}],
                "requeueState": {"count": 2}, "reclaimablePods": [{"name": "main", "count": 1}],
                "schedulingStats": {"evictions": []}, "unhealthyNodes": [{"name": "n"}],
            },
        }),
    );
    let mut converted = workload.clone();
    convert(&mut converted, Version::V1Beta1).unwrap();
    assert_ne!(converted, workload);
    convert(&mut converted, Version::V1Beta2).unwrap();
    assert_eq!(converted, workload);
}
