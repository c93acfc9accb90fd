use crate::recorder::known::{Heard, Known};
use serde_json::json;
use timeline::{Seen, Verb};

fn heard(name: &str, uid: &str, version: u64, value: u64) -> Heard {
    Heard {
        namespace: None,
        name: name.to_owned(),
        uid: uid.to_owned(),
        version: version.to_string(),
        object: json!({"value": value}),
    }
}

#[test]
fn watch_events_that_tell_nothing_new_make_no_entry() {
    let mut known = Known::default();
    let mut verbs = Vec::new();
    for (verb, heard) in [
        (Verb::Added, heard("a", "u1", 5, 1)),
        (Verb::Added, heard("a", "u1", 5, 1)),
        (Verb::Modified, heard("a", "u1", 6, 1)),
        (Verb::Modified, heard("a", "u1", 8, 2)),
        (Verb::Modified, heard("a", "u1", 7, 3)),
        (Verb::Deleted, heard("a", "other", 9, 2)),
        (Verb::Deleted, heard("a", "u1", 10, 2)),
        (Verb::Deleted, heard("a", "u1", 10, 2)),
    ] {
        verbs.push(known.watched("Node", verb, heard).map(|entry| entry.verb));
    }
    let expected = [
        Some(Verb::Added),
        None,
        None,
        Some(Verb::Modified),
        None,
        None,
        Some(Verb::Deleted),
        None,
    ];
    assert_eq!(verbs, expected);
}

#[test]
fn a_list_gives_the_difference() {
    let mut known = Known::default();
    for name in ["gone", "same", "changed", "reborn"] {
        known.watched("Node", Verb::Added, heard(name, &format!("{name}-1"), 5, 1));
    }
    let present = vec![
        heard("same", "same-1", 5, 1),
        heard("changed", "changed-1", 9, 2),
        heard("reborn", "reborn-2", 9, 1),
        heard("new", "new-1", 9, 1),
    ];
    let entries = known.listed("Node", present);
    let told: Vec<(Verb, &str)> = entries
        .iter()
        .map(|entry| (entry.verb, entry.uid.as_str()))
        .collect();
    let expected = [
        (Verb::Deleted, "gone-1"),
        (Verb::Modified, "changed-1"),
        (Verb::Deleted, "reborn-1"),
        (Verb::Added, "reborn-2"),
        (Verb::Added, "new-1"),
    ];
    assert_eq!(told, expected);
    assert!(entries.iter().all(|entry| entry.seen == Seen::Listed));
    assert_eq!(known.newest("Node"), Some(9));
}
