use std::time::Duration;

use super::rest;

#[test]
fn reasons_give_way_where_there_are_many() {
    let milliseconds = Duration::from_millis;
    let cases = [
        ("a classroom, a slow API server", 30, 400, 0),
        ("many, a quick API server", 31, 5, 50),
        ("many, a slow API server", 1_000, 40, 400),
        ("many, one that hardly answers", 1_000, 5_000, 1_000),
    ];
    for (name, to_explain, took, expected) in cases {
        let rest = rest(to_explain, milliseconds(took));
        assert_eq!(rest, milliseconds(expected), "{name}");
    }
}
