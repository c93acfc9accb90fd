use super::*;

fn second(number: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + number).unwrap()
}

fn happening(name: &str, note: &str) -> Happening {
    Happening {
        regarding: ObjectReference {
            name: Some(name.to_owned()),
            uid: Some(format!("uid-{name}")),
            ..ObjectReference::default()
        },
        kind: Kind::Warning,
        reason: "Pending".to_owned(),
        action: "Wait",
        note: note.to_owned(),
        reporter: "kueue-admission",
    }
}

fn count(event: &Event) -> i32 {
    event.series.as_ref().map_or(1, |series| series.count)
}

#[test]
fn a_repetition_is_a_series_under_the_first_name() {
    let mut series = Series::default();
    let first = series.next(happening("w", "no quota"), "me", second(0));
    let again = series.next(happening("w", "no quota"), "me", second(60));
    let third = series.next(happening("w", "no quota"), "me", second(400));
    assert_eq!((count(&first), count(&again), count(&third)), (1, 2, 3));
    assert_eq!(again.metadata.name, first.metadata.name);
    assert_eq!(third.metadata.name, first.metadata.name);
}

#[test]
fn another_object_another_text_and_a_late_one_are_new() {
    let mut series = Series::default();
    let first = series.next(happening("w", "no quota"), "me", second(0));
    let events = [
        series.next(happening("v", "no quota"), "me", second(1)),
        series.next(happening("w", "no flavor"), "me", second(2)),
        series.next(happening("w", "no quota"), "me", second(361)),
    ];
    for event in events {
        assert_eq!(count(&event), 1);
        assert_ne!(event.metadata.name, first.metadata.name);
    }
}

#[test]
fn a_burst_is_not_remembered_beyond_a_bound() {
    let mut series = Series::default();
    for number in 0..20_000 {
        let _ = series.next(
            happening(&format!("w{number}"), "no quota"),
            "me",
            second(0),
        );
    }
    assert!(series.known.len() <= MOST && series.written.len() <= MOST);
    let last = series.next(happening("w19999", "no quota"), "me", second(1));
    assert_eq!(count(&last), 2, "the newest are still known");
}
