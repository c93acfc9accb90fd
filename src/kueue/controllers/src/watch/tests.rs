//! What a watch tells, event by event, without an API server.

use kube::runtime::watcher::Event;
use kueue_api::v1beta2::ResourceFlavor;
use serde_json::{Value, json};
use telemetry::health::Readiness;
use tokio::sync::watch::Sender;

use super::{Follower, Seen, Synced, Unread};
use crate::key::Key;

fn object(value: Value) -> Unread<ResourceFlavor> {
    serde_json::from_value(value).unwrap()
}

fn flavor(name: &str, uid: &str) -> Unread<ResourceFlavor> {
    object(json!({"metadata": {"name": name, "uid": uid}, "spec": {}}))
}

/// Plays events and gives what was told, one line each.
fn play(events: Vec<Event<Unread<ResourceFlavor>>>, then_gone: bool) -> (Vec<String>, usize) {
    let mut told = Vec::new();
    let unseen = Sender::new(1);
    let synced = Synced {
        check: Readiness::default().check("flavors"),
        unseen: unseen.clone(),
    };
    let tell = |seen: Seen<ResourceFlavor>| {
        told.push(match seen {
            Seen::Object(flavor) => format!("object {}", flavor.name()),
            Seen::Gone(key, uid) => format!("gone {key} {}", uid.unwrap_or_default()),
            Seen::Malformed(meta, _) => format!("malformed {}", Key::of(&meta)),
        });
    };
    let mut follower = Follower::new(
        tell,
        |meta| meta.resource_version.as_deref() != Some("known"),
        synced,
    );
    for event in events {
        follower.event(event);
    }
    if then_gone {
        follower.kind_is_gone();
    }
    drop(follower);
    let left = *unseen.borrow();
    (told, left)
}

#[test]
fn a_relist_tells_what_went_while_nobody_looked() {
    let events = vec![
        Event::Init,
        Event::InitApply(flavor("a", "1")),
        Event::InitApply(flavor("b", "2")),
        Event::InitDone,
        Event::Apply(flavor("c", "3")),
        Event::Delete(flavor("a", "1")),
        Event::Init,
        Event::InitApply(flavor("b", "9")),
        Event::InitDone,
    ];
    let (told, left) = play(events, false);
    assert_eq!(
        told,
        [
            "object a", "object b", "object c", "gone a 1", "object b", "gone b 2", "gone c 3"
        ]
    );
    assert_eq!(left, 0, "counted once");
}

#[test]
fn a_malformed_object_is_told_and_the_others_come_through() {
    let broken =
        object(json!({"metadata": {"name": "broken", "uid": "0"}, "spec": {"nodeLabels": 7}}));
    let (told, _) = play(
        vec![
            Event::Init,
            Event::InitApply(broken),
            Event::InitApply(flavor("a", "1")),
            Event::InitDone,
        ],
        false,
    );
    assert_eq!(told, ["malformed broken", "object a"]);
}

#[test]
fn everything_is_gone_with_its_definition() {
    let (told, _) = play(
        vec![
            Event::Init,
            Event::InitApply(flavor("a", "1")),
            Event::InitDone,
        ],
        true,
    );
    assert_eq!(told, ["object a", "gone a 1"]);
}

#[test]
fn what_is_known_is_not_read_and_counts_as_there() {
    let known = |uid: &str| {
        object(
            json!({"metadata": {"name": "a", "uid": uid, "resourceVersion": "known"}, "spec": 7}),
        )
    };
    let (told, _) = play(
        vec![
            Event::Init,
            Event::InitApply(flavor("a", "1")),
            Event::InitDone,
            Event::Apply(known("1")),
            Event::Init,
            Event::InitApply(known("1")),
            Event::InitDone,
        ],
        false,
    );
    assert_eq!(told, ["object a"]);
}

#[test]
fn field_owners_are_left_out_and_the_rest_is_read_as_it_is() {
    let owners = r#"[{"manager":"x","fieldsV1":{"f:managedFields":{"}":"]"}}}]"#;
    let text = |of: &str| {
        format!(
            r#"{{"metadata":{{"name":"a","managedFields":{of},"annotations":{{"note":"\"managedFields\":[é]"}}}},"spec":{{"nodeLabels":{{"x":"y"}}}}}}"#
        )
    };
    let read = |text: &str| {
        let unread: Unread<ResourceFlavor> = serde_json::from_str(text).unwrap();
        unread.read().unwrap()
    };
    let flavor = read(&text(owners));
    assert_eq!(flavor.metadata.managed_fields, None);
    assert_eq!(
        flavor.metadata.annotations.unwrap()["note"],
        r#""managedFields":[é]"#
    );
    assert_eq!(flavor.spec.node_labels["x"], "y");
    assert_eq!(read(&text("null")).metadata.managed_fields, None);
}
