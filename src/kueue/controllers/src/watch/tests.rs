//! What a watch tells, event by event, without an API server.

use kube::core::DeserializeGuard;
use kube::runtime::watcher::Event;
use kueue_api::v1beta2::ResourceFlavor;
use serde_json::{Value, json};
use telemetry::health::Readiness;
use tokio::sync::watch::Sender;

use super::{Follower, Seen, Synced};

fn object(value: Value) -> DeserializeGuard<ResourceFlavor> {
    serde_json::from_value(value).unwrap()
}

fn flavor(name: &str, uid: &str) -> DeserializeGuard<ResourceFlavor> {
    object(json!({"metadata": {"name": name, "uid": uid}, "spec": {}}))
}

/// Plays events and gives what was told, one line each.
fn play(
    events: Vec<Event<DeserializeGuard<ResourceFlavor>>>,
    then_gone: bool,
) -> (Vec<String>, usize) {
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
            Seen::Malformed(key, _) => format!("malformed {key}"),
        });
    };
    let mut follower = Follower::new(tell, synced);
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
