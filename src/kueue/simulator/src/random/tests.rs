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
        set gate PrioritizePreemptorWorkloads on
        flavor a100
        cohort cassiopee
        cohort recherche, under cassiopee, quota a100 gpu 5 cpu 6
        cohort production, under recherche, quota a100 gpu 5 borrow 3 cpu 4 lend 2
        cohort annexe, quota a100 gpu 0 cpu 3"#]]
    .assert_eq(&head.join("\n"));
    assert_eq!(text, script(7));
    assert_ne!(text, script(8));
}
