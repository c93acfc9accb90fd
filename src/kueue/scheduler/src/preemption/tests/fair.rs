//! With fair sharing.

use super::{Scene, giver, job, taker};
use crate::fixture::World;
use crate::{FairSharing, FairStrategy, Weight};

fn fair(mut scene: Scene, first: FairStrategy, second: Option<FairStrategy>) -> Scene {
    scene.policy.fair_sharing = Some(FairSharing { first, second });
    scene
}

/// `b` uses 4 of the 6 that three queues bring in, `c` 2, `a` nothing.
fn uneven() -> Scene {
    let world = World::of(&[taker("a", "x", 2), taker("b", "x", 2), taker("c", "x", 2)]);
    Scene::of(&world)
        .runs("b", job("b1", 0, 1), 2)
        .runs("b", job("b2", 0, 2), 2)
        .runs("c", job("c1", 0, 1), 2)
}

#[test]
fn the_queue_with_the_highest_share_loses_and_others_are_left_alone() {
    let scene = fair(uneven(), FairStrategy::LessThanOrEqualToFinalShare, None);
    let me = job("me", 0, 9);
    assert_eq!(scene.asks("a", &me, 2), ["b2 (InCohortReclamation)"]);
    let mut scene = scene;
    scene.policy.fair_sharing_preempt_within_nominal = false;
    assert_eq!(scene.asks("a", &me, 2), ["b2 (InCohortFairSharing)"]);
    assert_eq!(
        scene.asks("a", &me, 3),
        [""; 0],
        "then a would have more than b"
    );
}

/// `b` borrows everything in one piece.
fn one_piece() -> Scene {
    let world = World::of(&[
        taker("a", "x", 0),
        taker("b", "x", 0),
        giver("lender", "x", 4),
    ]);
    Scene::of(&world).runs("b", job("b1", 0, 1), 4)
}

#[test]
fn the_final_share_spares_one_big_workload_and_the_initial_share_does_not() {
    let me = job("me", 0, 9);
    let by_final = FairStrategy::LessThanOrEqualToFinalShare;
    let by_initial = FairStrategy::LessThanInitialShare;
    assert_eq!(fair(one_piece(), by_final, None).asks("a", &me, 3), [""; 0]);
    let second = fair(one_piece(), by_final, Some(by_initial));
    assert_eq!(second.asks("a", &me, 3), ["b1 (InCohortFairSharing)"]);
    assert_eq!(
        fair(one_piece(), by_initial, None).asks("a", &me, 3),
        ["b1 (InCohortFairSharing)"]
    );
    assert_eq!(
        fair(one_piece(), by_initial, None).asks("a", &me, 4),
        [""; 0],
        "as much as b has now"
    );
}

#[test]
fn the_second_attempt_takes_at_most_one_from_each_queue() {
    let world = World::of(&[
        taker("a", "x", 0),
        taker("b", "x", 0),
        giver("lender", "x", 8),
    ]);
    let scene = Scene::of(&world)
        .runs("b", job("b1", 0, 1), 4)
        .runs("b", job("b2", 0, 2), 4);
    let by_final = FairStrategy::LessThanOrEqualToFinalShare;
    let scene = fair(scene, by_final, Some(FairStrategy::LessThanInitialShare));
    let me = job("me", 0, 9);
    assert_eq!(scene.asks("a", &me, 4), ["b2 (InCohortFairSharing)"]);
    assert_eq!(scene.asks("a", &me, 5), [""; 0]);
}

#[test]
fn a_borrower_without_weight_loses_to_anybody_and_takes_from_nobody() {
    let scene = |weightless: &str| {
        let mut queues = [
            taker("a", "x", 0),
            taker("b", "x", 0),
            giver("lender", "x", 4),
        ];
        for queue in &mut queues {
            if queue.name.as_str() == weightless {
                queue.weight = Weight::from_nano(0);
            }
        }
        let scene = Scene::of(&World::of(&queues)).runs("b", job("b1", 0, 1), 4);
        fair(scene, FairStrategy::LessThanInitialShare, None)
    };
    let me = job("me", 0, 9);
    assert_eq!(scene("b").asks("a", &me, 4), ["b1 (InCohortFairSharing)"]);
    assert_eq!(scene("a").asks("a", &me, 1), [""; 0]);
}

#[test]
fn shares_are_compared_where_the_two_queues_meet() {
    let world = World::of(&[
        taker("a", "left", 0),
        taker("b", "right", 0),
        taker("sibling", "left", 0),
        giver("lender", "top", 6),
    ])
    .cohort("left", Some("top"), &[])
    .cohort("right", Some("top"), &[])
    .cohort("top", None, &[]);
    let scene = Scene::of(&world)
        .runs("b", job("b1", 0, 1), 2)
        .runs("sibling", job("s1", 0, 1), 2)
        .runs("sibling", job("s2", 0, 2), 2);
    let scene = fair(scene, FairStrategy::LessThanOrEqualToFinalShare, None);
    // Left has more than right already: room is made within left.
    assert_eq!(
        scene.asks("a", &job("me", 0, 9), 2),
        ["s2 (InCohortFairSharing)"]
    );
}
