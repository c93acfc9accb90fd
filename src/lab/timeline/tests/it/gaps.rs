//! Case 064: the recorder was blind for a while. What it did not see neither passes nor fails by silence.

use crate::world::{Is, World};
use timeline::{State, What};

const NEVER_EVICTED: &str = "never: { job: x, becomes: evicted }";
const PREEMPTED: &str = "reaches: { job: petit, becomes: preempted, by: urgent }";
const DELETED: &str = "reaches: { job: w, becomes: deleted }";

/// Before the gap: x and y run, w waits.
fn before() -> World {
    let mut world = World::new();
    world.cluster_queue("vision", 8);
    world
        .queues("x")
        .admits("x")
        .queues("petit")
        .admits("petit")
        .queues("w")
        .queues("urgent")
        .wait(10.0);
    world
}

/// What happened to x during the gap, without entries: only the last states are seen.
fn during(world: &mut World, seen: &[&str]) {
    let kept = world.entries.len();
    world
        .workload("x", Is::Evicted("PodsReadyTimeout"))
        .suspends("x")
        .workload("x", Is::Requeued)
        .wait(1.0)
        .admits("x");
    world
        .workload("petit", Is::Preempted("urgent"))
        .suspends("petit")
        .workload("petit", Is::Requeued)
        .wait(1.0)
        .admits("petit");
    world.entries.truncate(kept);
    world.wait(28.0).listing(true).gap(30.0);
    for name in seen {
        world.starts(name).workload(name, Is::Admitted("vision"));
    }
    world.listing(false);
}

#[test]
fn evictions_that_were_missed_are_found_by_their_counters() {
    let mut world = before();
    during(&mut world, &["x", "petit"]);
    world.gone("Job", Some("equipe-vision"), "w").submit("w");
    world.ends("x").workload("x", Is::Finished).wait(1.0);
    assert_eq!(world.told(NEVER_EVICTED), "failed forbidden");
    let evidence = world.verdict(NEVER_EVICTED).evidence;
    let timeline = world.timeline();
    let shown = timeline.evidence(&evidence);
    assert!(
        shown
            .iter()
            .all(|one| one.what.contains("Workload equipe-vision/job-x")),
        "{shown:?}"
    );
    assert_eq!(
        world.state(PREEMPTED),
        State::Waiting,
        "the rewritten condition does not say by whom; it is not failed"
    );
    assert_eq!(
        world.told("reaches: { job: petit, becomes: preempted }"),
        "passed passed"
    );
    assert_eq!(world.told(DELETED), "passed passed");
    let uids: Vec<&str> = timeline
        .attempts()
        .iter()
        .filter(|attempt| attempt.job.name == "w")
        .map(|attempt| attempt.uid.as_str())
        .collect();
    assert_eq!(uids.len(), 2, "two lives of w: {uids:?}");
}

#[test]
fn silence_across_a_gap_is_not_judged() {
    let mut world = before();
    world.wait(30.0).listing(true).gap(30.0);
    // x was touched while nobody watched, and its counters tell nothing.
    world.starts("x").listing(false);
    world.ends("x").wait(1.0);
    assert_eq!(world.told(NEVER_EVICTED), "not-judged gap");
    // The next attempt is judged afresh.
    world
        .deleted("x")
        .queues("x")
        .admits("x")
        .ends("x")
        .wait(1.0);
    assert_eq!(world.told(NEVER_EVICTED), "passed passed");
}

#[test]
fn an_object_with_the_same_version_was_not_touched() {
    let mut world = before();
    world.wait(30.0).gap(30.0);
    world.ends("x").wait(1.0);
    assert_eq!(world.told(NEVER_EVICTED), "passed passed");
}

#[test]
fn waiting_is_not_counted_through_a_gap() {
    let waits = "stays: { job: w, is: queued }, for: 20s";
    let mut world = before();
    world.wait(15.0).listing(true).gap(15.0);
    world
        .workload("w", Is::Queued("ExceedsMaxQuota"))
        .listing(false);
    assert_eq!(world.told(waits), "waiting holding");
    let mut goes_on = world.clone();
    goes_on.wait(20.0);
    assert_eq!(goes_on.told(waits), "passed passed");
    world.wait(5.0).admits("w");
    assert_eq!(world.told(waits), "not-judged gap");
}

#[test]
fn an_interruption_takes_its_time_off_a_wait() {
    let waits = "stays: { job: w, is: queued }, for: 20s";
    let kinds = || vec!["Workload".to_owned()];
    let mut world = before();
    world
        .push(What::Lost {
            kinds: kinds(),
            since: None,
        })
        .wait(30.0);
    assert_eq!(world.told(waits), "waiting holding");
    assert_eq!(
        world.judge(waits).next,
        None,
        "silence ends nothing while nobody watches"
    );
    world.push(What::Back { kinds: kinds() });
    assert_eq!(world.told(waits), "waiting holding");
    let next = world.judge(waits).next.expect("watched again");
    assert_eq!(next.duration_since(world.now()).as_secs(), 10);
    world.wait(10.0);
    assert_eq!(world.told(waits), "passed passed");
}

#[test]
fn nothing_is_passed_by_a_gap_alone() {
    let mut world = World::new();
    world.queues("c").wait(2.0).listing(true).gap(2.0);
    world
        .starts("c")
        .workload("c", Is::Admitted("vision"))
        .listing(false);
    assert_eq!(
        world.told("stays: { job: c, is: queued }, for: 10s"),
        "not-judged gap"
    );
}
