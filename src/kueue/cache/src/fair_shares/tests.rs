use std::time::Duration;

use jiff::SignedDuration;
use scheduler::{AdmissionFairSharing, LocalQueueKey};
use serde_json::{Value, json};

use crate::Options;
use crate::tests::fixture::{World, key, object, workload};

fn fair_world() -> World {
    let rules = AdmissionFairSharing {
        half_life: Duration::from_secs(10),
        sampling_interval: Duration::from_secs(10),
        ..AdmissionFairSharing::default()
    };
    let options = Options {
        admission_fair_sharing: Some(rules),
        ..Options::default()
    };
    let fair = json!({"admissionScope": {"admissionMode": "UsageBasedAdmissionFairSharing"}});
    let mut world = World::with(options).queue("a", "4", &fair);
    door(&mut world, "one", &json!({}));
    door(&mut world, "two", &json!({}));
    world
}

/// A LocalQueue that leads to `a`, with what its status says it has consumed.
fn door(world: &mut World, name: &str, consumed: &Value) {
    weighted_door(world, name, consumed, "1");
}

fn weighted_door(world: &mut World, name: &str, consumed: &Value, weight: &str) {
    let _ = world.cache.apply_local_queue(
        &object(json!({
            "metadata": {"name": name, "namespace": "ns"},
            "spec": {"clusterQueue": "a", "fairSharing": {"weight": weight}},
            "status": {"fairSharing": {"weightedShare": 0, "admissionFairSharingStatus": {"consumedResources": consumed}}},
        })),
        world.now,
    );
}

fn usage(world: &World, name: &str) -> f64 {
    let door = LocalQueueKey::new("ns", name);
    world.cache.past_usage(&door).unwrap()
}

#[track_caller]
fn close(left: f64, right: f64) {
    assert!((left - right).abs() < 1e-6, "{left}, expected {right}");
}

#[test]
fn whoever_used_less_goes_first_whatever_its_priority() {
    let mut world = fair_world();
    world.cache.set_past_usage(
        &LocalQueueKey::new("ns", "one"),
        &[("cpu".to_owned(), kueue_api::Quantity("3".to_owned()))].into(),
        world.now,
    );
    let mut urgent = workload("urgent", "one", "4", 1);
    urgent.spec.priority = Some(9);
    world.submit(urgent);
    world.submit(workload("humble", "two", "4", 2));
    let order = world.cache.pending_workloads(&"a".into()).unwrap();
    assert_eq!(order[0].key, key("humble"));
    weighted_door(&mut world, "one", &json!({}), "0");
    assert_eq!(world.cycle(), ["humble"]);
}

#[test]
fn many_heads_in_a_row_are_charged_one_by_one() {
    let mut world = fair_world();
    for (name, queue, created) in [
        ("one-1", "one", 1),
        ("one-2", "one", 2),
        ("two-1", "two", 3),
        ("two-2", "two", 4),
    ] {
        world.submit(workload(name, queue, "1", created));
    }
    let admitted: Vec<_> = (0..4).flat_map(|_| world.cycle()).collect();
    assert_eq!(admitted, ["one-1", "two-1", "one-2", "two-2"]);
}

#[test]
fn usage_grows_while_pods_run_and_fades_afterwards() {
    let mut world = fair_world();
    world.submit(workload("w", "one", "4", 1));
    assert_eq!(world.cycle(), ["w"]);
    close(usage(&world, "one"), 2.0);
    let door = LocalQueueKey::new("ns", "one");
    let wait = |world: &mut World, seconds: i64| {
        world.now = world
            .now
            .checked_add(SignedDuration::from_secs(seconds))
            .unwrap();
        world.cache.sample_usage(&door, world.now).unwrap().again
    };
    assert_eq!(wait(&mut world, 4), Duration::from_secs(6), "not yet");
    assert_eq!(wait(&mut world, 6), Duration::from_secs(10));
    close(usage(&world, "one"), 3.0);
    world.finish("w");
    wait(&mut world, 10);
    close(usage(&world, "one"), 1.5);
    let status = world.cache.local_queue_status(&door, world.now).unwrap();
    let written = status.fair_sharing.unwrap().admission_fair_sharing_status;
    assert_eq!(
        json!(written.unwrap().consumed_resources),
        json!({"cpu": "1500m"})
    );
}

#[test]
fn who_is_refused_at_the_last_moment_pays_nothing() {
    let mut world = fair_world();
    world.submit(workload("w", "one", "4", 1));
    let (plan, _) = world.cache.begin_cycle(world.now).unwrap().run();
    let _ = world.cache.assume(&plan.admissions[0]).unwrap();
    close(usage(&world, "one"), 2.0);
    let _ = world.cache.forget(&key("w"), world.now);
    close(usage(&world, "one"), 0.0);
}

#[test]
fn who_leaves_before_it_began_pays_nothing() {
    let leave: [fn(&mut World); 3] = [
        |world| world.delete("w"),
        |world| world.finish("w"),
        |world| world.change("w", |object| object.spec.active = Some(false)),
    ];
    for leave in leave {
        let mut world = fair_world();
        world.submit(workload("w", "one", "4", 1));
        world.change("w", |object| {
            object.status = Some(self::object(json!({"admissionChecks": [
                {"name": "budget", "state": "Pending", "message": "", "lastTransitionTime": "2027-01-15T08:00:00Z"},
            ]})));
        });
        assert_eq!(world.cycle(), ["w"]);
        close(usage(&world, "one"), 2.0);
        world.evict("w", "AdmissionCheck");
        close(usage(&world, "one"), 2.0);
        leave(&mut world);
        close(usage(&world, "one"), 0.0);
    }
}

#[test]
fn what_was_written_down_is_taken_over_once() {
    let mut world = fair_world();
    door(&mut world, "three", &json!({"cpu": "3"}));
    close(usage(&world, "three"), 3.0);
    door(&mut world, "three", &json!({"cpu": "9"}));
    close(usage(&world, "three"), 3.0);
    let _ = world
        .cache
        .delete_local_queue(&LocalQueueKey::new("ns", "three"), world.now);
    close(usage(&world, "three"), 0.0);
}
