//! What holds in any world: targets make the workload fit, none of them in vain, and nobody is evicted who keeps to its own.

use proptest::prelude::*;

use super::{Finder, Scene, job, of, red, taker};
use crate::fixture::World;
use crate::places::Wanted;
use crate::quota::NodeId;
use crate::{FairSharing, PreemptionPolicy, Snapshot};

/// Per queue its quota, the cohort it is in, what it may do while borrowing; who runs: queue, priority, size; who asks: priority, size.
type Drawn = (
    Vec<(i64, usize, bool)>,
    Vec<(usize, i64, i64)>,
    (i64, i64),
    bool,
);

fn drawn() -> impl Strategy<Value = Drawn> {
    (
        proptest::collection::vec((0_i64..6, 0_usize..3, any::<bool>()), 1..6),
        proptest::collection::vec((0_usize..6, 0_i64..4, 1_i64..4), 0..14),
        (0_i64..4, 1_i64..7),
        any::<bool>(),
    )
}

fn scene((queues, runs, _, fair): &Drawn) -> Scene {
    let name = |index: usize| format!("q{}", index % queues.len());
    let cohorts = ["top", "left", "right"];
    let all: Vec<_> = queues
        .iter()
        .enumerate()
        .map(|(index, (quota, cohort, borrows))| {
            let mut queue = taker(&name(index), cohorts[*cohort], *quota);
            if *borrows {
                queue.preemption.borrow_within_cohort = PreemptionPolicy::LowerPriority;
            }
            queue
        })
        .collect();
    let world = World::of(&all)
        .cohort("left", Some("top"), &[])
        .cohort("right", Some("top"), &[]);
    let mut scene = Scene::of(&world);
    scene.policy.fair_sharing = fair.then(FairSharing::default);
    for (index, (queue, priority, size)) in runs.iter().enumerate() {
        let node = scene
            .snapshot
            .tree
            .cluster_queue(&name(*queue).as_str().into())
            .unwrap();
        if fits(&scene.snapshot, node, *size) {
            let second = i64::try_from(index).unwrap();
            scene = scene.runs(
                &name(*queue),
                job(&format!("w{index}"), *priority, second),
                *size,
            );
        }
    }
    scene
}

fn fits(snapshot: &Snapshot, node: NodeId, size: i64) -> bool {
    snapshot.tree.fits(node, &red(size))
}

proptest! {
    #[test]
    fn targets_make_room_and_none_goes_in_vain(drawn in drawn()) {
        let scene = scene(&drawn);
        let (priority, size) = drawn.2;
        let me = job("me", priority, 99);
        let name = "q0".into();
        let node = scene.snapshot.tree.cluster_queue(&name).unwrap();
        let finder = Finder::new(&scene.snapshot, &scene.policy, jiff::Timestamp::UNIX_EPOCH);
        let found = finder.targets_for(&me, &name, [of()].into(), &red(size), &Wanted::default());
        if found.is_empty() || fits(&scene.snapshot, node, size) {
            return Ok(());
        }
        let mut after = scene.snapshot.clone();
        for target in &found {
            let theirs = scene.snapshot.tree.cluster_queue(&target.admitted.cluster_queue).unwrap();
            let borrows = scene.snapshot.tree.above_quota(theirs, &[of()].into());
            prop_assert!(theirs == node || borrows, "{target:?} keeps to its own");
            after.remove(&target.admitted);
        }
        prop_assert!(fits(&after, node, size), "{found:?}");
        if drawn.3 || drawn.0[0].2 {
            return Ok(());
        }
        // Without borrowing being allowed some go so that it does not borrow, not so that it fits.
        let borrows = after.tree.borrows_with(node, &of(), quantity::Amount::new(size));
        for target in found.iter().filter(|_| borrows) {
            after.add(&target.admitted);
            prop_assert!(!fits(&after, node, size), "{target:?} could stay");
            after.remove(&target.admitted);
        }
    }
}
