//! Cohorts that are their own ancestors.

use super::circle;

/// Name, who is below whom, and the way upwards from `a`.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<&'a str>);

#[test]
fn the_way_upwards_ends_or_comes_around() {
    let cases: &[Case<'_>] = &[
        ("no parent", &[], None),
        ("a parent that nobody made", &[("a", "b")], None),
        ("a tree", &[("a", "b"), ("b", "c")], None),
        ("its own parent", &[("a", "a")], Some("a a")),
        ("two", &[("a", "b"), ("b", "a")], Some("a b a")),
        (
            "below a circle",
            &[("a", "b"), ("b", "c"), ("c", "b")],
            Some("a b c b"),
        ),
    ];
    for (name, parents, way) in cases {
        let parent = |of: &str| {
            let mut parents = parents.iter();
            let found = parents.find(|(child, _)| *child == of);
            found.map(|(_, parent)| (*parent).to_owned())
        };
        let found = circle("a", parent).map(|way| way.join(" "));
        assert_eq!(found.as_deref(), *way, "{name}");
    }
}
