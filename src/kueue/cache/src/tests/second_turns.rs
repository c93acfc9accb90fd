//! Workloads that hold quota and get a second turn: for a place that had to wait, or for another one when a node failed.

use jiff::SignedDuration;
use kueue_api::conditions;
use kueue_api::v1beta2::{CheckState, UnhealthyNode};
use serde_json::{Value, json};

use super::fixture::{World, key, object, workload};
use crate::{Options, topology::decode};

fn node(name: &str, cpu: &str) -> k8s_openapi::api::core::v1::Node {
    object(json!({
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]},
    }))
}

/// Nodes `x` and `y` in a topology, and a ClusterQueue `a` of 8 cpu on them.
fn world(checks: &Value, options: Options) -> World {
    let mut world = World::with(options).queue("a", "8", checks);
    let _ = world.cache.apply_resource_flavor(&object(
        json!({"metadata": {"name": "red"}, "spec": {"topologyName": "hosts"}}),
    ));
    let _ = world.cache.apply_topology(&object(
        json!({"metadata": {"name": "hosts"}, "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}}),
    ));
    for name in ["x", "y"] {
        let _ = world.cache.apply_node(&node(name, "4"));
    }
    world
}

/// Where the pods of the workload go: `x=1`, or that nobody has said it.
fn place(world: &World, name: &str) -> String {
    let status = world.objects[&key(name)].status.clone().unwrap_or_default();
    let admitted = conditions::is_true(&status.conditions, "Admitted");
    let admission = status.admission.unwrap_or_default();
    let place = admission.pod_set_assignments[0]
        .topology_assignment
        .as_ref();
    let Some(place) = place.and_then(decode) else {
        return format!("nowhere yet, admitted: {admitted}");
    };
    let domains = place.domains.iter();
    let domains = domains.map(|domain| format!("{}={}", domain.values.join("/"), domain.count));
    format!(
        "{}, admitted: {admitted}",
        domains.collect::<Vec<_>>().join(" ")
    )
}

fn later(world: &mut World, seconds: i64) {
    world.now += SignedDuration::from_secs(seconds);
}

#[test]
fn a_place_waits_for_the_nodes_that_a_check_provisions() {
    let checks = json!({"admissionChecksStrategy": {"admissionChecks": [{"name": "nodes"}]}});
    let mut world = world(&checks, Options::default());
    let active = json!({"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]});
    let _ = world.cache.apply_admission_check(&object(json!({
        "metadata": {"name": "nodes"},
        "spec": {"controllerName": "kueue.x-k8s.io/provisioning-request"},
        "status": active,
    })));
    world.submit(workload("w", "to-a", "3", 1));
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "nowhere yet, admitted: false");
    world.change("w", |object| {
        let status = object.status.get_or_insert_default();
        status.admission_checks = vec![kueue_api::v1beta2::AdmissionCheckState {
            name: "nodes".to_owned(),
            state: CheckState::Ready,
            ..Default::default()
        }];
    });
    assert_eq!(world.cycle(), [""; 0], "its turn comes a second later");
    assert_eq!(
        world.cache.next_second_pass(),
        Some(world.now + SignedDuration::from_secs(1))
    );
    later(&mut world, 1);
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "x=1, admitted: true");
    assert_eq!(world.cache.next_second_pass(), None);
    assert_eq!(world.counts("a"), "active 0, parked 0, admitted 1");
}

/// A workload of 3 cpu on `x`, whose node then fails.
fn failed(options: Options) -> World {
    let mut world = world(&json!({}), options);
    world.submit(workload("w", "to-a", "3", 1));
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "x=1, admitted: true");
    let _ = world.cache.delete_node("x");
    world.change("w", |object| {
        let status = object.status.get_or_insert_default();
        status.unhealthy_nodes = vec![UnhealthyNode {
            name: "x".to_owned(),
        }];
    });
    world
}

#[test]
fn pods_of_a_failed_node_go_to_another_one() {
    let mut world = failed(Options::default());
    later(&mut world, 1);
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "y=1, admitted: true");
    let status = world.objects[&key("w")].status.clone().unwrap_or_default();
    assert_eq!(status.unhealthy_nodes, []);
    world.submit(workload("v", "to-a", "2", 2));
    assert_eq!(world.cycle(), [""; 0], "y has one cpu left, x is gone");
}

#[test]
fn without_another_node_it_is_tried_again_after_ever_longer_times() {
    let mut options = Options::default();
    options.features.tas_failed_node_replacement_fail_fast = false;
    let mut world = failed(options);
    let _ = world.cache.apply_node(&node("y", "1"));
    for wait in [1, 2, 4] {
        assert_eq!(
            world.cache.next_second_pass(),
            Some(world.now + SignedDuration::from_secs(wait))
        );
        later(&mut world, wait);
        let cycle = world.cache.begin_cycle(world.now).unwrap();
        let (plan, report) = cycle.run();
        assert_eq!(plan.admissions.len(), 0);
        let told = world.cache.settle(&report, world.now).events;
        let [(_, event)] = told.as_slice() else {
            panic!("one event, not {told:?}");
        };
        assert_eq!(event.reason, "SecondPassFailed");
    }
    assert_eq!(
        place(&world, "w"),
        "x=1, admitted: true",
        "it keeps what it has"
    );
    let _ = world.cache.apply_node(&node("y", "4"));
    later(&mut world, 8);
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "y=1, admitted: true");
}

#[test]
fn a_write_that_fails_leaves_the_old_place_and_another_turn() {
    let mut world = failed(Options::default());
    later(&mut world, 1);
    let cycle = world.cache.begin_cycle(world.now).unwrap();
    let (plan, report) = cycle.run();
    let _ = world.cache.assume(&plan.admissions[0]).unwrap();
    world.checked();
    let _ = world.cache.settle(&report, world.now);
    let _ = world.cache.forget(&key("w"), world.now);
    world.checked();
    assert_eq!(world.counts("a"), "active 0, parked 0, admitted 1");
    later(&mut world, 1);
    assert_eq!(world.cycle(), ["w"]);
    assert_eq!(place(&world, "w"), "y=1, admitted: true");
}

#[test]
fn what_is_deleted_gets_no_turn() {
    let mut world = failed(Options::default());
    world.delete("w");
    assert_eq!(world.cache.next_second_pass(), None);
    later(&mut world, 9);
    assert!(world.cache.begin_cycle(world.now).is_none());
    world.checked();
}
