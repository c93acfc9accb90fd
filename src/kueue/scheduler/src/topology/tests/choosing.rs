//! Which domains are chosen, and how pods are spread over them.

use super::{Row, check, world};

const TWO_BLOCKS: &str = "
    b1 r1 x1 2
    b1 r1 x2 3
    b1 r2 x3 4
    b1 r2 x4 1
    b2 r1 x5 8
    b2 r2 x6 6
";

#[test]
fn one_domain_takes_everything_if_it_can() {
    const ROWS: &[Row] = &[
        (
            "the tightest rack",
            "",
            &["5 required rack"],
            "main x1:2 x2:3",
        ),
        ("the tightest host", "", &["3 required host"], "main x2:3"),
        (
            "as few hosts as possible",
            "",
            &["9 required block"],
            "main x1:2 x2:3 x3:4",
        ),
        (
            "preferred, one level up",
            "",
            &["9 preferred rack"],
            "main x1:2 x2:3 x3:4",
        ),
        (
            "preferred, over several blocks",
            "",
            &["20 preferred rack"],
            "main x1:2 x3:4 x5:8 x6:6",
        ),
        (
            "anywhere: the fullest that do",
            "",
            &["3 anywhere"],
            "main x2:3",
        ),
        (
            "anywhere: the fullest first",
            "",
            &["10 anywhere"],
            "main x1:2 x2:3 x3:4 x4:1",
        ),
        (
            "anywhere, best fit",
            "no-mixed",
            &["10 anywhere"],
            "main x1:2 x5:8",
        ),
        ("nothing is asked for", "", &["0 required rack"], "main "),
    ];
    check(&world(TWO_BLOCKS), ROWS);
}

#[test]
fn slices_stay_together() {
    const ROWS: &[Row] = &[
        (
            "two a host",
            "",
            &["6 required block slices of 2 per host"],
            "main x1:2 x3:4",
        ),
        (
            "four a rack, two of them a host",
            "",
            &["8 required block slices of 4 per rack of 2 per host"],
            "main x1:2 x2:2 x3:4",
        ),
        (
            "slices alone, anywhere",
            "",
            &["8 slices of 4 per host"],
            "main x5:4 x6:4",
        ),
    ];
    check(&world(TWO_BLOCKS), ROWS);
}

#[test]
fn a_leader_goes_with_its_workers() {
    const ROWS: &[Row] = &[
        (
            "the host has room for both",
            "",
            &[
                "leader: 1 required rack with g",
                "workers: 4 required rack with g",
            ],
            "leader x2:1; workers x1:2 x2:2",
        ),
        (
            "the second pod set leads if it is the smaller one",
            "",
            &[
                "workers: 5 required host with g",
                "leader: 1 required host with g",
            ],
            "workers x6:5; leader x6:1",
        ),
        (
            "a big leader leaves the workers where they fit",
            "",
            &[
                "leader: 1 required block cpus 8 with g",
                "workers: 6 required block with g",
            ],
            "leader x5:1; workers x6:6",
        ),
    ];
    check(&world(TWO_BLOCKS), ROWS);
}

#[test]
fn later_pod_sets_see_what_earlier_ones_took() {
    const ROWS: &[Row] = &[(
        "two hosts",
        "",
        &["a: 6 required host", "b: 6 required host"],
        "a x6:6; b x5:6",
    )];
    check(&world(TWO_BLOCKS), ROWS);
}

#[test]
fn balanced_placement_spreads_evenly_over_few_domains() {
    const HOSTS: &str = "
        b1 r1 x1 6
        b1 r1 x2 6
        b1 r2 x3 3
        b1 r2 x4 3
        b1 r2 x5 3
    ";
    const ROWS: &[Row] = &[
        ("off", "", &["8 preferred rack"], "main x3:3 x4:3 x5:2"),
        ("on", "balanced", &["8 preferred rack"], "main x1:4 x2:4"),
        (
            "required is not balanced",
            "balanced",
            &["8 required rack"],
            "main x3:3 x4:3 x5:2",
        ),
        (
            "slices",
            "balanced",
            &["8 preferred rack slices of 2 per host"],
            "main x1:4 x2:4",
        ),
        (
            "too much for one rack",
            "balanced",
            &["15 preferred rack"],
            "main x1:6 x2:6 x3:3",
        ),
    ];
    check(&world(HOSTS), ROWS);
}

#[test]
fn liked_nodes_come_first_only_behind_the_gate() {
    use super::{ask, outcome, search};
    use crate::labels::{Requirement, Test};
    use crate::topology::{AssumedUsage, PreferredTerm};

    let snapshot = world("b1 r1 x1 2\nb1 r1 x2 9 disk=ssd");
    let mut request = ask("main", "2 required host");
    request.preferred_nodes = vec![PreferredTerm {
        weight: 10,
        requirements: vec![Requirement {
            key: "disk".to_owned(),
            test: Test::In(vec!["ssd".to_owned()]),
        }],
    }];
    let place = |gates| {
        let request = std::slice::from_ref(&request);
        outcome(&snapshot.find(request, &mut AssumedUsage::new(), &search(gates)))
    };
    assert_eq!(place(""), "main x1:2");
    assert_eq!(place("affinity"), "main x2:2");
}
