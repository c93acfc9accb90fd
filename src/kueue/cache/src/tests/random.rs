//! Whatever happens in whatever order: nothing is booked twice, nobody is lost, and the end is the same as if it had come in order.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::fixture::{World, cluster_queue, key, local_queue, object, workload};

#[derive(Clone, Debug)]
enum Step {
    Submit(u8, u8, u8, u8),
    Delete(u8),
    Finish(u8),
    Evict(u8),
    Deactivate(u8),
    Move(u8, u8),
    Resize(u8, u8),
    Relabel(bool),
    Queue(u8, u8, u8),
    DropQueue(u8),
    Door(u8, u8, bool),
    DropDoor(u8),
    Flavor(bool),
    Cohort(u8, Option<u8>),
    DropCohort(u8),
    Cycle,
    LostWrite,
    Meanwhile(Box<Self>),
}

fn simple() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..8, 0_u8..3, 1_u8..5, 0_u8..3).prop_map(|(name, door, cpu, priority)| Step::Submit(name, door, cpu, priority)),
        1 => (0_u8..8).prop_map(Step::Delete),
        2 => (0_u8..8).prop_map(Step::Finish),
        1 => (0_u8..8).prop_map(Step::Evict),
        1 => (0_u8..8).prop_map(Step::Deactivate),
        1 => (0_u8..8, 0_u8..3).prop_map(|(name, door)| Step::Move(name, door)),
        1 => (0_u8..8, 1_u8..5).prop_map(|(name, pods)| Step::Resize(name, pods)),
        1 => any::<bool>().prop_map(Step::Relabel),
        3 => (0_u8..3, 0_u8..8, 0_u8..8).prop_map(|(name, cpu, kind)| Step::Queue(name, cpu, kind)),
        1 => (0_u8..3).prop_map(Step::DropQueue),
        3 => (0_u8..3, 0_u8..3, any::<bool>()).prop_map(|(name, target, stopped)| Step::Door(name, target, stopped)),
        1 => (0_u8..3).prop_map(Step::DropDoor),
        1 => any::<bool>().prop_map(Step::Flavor),
        1 => (0_u8..3, proptest::option::of(0_u8..3)).prop_map(|(name, parent)| Step::Cohort(name, parent)),
        1 => (0_u8..3).prop_map(Step::DropCohort),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => simple(),
        4 => Just(Step::Cycle),
        1 => Just(Step::LostWrite),
        2 => simple().prop_map(|step| Step::Meanwhile(Box::new(step))),
    ]
}

fn kind(number: u8) -> Value {
    let mut more =
        json!({"queueingStrategy": if number & 1 == 0 { "BestEffortFIFO" } else { "StrictFIFO" }});
    if number & 2 != 0 {
        more["cohortName"] = json!(format!("c{}", number % 3));
    }
    if number & 4 != 0 {
        more["namespaceSelector"] = json!({"matchLabels": {"team": "vision"}});
    }
    more
}

fn play(world: &mut World, step: &Step) {
    let named = |number: u8| format!("w{number}");
    let known = |world: &World, number: u8| world.objects.contains_key(&key(&named(number)));
    match step {
        Step::Submit(name, door, cpu, priority) => {
            let mut new = workload(
                &named(*name),
                &format!("d{door}"),
                &cpu.to_string(),
                i64::from(*name),
            );
            new.spec.priority = Some(i32::from(*priority));
            if !known(world, *name) {
                world.submit(new);
            }
        }
        Step::Delete(name) => world.delete(&named(*name)),
        Step::Finish(name) if known(world, *name) => world.finish(&named(*name)),
        Step::Evict(name) if known(world, *name) => world.evict(&named(*name), "Preempted"),
        Step::Deactivate(name) if known(world, *name) => {
            world.change(&named(*name), |object| object.spec.active = Some(false));
        }
        Step::Move(name, door) if pending(world, *name) => {
            world.change(&named(*name), |object| {
                object.spec.queue_name = Some(format!("d{door}"));
            });
        }
        Step::Resize(name, pods) if pending(world, *name) => {
            world.change(&named(*name), |object| {
                object.spec.pod_sets[0].count = i32::from(*pods);
            });
        }
        Step::Finish(_)
        | Step::Evict(_)
        | Step::Deactivate(_)
        | Step::Move(..)
        | Step::Resize(..) => {}
        Step::Cycle => drop(cycle(world, None, false)),
        Step::LostWrite => drop(cycle(world, None, true)),
        Step::Meanwhile(step) => drop(cycle(world, Some(step), false)),
        about_queues => play_queues(world, about_queues),
    }
}

fn play_queues(world: &mut World, step: &Step) {
    match step {
        Step::Relabel(vision) => {
            let team = if *vision { "vision" } else { "language" };
            let _ = world.cache.apply_namespace(&object(
                json!({"metadata": {"name": "ns", "labels": {"team": team}}}),
            ));
        }
        Step::Queue(name, cpu, number) => {
            let _ = world.cache.apply_cluster_queue(
                &cluster_queue(&format!("q{name}"), &cpu.to_string(), &kind(*number)),
                world.now,
            );
        }
        Step::DropQueue(name) => drop(
            world
                .cache
                .delete_cluster_queue(&format!("q{name}").as_str().into()),
        ),
        Step::Door(name, target, stopped) => {
            let mut door = local_queue(&format!("d{name}"), &format!("q{target}"));
            door.spec.stop_policy = stopped.then_some(kueue_api::v1beta2::StopPolicy::Hold);
            let _ = world.cache.apply_local_queue(&door, world.now);
        }
        Step::DropDoor(name) => drop(world.cache.delete_local_queue(
            &crate::LocalQueueKey::new("ns", format!("d{name}")),
            world.now,
        )),
        Step::Flavor(true) => drop(
            world
                .cache
                .apply_resource_flavor(&object(json!({"metadata": {"name": "red"}}))),
        ),
        Step::Flavor(false) => drop(world.cache.delete_resource_flavor(&"red".into())),
        Step::Cohort(name, parent) => {
            let parent = parent.map(|parent| format!("c{parent}"));
            let cohort =
                json!({"metadata": {"name": format!("c{name}")}, "spec": {"parentName": parent}});
            let _ = world.cache.apply_cohort(&object(cohort));
        }
        Step::DropCohort(name) => drop(
            world
                .cache
                .delete_cohort(&format!("c{name}").as_str().into()),
        ),
        other => panic!("{other:?} is not about queues"),
    }
}

/// The API server refuses to move or resize a workload that holds quota.
fn pending(world: &World, number: u8) -> bool {
    let object = world.objects.get(&key(&format!("w{number}")));
    object.is_some_and(|object| !object.has_quota_reservation())
}

/// One cycle; something may happen between its decision and its end, and its writes may all fail.
fn cycle(world: &mut World, meanwhile: Option<&Step>, lost: bool) -> usize {
    let Some(cycle) = world.cache.begin_cycle(world.now) else {
        meanwhile.into_iter().for_each(|step| play(world, step));
        return 0;
    };
    let (plan, report) = cycle.run();
    if let Some(step) = meanwhile {
        play(world, step);
    }
    let mut patches = Vec::new();
    for admission in &plan.admissions {
        if world.cache.assume(admission).is_err() {
            continue;
        }
        let patch = world.cache.admission_patch(admission, world.now);
        if lost {
            let _ = world.cache.forget(&admission.workload, world.now);
        } else {
            patches.extend(patch);
        }
    }
    patches.extend(world.cache.settle(&report, world.now).patches);
    for patch in patches {
        world.write(patch);
    }
    plan.admissions.len()
}

/// Violations that only say that quota was taken away from those who hold it are the administrator's doing.
fn broken(world: &mut World) -> Vec<crate::Violation> {
    use crate::Violation::{AboveMaximum, RootOverdrawn};
    world
        .cache
        .check()
        .into_iter()
        .filter(|found| !matches!(found, AboveMaximum { .. } | RootOverdrawn { .. }))
        .collect()
}

/// A cache that hears of the same objects for the first time.
fn told_afresh(world: &World, setup: &[Step]) -> World {
    let mut fresh = World::new();
    for step in setup {
        let step = if let Step::Meanwhile(inner) = step {
            inner
        } else {
            step
        };
        if !about_workloads(step) {
            play(&mut fresh, step);
        }
    }
    for object in world.objects.values() {
        fresh.submit(object.clone());
    }
    fresh
}

fn about_workloads(step: &Step) -> bool {
    matches!(
        step,
        Step::Submit(..)
            | Step::Delete(_)
            | Step::Finish(_)
            | Step::Evict(_)
            | Step::Deactivate(_)
            | Step::Move(..)
            | Step::Resize(..)
            | Step::Cycle
            | Step::LostWrite
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn nothing_is_booked_twice_and_nobody_is_lost(steps in proptest::collection::vec(step(), 1..60)) {
        let mut world = World::new();
        for step in &steps {
            play(&mut world, step);
            prop_assert_eq!(broken(&mut world), vec![], "after {:?}", step);
        }
    }

    #[test]
    fn a_restarted_controller_knows_the_same(steps in proptest::collection::vec(step(), 1..50)) {
        let mut world = World::new();
        for step in &steps {
            play(&mut world, step);
        }
        let mut fresh = told_afresh(&world, &steps);
        prop_assert_eq!(broken(&mut fresh), vec![]);
        for name in world.cache.cluster_queues().cloned().collect::<Vec<_>>() {
            let (ours, theirs) = (world.cache.cluster_queue_status(&name, world.now), fresh.cache.cluster_queue_status(&name, world.now));
            prop_assert_eq!(ours, theirs, "{}", name);
        }
    }

    #[test]
    fn cycles_come_to_an_end(steps in proptest::collection::vec(simple(), 1..40)) {
        let mut world = World::new();
        for step in &steps {
            play(&mut world, step);
        }
        let mut rounds = 0;
        while world.cache.has_work() {
            cycle(&mut world, None, false);
            rounds += 1;
            prop_assert!(rounds < 60, "still busy");
        }
        prop_assert_eq!(broken(&mut world), vec![]);
    }
}
