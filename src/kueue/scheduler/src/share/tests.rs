use std::cmp::Ordering;

use crate::fixture::{World, limits, queue, usage};
use crate::{Share, Usage, Weight};

fn share(world: &World, name: &str, more: &Usage) -> Share {
    let tree = world.tree();
    let id = tree.cluster_queue(&name.into()).unwrap();
    Share::of(&tree, id, more)
}

/// Two lend 10 each to whoever needs it, a third has weight and quota of its own.
fn three(weight_nano: i128) -> World {
    let mut borrower = queue("borrower")
        .cohort("all")
        .gives("red", &[("cpu", 0), ("gpu", 0)]);
    borrower.weight = Weight::from_nano(weight_nano);
    let lender = |name: &str| {
        queue(name)
            .cohort("all")
            .gives("red", &[("cpu", 10), ("gpu", 5)])
    };
    World::of(&[borrower, lender("a"), lender("b")])
}

#[test]
fn the_dominant_resource_is_the_one_borrowed_most_of() {
    let more = usage(&[("red", "cpu", 5), ("red", "gpu", 5)]);
    let found = share(&three(1_000_000_000), "borrower", &more);
    assert_eq!(found.dominant().map(|name| name.as_str()), Some("gpu"));
    assert_eq!(found.rounded(), 500);
    assert!(found.is_borrowing_any(&usage(&[("red", "cpu", 1)])));
    assert!(!found.is_borrowing_any(&usage(&[("red", "cpu", 0)])));
}

#[test]
fn who_uses_its_own_has_no_share() {
    let found = share(&three(0), "a", &usage(&[("red", "cpu", 10)]));
    assert!(!found.is_borrowing());
    assert_eq!((found.rounded(), found.dominant()), (0, None));
}

#[test]
fn what_nobody_lends_is_borrowed_but_has_no_ratio() {
    let keeps = limits(10, None, Some(0));
    let world = World::of(&[
        queue("a").cohort("all").limited("red", &[("gpu", keeps)]),
        queue("b").cohort("all").limited("red", &[("gpu", keeps)]),
    ]);
    let found = share(&world, "a", &usage(&[("red", "gpu", 11)]));
    assert!(found.is_borrowing());
    assert_eq!(found.rounded(), 0);
}

#[test]
fn weights_divide_and_a_weight_of_zero_is_above_all_others() {
    let cpu = |amount| usage(&[("red", "cpu", amount)]);
    let heavy = share(&three(2_000_000_000), "borrower", &cpu(10));
    let light = share(&three(500_000_000), "borrower", &cpu(4));
    let none = share(&three(0), "borrower", &cpu(1));
    let none_more = share(&three(0), "borrower", &cpu(2));
    assert_eq!((heavy.rounded(), light.rounded()), (250, 400));
    assert_eq!(none.rounded(), i64::MAX);
    assert_eq!(
        (heavy.to_string(), none.to_string()),
        ("250".into(), "+Inf".into())
    );
    assert_eq!(heavy.compare(&light), Ordering::Less);
    assert_eq!(none.compare(&light), Ordering::Greater);
    assert_eq!(light.compare(&none), Ordering::Less);
    assert_eq!(none.compare(&none_more), Ordering::Less);
    let idle = share(&three(0), "borrower", &Usage::new());
    assert_eq!(idle.compare(&light), Ordering::Less);
}
