//! What holds of every history: a pass stays a pass, the same entries give the same verdicts, and judging again and again gives
//! what judging once gives.

use crate::world::{Is, World, done, rules};
use proptest::prelude::*;
use std::sync::Arc;
use timeline::{Judge, Seen, State, Timeline, What};

const CRITERIA: &str = "
reaches: { job: a, becomes: admitted }
reaches: { job: a, becomes: finished }, within: 30s
stays: { job: a, is: queued }, for: 5s
stays: { job: b, is: admitted }, for: 5s
never: { job: a, becomes: evicted }
never: { job: b, becomes: admitted }, until: { object: ClusterQueue/vision, changes: spec }
order: [{ job: a, becomes: queued }, { job: a, becomes: admitted }, { job: a, becomes: started }]
order: [{ object: ClusterQueue/vision, changes: spec }, { job: b, becomes: admitted }], within: 20s
caused: { job: b, becomes: admitted }, by: { job: a, becomes: finished }
count: { job: '*', becomes: admitted }, at-least: 2
answer: q, same-as: { job: a, becomes: queued, take: reason }
answer: q, given: true, before: { job: b, becomes: queued }
object: ClusterQueue/vision, holds: 'quantity(spec.resourceGroups[0].flavors[0].resources[0].nominalQuota) > 4.0', for: 3s
all: [{ reaches: { job: a, becomes: started } }, { reaches: { job: b, becomes: started } }]
any: [{ reaches: { job: a, becomes: preempted } }, { stays: { job: b, is: waiting }, for: 9s }]
";

/// One thing that happens, chosen so that it can.
fn step(world: &mut World, exists: &mut [bool; 2], (what, who): (u8, bool)) {
    let index = usize::from(who);
    let name = ["a", "b"][index];
    if !exists[index] {
        world.submit(name).workload(name, Is::New);
        exists[index] = true;
        return;
    }
    match what {
        0 => done(world.workload(name, Is::Queued("WaitingForQuota"))),
        1 => done(world.workload(name, Is::Reserved("vision"))),
        2 | 3 => done(world.workload(name, Is::Admitted("vision"))),
        4 => done(world.starts(name)),
        5 => done(world.suspends(name)),
        6 => done(world.ends(name)),
        7 if exists[0] && exists[1] => done(world.workload(name, Is::Preempted(["b", "a"][index]))),
        7 => done(world.workload(name, Is::Evicted("PodsReadyTimeout"))),
        8 => done(world.workload(name, Is::Requeued)),
        9 => {
            world.deleted(name);
            exists[index] = false;
        }
        10 => done(world.cluster_queue("vision", if who { 4 } else { 6 })),
        11 => done(world.answer("q", if who { "WaitingForQuota" } else { "autre" })),
        12 => {
            // A gap and what was found by listing are shown together.
            world.gap(2.0).listing(true);
            if who {
                world.workload(name, Is::Queued("ExceedsMaxQuota"));
            }
            world.listing(false);
        }
        13 => done(world.push(What::Lost {
            kinds: vec!["Workload".to_owned()],
            since: None,
        })),
        14 => done(world.push(What::Back {
            kinds: vec!["Workload".to_owned()],
        })),
        _ => done(world.tick()),
    }
}

fn history(steps: &[(u8, bool, u8)]) -> World {
    let mut world = World::new();
    let mut exists = [false, false];
    for (what, who, pause) in steps {
        world.wait(f64::from(*pause) / 2.0);
        step(&mut world, &mut exists, (*what, *who));
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_pass_stays_a_pass(steps in prop::collection::vec((0u8..16, any::<bool>(), 0u8..12), 1..60)) {
        let world = history(&steps);
        let lab = Arc::new(rules(CRITERIA));
        let mut judge = Judge::new(Arc::clone(&lab));
        let mut timeline = Timeline::new();
        let mut passed: Vec<bool> = vec![false; lab.criteria().count()];
        let mut last = None;
        for (entry, next) in world.entries.iter().zip(world.entries.iter().skip(1).map(Some).chain([None])) {
            timeline.push(entry);
            let listed = |next: &timeline::Entry| matches!(&next.what, What::Object(object) if object.seen == Seen::Listed);
            if next.is_some_and(listed) {
                continue;
            }
            let verdicts = judge.verdict(&timeline, entry.at);
            for (before, verdict) in passed.iter_mut().zip(verdicts.all()) {
                let now = verdict.state == State::Passed;
                prop_assert!(now || !*before, "{} was passed before entry {}, now {:?}", verdict.criterion, entry.seq, verdict);
                *before = now;
            }
            last = Some((verdicts, entry.at));
        }
        // Judged once, at the end, from the entries alone: the same.
        if let Some((verdicts, at)) = last {
            let replayed = timeline::verdict(&Timeline::from_entries(&world.entries), &lab, at);
            prop_assert_eq!(&verdicts, &replayed);
        }
    }

    #[test]
    fn evidence_names_entries_that_exist(steps in prop::collection::vec((0u8..16, any::<bool>(), 0u8..12), 1..40)) {
        let world = history(&steps);
        let verdicts = world.judge(CRITERIA);
        let most = u64::try_from(world.entries.len()).expect("few");
        for verdict in verdicts.all() {
            prop_assert!(verdict.evidence.iter().all(|seq| (1..=most).contains(seq)));
            prop_assert!(verdict.state != State::Passed || !verdict.evidence.is_empty(), "{:?}", verdict);
        }
    }

    #[test]
    fn entries_seen_twice_change_nothing(steps in prop::collection::vec((0u8..16, any::<bool>(), 0u8..12), 1..40)) {
        let world = history(&steps);
        let mut twice = Timeline::new();
        for entry in &world.entries {
            twice.push(entry);
            twice.push(entry);
        }
        let lab = rules(CRITERIA);
        prop_assert_eq!(timeline::verdict(&twice, &lab, world.now()), timeline::verdict(&world.timeline(), &lab, world.now()));
    }
}
