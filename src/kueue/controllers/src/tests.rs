//! The parts that hold state: store, work queue, locks. And what the tests of several reconcilers begin with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jobs::{Marks, construct};
use kueue_api::v1beta2::ResourceFlavor;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::job::decide::Rules;
use crate::key::Key;
use crate::locks::Locks;
use crate::store::{Put, Store};
use crate::work_queue::{Next, WorkQueue};

/// The rules that tests of reconcilers begin with.
pub(crate) fn job_rules() -> Rules {
    Rules {
        workloads: construct::Options::default(),
        marks: Marks {
            slices: true,
            topology: true,
            queues: true,
        },
        track_pods_ready: false,
        reclaim: true,
        finish_orphans: true,
        annotated_names: true,
        keep_deactivated: None,
    }
}

fn flavor(uid: &str, version: &str) -> Arc<ResourceFlavor> {
    let mut flavor = ResourceFlavor::named("f");
    flavor.metadata.uid = Some(uid.to_owned());
    flavor.metadata.resource_version = Some(version.to_owned());
    Arc::new(flavor)
}

#[test]
fn a_store_keeps_the_newest_state_and_does_not_raise_the_dead() {
    let store = Store::default();
    let key = Key::cluster("f");
    assert!(matches!(store.put(flavor("a", "9")), Put::Taken(None)));
    assert!(matches!(store.put(flavor("a", "8")), Put::Stale), "older");
    assert!(
        matches!(store.put(flavor("a", "9")), Put::Stale),
        "the same"
    );
    assert!(
        matches!(store.put(flavor("a", "10")), Put::Taken(Some(_))),
        "numbers, not texts"
    );
    assert!(
        matches!(store.put(flavor("b", "11")), Put::Taken(Some(_))),
        "a namesake"
    );
    assert!(
        store.remove(&key, Some("a")).is_none(),
        "that one is gone already"
    );
    assert_eq!(store.get(&key).unwrap().metadata.uid.as_deref(), Some("b"));
    assert!(store.remove(&key, Some("b")).is_some());
    assert!(
        matches!(store.put(flavor("b", "12")), Put::Stale),
        "a late answer"
    );
    assert!(store.get(&key).is_none());
}

#[test]
fn a_store_lists_one_namespace() {
    let store = Store::default();
    for (namespace, name) in [("a", "1"), ("b", "1"), ("b", "2"), ("bb", "1")] {
        let mut queue = kueue_api::v1beta2::LocalQueue::named(name);
        queue.metadata.namespace = Some(namespace.to_owned());
        store.put(Arc::new(queue));
    }
    let names: Vec<_> = store
        .list_in("b")
        .iter()
        .map(|queue| queue.name().to_owned())
        .collect();
    assert_eq!(names, ["1", "2"]);
}

#[tokio::test]
async fn a_work_queue_works_on_a_name_once_at_a_time_and_tries_failures_again() {
    let queue = Arc::new(WorkQueue::new("test"));
    let (stop, seen) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let running = Arc::new(AtomicUsize::new(0));
    for name in ["a", "b", "a"] {
        queue.add(Key::cluster(name));
    }
    assert_eq!(queue.depth(), 2, "asked for twice, worked on once");
    let work = {
        let (queue, seen, stop, running) =
            (queue.clone(), seen.clone(), stop.clone(), running.clone());
        move |key: Key| {
            let (queue, seen, stop, running) =
                (queue.clone(), seen.clone(), stop.clone(), running.clone());
            async move {
                let many = {
                    seen.lock().push(key.name.clone());
                    seen.lock().len()
                };
                if key.name == "a" {
                    assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                    if many < 3 {
                        queue.add(Key::cluster("a"));
                    }
                    tokio::task::yield_now().await;
                    running.fetch_sub(1, Ordering::SeqCst);
                }
                let times = seen.lock().iter().filter(|name| **name == key.name).count();
                if times == 3 && key.name == "b" {
                    stop.cancel();
                }
                if key.name == "b" && times < 3 {
                    Err("not yet")
                } else {
                    Ok(Next::OnChange)
                }
            }
        }
    };
    queue.clone().run(2, work, stop).await;
    let seen = seen.lock();
    let times = |name: &str| seen.iter().filter(|n| *n == name).count();
    assert_eq!((times("a"), times("b")), (2, 3));
}

#[tokio::test]
async fn locks_are_exclusive_and_leave_nothing_behind() {
    let locks = Locks::default();
    let (a, b) = (Key::cluster("a"), Key::cluster("b"));
    let held = locks.hold([b.clone(), a.clone(), a.clone()]).await;
    let mut other = Box::pin(locks.hold([a.clone()]));
    assert!(futures::poll!(&mut other).is_pending(), "somebody writes");
    drop(held);
    drop(other.await);
    assert!(locks.is_empty());
}
