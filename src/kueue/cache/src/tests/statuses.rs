use expect_test::{Expect, expect};
use kueue_api::conditions;
use serde_json::{Value, json};

use super::fixture::{World, cluster_queue, local_queue, object, second, workload};
use scheduler::messages;

use crate::{ClusterQueueName, LocalQueueKey, WorkloadKey};

/// Status, reason and message of the condition Active.
fn active(conditions: &[kueue_api::Condition]) -> String {
    let found = conditions::find(conditions, "Active").unwrap();
    format!("{} {}: {}", found.status, found.reason, found.message)
}

fn of_queue(world: &World, name: &str) -> String {
    active(
        &world
            .cache
            .cluster_queue_status(&name.into(), world.now)
            .unwrap()
            .conditions,
    )
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "expectations are written in place"
)]
fn check(more: &Value, expected: Expect) {
    let world = World::new().queue("a", "4", more);
    expected.assert_eq(&of_queue(&world, "a"));
}

#[test]
fn cluster_queues_say_why_they_are_not_active() {
    check(&json!({}), expect!["True Ready: Can admit new workloads"]);
    check(
        &json!({"stopPolicy": "HoldAndDrain"}),
        expect!["False Stopped: Can't admit new workloads: is stopped."],
    );
    let other = json!([{"coveredResources": ["cpu"], "flavors": [
        {"name": "blue", "resources": [{"name": "cpu", "nominalQuota": "1"}]},
        {"name": "green", "resources": [{"name": "cpu", "nominalQuota": "1"}]},
    ]}]);
    check(
        &json!({"resourceGroups": other, "stopPolicy": "Hold"}),
        expect![
            "False Stopped: Can't admit new workloads: is stopped, references missing ResourceFlavor(s): blue,green."
        ],
    );
    let checks = json!({"admissionChecks": [{"name": "budget"}]});
    check(
        &json!({"admissionChecksStrategy": checks}),
        expect![
            "False AdmissionCheckNotFound: Can't admit new workloads: references missing AdmissionCheck(s): budget."
        ],
    );
    let broken = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "red", "resources": [{"name": "cpu", "nominalQuota": "many"}]}]}]);
    check(
        &json!({"resourceGroups": broken}),
        expect![[r#"
        False Unknown: Can't admit new workloads: cannot be read: spec.resourceGroups, flavor red, resource cpu, nominalQuota: "many" is not a quantity: expected digits such as 2, 0.5 or 1500, then a suffix such as m, k, Mi or e3."#]],
    );
}

#[test]
fn what_is_not_built_yet_is_said_and_never_faked() {
    let mut world = World::new().queue(
        "a",
        "4",
        &json!({"admissionChecksStrategy": {"admissionChecks": [{"name": "budget"}]}}),
    );
    let ready = json!({"conditions": [{"type": "Active", "status": "True", "reason": "Active", "message": ""}]});
    let _ = world.cache.apply_admission_check(&object(
        json!({"metadata": {"name": "budget"}, "spec": {"controllerName": "example.com/budget"}, "status": ready}),
    ));
    expect!["True Ready: Can admit new workloads"].assert_eq(&of_queue(&world, "a"));
    assert!(
        world.cache.unsupported(&"a".into()).is_empty(),
        "whoever answers the check is not our business"
    );
    let policies = json!({
        "preemption": {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
        "concurrentAdmissionPolicy": {"migration": {"mode": "TryPreferredFlavors"}},
    });
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("b", "4", &policies), world.now);
    let asked = world.cache.unsupported(&"b".into());
    expect!["concurrentAdmissionPolicy is not supported yet and has no effect"].assert_eq(
        &asked
            .iter()
            .map(messages::unsupported)
            .collect::<Vec<_>>()
            .join("\n"),
    );
}

#[test]
fn a_flavor_with_a_topology_needs_the_topology() {
    let mut world = World::new().queue("a", "4", &json!({}));
    let _ = world.cache.apply_resource_flavor(&object(
        json!({"metadata": {"name": "red"}, "spec": {"topologyName": "racks", "nodeLabels": {"a": "b"}}}),
    ));
    expect![[r#"False TopologyNotFound: Can't admit new workloads: there is no Topology "racks" for TAS flavor "red"."#]]
        .assert_eq(&of_queue(&world, "a"));
    world.submit(workload("w", "to-a", "1", 1));
    assert!(world.settle().is_empty());
    let _ = world.cache.apply_topology(&object(
        json!({"metadata": {"name": "racks"}, "spec": {"levels": [{"nodeLabel": "kubernetes.io/hostname"}]}}),
    ));
    expect!["True Ready: Can admit new workloads"].assert_eq(&of_queue(&world, "a"));
    assert!(world.settle().is_empty(), "there is no node");
    let node = json!({
        "metadata": {"name": "x", "labels": {"a": "b", "kubernetes.io/hostname": "x"}},
        "status": {"allocatable": {"cpu": "1", "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]},
    });
    let _ = world.cache.apply_node(&object(node));
    assert_eq!(world.settle(), ["w"]);
    world.submit(workload("v", "to-a", "1", 1));
    assert!(world.settle().is_empty(), "the node is full");
    let _ = world.cache.delete_workload(&WorkloadKey::new("ns", "w"));
    assert_eq!(world.settle(), ["v"]);
    world.checked();
}

#[test]
fn a_terminating_queue_admits_nothing_and_is_in_use_while_it_holds_quota() {
    let mut world = World::new().queue("a", "4", &json!({}));
    world.submit(workload("w", "to-a", "1", 1));
    assert_eq!(world.settle(), ["w"]);
    let mut leaving = cluster_queue("a", "4", &json!({}));
    leaving.metadata.deletion_timestamp = Some(kueue_api::Time(second(9)));
    let _ = world.cache.apply_cluster_queue(&leaving, world.now);
    assert_eq!(
        of_queue(&world, "a"),
        "False Terminating: Can't admit new workloads; clusterQueue is terminating"
    );
    assert!(world.cache.cluster_queue_in_use(&"a".into()));
    world.finish("w");
    assert!(!world.cache.cluster_queue_in_use(&"a".into()));
    assert!(world.cache.resource_flavor_in_use(&"red".into()));
    let _ = world.cache.delete_cluster_queue(&"a".into());
    assert!(!world.cache.resource_flavor_in_use(&"red".into()));
    world.checked();
}

#[test]
fn local_queues_follow_their_cluster_queue() {
    let mut world = World::new();
    let _ = world
        .cache
        .apply_local_queue(&local_queue("door", "a"), world.now);
    let key = LocalQueueKey::new("ns", "door");
    let of = |world: &World| {
        active(
            &world
                .cache
                .local_queue_status(&key, world.now)
                .unwrap()
                .conditions,
        )
    };
    assert_eq!(
        of(&world),
        "False ClusterQueueDoesNotExist: Can't submit new workloads to clusterQueue"
    );
    let affected = world.cache.apply_cluster_queue(
        &cluster_queue("a", "4", &json!({"stopPolicy": "Hold"})),
        world.now,
    );
    assert_eq!(
        of(&world),
        "False ClusterQueueIsInactive: Can't submit new workloads to clusterQueue"
    );
    assert!(
        affected
            .cluster_queues
            .contains(&ClusterQueueName::from("a"))
    );
    let affected = world
        .cache
        .apply_cluster_queue(&cluster_queue("a", "4", &json!({})), world.now);
    assert!(
        affected.local_queues.contains(&key),
        "its condition has changed"
    );
    assert_eq!(
        of(&world),
        "True Ready: Can submit new workloads to localQueue"
    );
    let mut stopped = local_queue("door", "a");
    stopped.spec.stop_policy = Some(kueue_api::v1beta2::StopPolicy::Hold);
    let _ = world.cache.apply_local_queue(&stopped, world.now);
    assert_eq!(of(&world), "False Stopped: LocalQueue is stopped");
}

#[test]
fn counts_and_usage_are_those_of_the_workloads() {
    let mut world = World::new().queue("a", "4", &json!({}));
    for (name, created) in [("first", 1), ("second", 2), ("third", 3)] {
        world.submit(workload(name, "to-a", "1500m", created));
    }
    let status = |world: &World| {
        world
            .cache
            .local_queue_status(&LocalQueueKey::new("ns", "to-a"), world.now)
            .unwrap()
    };
    let affected = world.cache.delete_workload(&super::fixture::key("nobody"));
    assert!(affected.cluster_queues.is_empty());
    let cycle = world.cache.begin_cycle(world.now).unwrap();
    assert_eq!(
        status(&world).pending_workloads,
        3,
        "the one being tried still waits"
    );
    let (plan, report) = cycle.run();
    let _ = world.cache.assume(&plan.admissions[0]).unwrap();
    let _ = world.cache.settle(&report, world.now);
    assert_eq!(
        (
            status(&world).pending_workloads,
            status(&world).reserving_workloads
        ),
        (2, 1)
    );
    world.settle();
    let status = status(&world);
    assert_eq!(
        (
            status.pending_workloads,
            status.reserving_workloads,
            status.admitted_workloads
        ),
        (1, 2, 2)
    );
    assert_eq!(
        json!(status.flavors_usage),
        json!([{"name": "red", "resources": [{"name": "cpu", "total": "3"}]}])
    );
    assert_eq!(
        world
            .cache
            .pending_resources(&"a".into())
            .get(&"cpu".into())
            .value(),
        1500
    );
    assert_eq!(
        world.cache.inadmissible(&"a".into()),
        [LocalQueueKey::new("ns", "to-a")]
    );
}

#[test]
fn a_condition_keeps_its_time_while_its_status_stays() {
    let mut world = World::new().queue("a", "4", &json!({}));
    let first = world
        .cache
        .cluster_queue_status(&"a".into(), second(10))
        .unwrap();
    let mut stored = cluster_queue("a", "4", &json!({}));
    stored.status = Some(first.clone());
    let _ = world.cache.apply_cluster_queue(&stored, second(11));
    assert_eq!(
        world
            .cache
            .cluster_queue_status(&"a".into(), second(12))
            .unwrap(),
        first
    );
    stored.spec.stop_policy = Some(kueue_api::v1beta2::StopPolicy::Hold);
    let _ = world.cache.apply_cluster_queue(&stored, second(13));
    let stopped = world
        .cache
        .cluster_queue_status(&"a".into(), second(14))
        .unwrap();
    assert_eq!(stopped.conditions[0].last_transition_time.0, second(14));
}

#[test]
fn a_status_write_gives_nobody_another_chance() {
    let mut world = World::new().queue("a", "1", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    world.settle();
    let mut stored = cluster_queue("a", "1", &json!({}));
    stored.status = world.cache.cluster_queue_status(&"a".into(), world.now);
    let affected = world.cache.apply_cluster_queue(&stored, world.now);
    assert!(!affected.wake);
    assert!(world.cache.begin_cycle(world.now).is_none());
}

#[test]
fn an_unchanged_answer_is_not_written_twice() {
    let mut world = World::new().queue("a", "1", &json!({}));
    world.submit(workload("w", "to-a", "2", 1));
    world.cycle();
    let _ = world
        .cache
        .apply_cluster_queue(&cluster_queue("a", "1500m", &json!({})), world.now);
    let (_, report) = world.cache.begin_cycle(world.now).unwrap().run();
    let settled = world.cache.settle(&report, world.now);
    assert_eq!(settled.patches.len(), 1, "the maximum is another one now");
    world.write(settled.patches[0].clone());
    let _ = world.cache.apply_cluster_queue(
        &cluster_queue(
            "a",
            "1500m",
            &json!({"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}}),
        ),
        world.now,
    );
    let (_, report) = world.cache.begin_cycle(world.now).unwrap().run();
    assert!(world.cache.settle(&report, world.now).patches.is_empty());
}

#[test]
fn requests_tell_the_pods_where_the_queue_counts_them() {
    let group = json!({"resourceGroups": [{
        "coveredResources": ["cpu", "pods"],
        "flavors": [{"name": "red", "resources": [
            {"name": "cpu", "nominalQuota": "1"}, {"name": "pods", "nominalQuota": "3"},
        ]}],
    }]});
    let mut world = World::new()
        .queue("counts", "1", &group)
        .queue("does-not", "1", &json!({}));
    for queue in ["counts", "does-not"] {
        let mut asking = workload(queue, &format!("to-{queue}"), "2", 1);
        asking.spec.pod_sets[0].count = 2;
        world.submit(asking);
    }
    world.settle();
    let told = |name: &str| {
        let status = world.objects[&super::fixture::key(name)]
            .status
            .as_ref()
            .unwrap();
        let resources = &status.resource_requests[0].resources;
        let told = resources
            .iter()
            .map(|(name, amount)| format!("{name} {}", amount.0));
        told.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told("counts"), "cpu 4, pods 2");
    assert_eq!(told("does-not"), "cpu 4");
}
