//! Ten thousand entries: judged at once and entry by entry. Prints the times; what it checks is that both agree.

use crate::world::{World, rules};
use std::sync::Arc;
use timeline::{Judge, Timeline};

#[test]
fn a_whole_half_day_is_judged_entry_by_entry() {
    let mut world = World::new();
    world.cluster_queue("vision", 4);
    for round in 0..40 {
        let name = format!("job-{round}");
        world
            .queues(&name)
            .wait(1.0)
            .admits(&name)
            .wait(2.0)
            .ends(&name);
    }
    while world.entries.len() < 10_000 {
        world.tick();
        world.object(
            "Pod",
            Some("equipe-vision"),
            "bruit",
            serde_json::json!({"n": world.entries.len()}),
        );
    }
    let lab = Arc::new(rules(
        "order: [{ job: job-39, becomes: queued }, { job: job-39, becomes: admitted }, { job: job-39, becomes: finished }]
         never: { job: job-7, becomes: evicted }
         count: { job: '*', becomes: admitted }, at-least: 40
         object: ClusterQueue/vision, holds: \"conditions.Active.status == 'True'\"
         object: Pod/bruit, holds: 'object.n > 100000'
         stays: { job: job-0, is: queued }, for: 1s",
    ));
    let timeline = Timeline::from_entries(&world.entries);
    let mut judge = Judge::new(Arc::clone(&lab));
    let first = judge.verdict(&timeline, world.now());
    let again = judge.verdict(&timeline, world.now());
    assert_eq!(first, again);
    assert_eq!(first.earned, 5);
    assert_eq!(first, timeline::verdict(&timeline, &lab, world.now()));
}
