//! Entries → facts: golden lives of jobs, and the same from the same entries.

use crate::world::{Is, World};
use expect_test::{Expect, expect};

fn check(world: &World, job: &str, expected: &Expect) {
    let timeline = world.timeline();
    let mut lines = Vec::new();
    for attempt in timeline
        .attempts()
        .iter()
        .filter(|attempt| attempt.job.name == job)
    {
        lines.push(format!("{} {}", attempt.uid, attempt.workloads.join(" ")));
        for fact in &attempt.facts {
            let details = &fact.details;
            let mut words = vec![fact.name.word().to_owned()];
            words.extend(details.reason.clone());
            words.extend(details.cluster_queue.clone());
            words.extend(details.local_queue.clone());
            words.extend(details.flavors.clone());
            words.extend(details.node.clone());
            words.extend(details.result.map(|result| result.word().to_owned()));
            words.extend(
                details
                    .borrowed
                    .iter()
                    .map(|(what, amount)| format!("borrows {what} {amount}")),
            );
            words.extend(
                timeline
                    .preemptor(fact)
                    .map(|job| format!("by {}", job.name)),
            );
            let inferred = if fact.inferred { " (inferred)" } else { "" };
            lines.push(format!(
                "  {} {}{inferred}",
                fact.place.seq,
                words.join(" ")
            ));
        }
    }
    lines.push(String::new());
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_simple_life() {
    let mut world = World::new();
    world
        .cluster_queue("vision", 4)
        .queues("a")
        .wait(3.0)
        .admits("a")
        .runs_on("a", "cpu-1")
        .wait(9.0)
        .ends("a");
    world.workload("a", Is::Finished);
    check(
        &world,
        "a",
        &expect![[r#"
        job/a-2 job-a
          2 submitted
          3 managed vision
          4 queued WaitingForQuota
          5 quota-reserved vision cpu
          6 admitted vision cpu
          7 started
          8 running cpu-1
          9 finished CompletionsReached succeeded
    "#]],
    );
}

#[test]
fn preempted_and_admitted_again() {
    let mut world = World::new();
    world
        .cluster_queue("vision", 1)
        .queues("a")
        .admits("a")
        .wait(5.0)
        .queues("urgent");
    world
        .workload("a", Is::Preempted("urgent"))
        .suspends("a")
        .workload("a", Is::Requeued)
        .admits("urgent")
        .wait(5.0);
    world
        .ends("urgent")
        .workload("urgent", Is::Finished)
        .wait(1.0)
        .admits("a");
    check(
        &world,
        "a",
        &expect![[r#"
        job/a-2 job-a
          2 submitted
          3 managed vision
          4 queued WaitingForQuota
          5 quota-reserved vision cpu borrows cpu/cpu 1
          6 admitted vision cpu borrows cpu/cpu 1
          7 started
          11 preempted InClusterQueue by urgent
          11 evicted Preempted by urgent
          13 requeued Preempted
          19 quota-reserved vision cpu borrows cpu/cpu 1
          20 admitted vision cpu borrows cpu/cpu 1
          21 started
    "#]],
    );
}

#[test]
fn deleted_and_created_again() {
    let mut world = World::new();
    world.queues("a").deleted("a").queues("a");
    check(
        &world,
        "a",
        &expect![[r#"
        job/a-1 job-a
          1 submitted
          2 managed vision
          3 queued WaitingForQuota
          4 deleted
        job/a-3 job-a
          6 submitted
          7 managed vision
          8 queued WaitingForQuota
    "#]],
    );
}

#[test]
fn outside_of_kueue() {
    let mut world = World::new();
    world
        .starts("libre")
        .runs_on("libre", "cpu-1")
        .fails("libre");
    check(
        &world,
        "libre",
        &expect![[r#"
        job/libre-1 
          1 submitted
          1 started
          2 running cpu-1
          3 finished BackoffLimitExceeded failed
    "#]],
    );
}

#[test]
fn found_by_listing_only() {
    let mut world = World::new();
    world
        .queues("a")
        .admits("a")
        .workload("a", Is::Evicted("PodsReadyTimeout"))
        .suspends("a");
    world.workload("a", Is::Requeued).wait(1.0).admits("a");
    // Only the last states are there when the recorder begins.
    let last: Vec<_> = world.entries.split_off(world.entries.len() - 2);
    world.entries.clear();
    world.listing(true).wait(1.0);
    for entry in last {
        if let timeline::What::Object(object) = entry.what {
            let object = timeline::ObjectEntry {
                seen: timeline::Seen::Listed,
                ..object
            };
            world.push(timeline::What::Object(object));
        }
    }
    check(
        &world,
        "a",
        &expect![[r#"
        job/a-1 job-a
          1 managed vision
          1 evicted PodsReadyTimeout (inferred)
          1 quota-reserved vision cpu
          1 admitted vision cpu
          2 submitted
          2 started
    "#]],
    );
}
