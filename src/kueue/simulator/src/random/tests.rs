use expect_test::expect;

use super::{script, world};

#[test]
fn three_hundred_worlds_without_a_violation() {
    for seed in 0..300 {
        if let Err(found) = world(seed) {
            panic!(
                "seed {}: {:#?}\nreplay:\n{}",
                found.seed, found.violations, found.script
            );
        }
    }
}

#[test]
fn a_seed_is_the_same_world_for_ever() {
    let text = script(7);
    let head: Vec<_> = text.lines().take(6).collect();
    expect![[r#"
        flavor a100
        cohort cassiopee, quota a100 gpu 0 cpu 6 lend 0
        cohort recherche, under cassiopee, quota a100 gpu 2 cpu 0 borrow 2 lend 3
        cohort production, under cassiopee, quota a100 gpu 0 borrow 0 lend 3 cpu 2, weight 0
        cohort annexe, quota a100 gpu 6 borrow 0 lend 2 cpu 0
        queue vision, cohort annexe, preempt own never, preempt reclaim never, fungibility preempt try-next, weight 500m, quota a100 gpu 3 cpu 0"#]].assert_eq(&head.join("\n"));
    assert_eq!(text, script(7));
    assert_ne!(text, script(8));
}
