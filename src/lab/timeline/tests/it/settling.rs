//! Two watches may deliver in the wrong order what happened in the right one.

use crate::world::{Is, World};

/// The Job's watch is ahead of the Workload's: `started` is learned before `admitted`, though it happened after.
fn skewed() -> World {
    let mut world = World::new();
    world.queues("a").workload("a", Is::Reserved("vision"));
    let before = world.entries.len();
    world.workload("a", Is::Admitted("vision")).starts("a");
    world.entries.swap(before, before + 1);
    for (seq, entry) in (1..).zip(&mut world.entries) {
        entry.seq = seq;
    }
    world
}

const ORDER: &str = "order: [{ job: a, becomes: admitted }, { job: a, becomes: started }]";
const NEVER: &str = "never: { job: a, becomes: started }, until: { job: a, becomes: admitted }";

#[test]
fn the_api_servers_order_counts() {
    let mut world = skewed();
    world.wait(1.0);
    assert_eq!(world.told(ORDER), "passed passed");
    assert_eq!(world.told(NEVER), "passed passed");
}

#[test]
fn nothing_fails_before_the_other_watch_had_its_time() {
    let mut world = skewed();
    world.entries.pop();
    for criterion in [ORDER, NEVER] {
        let verdicts = world.judge(criterion);
        let verdict = verdicts.all().next().expect("one");
        assert_eq!(verdict.state.key(), "waiting", "{criterion}");
        let next = verdicts.next.expect("time alone changes it");
        assert_eq!(next.duration_since(world.now()).as_millis(), 150);
    }
    world.wait(0.2);
    assert_eq!(world.told(ORDER), "failed out-of-order");
    assert_eq!(world.told(NEVER), "failed forbidden");
}

#[test]
fn an_open_wait_tells_when_to_look_again() {
    let mut world = World::new();
    world.queues("c").wait(3.5).tick();
    let verdicts = world
        .judge("stays: { job: c, is: queued }, for: 10s\nreaches: { job: d, becomes: admitted }");
    let next = verdicts.next.expect("time alone changes it");
    assert_eq!(next.duration_since(world.now()).as_millis(), 6500);
    world.wait(6.5);
    assert_eq!(
        world.judge("stays: { job: c, is: queued }, for: 10s").next,
        None
    );
}
