//! The shelf of pods and what is waited for, keys, and passes that the corpus has no case for.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jobs::pods::Switches;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::{POD_FINALIZER, POD_GROUP_NAME, annotations, gates, labels};
use kueue_api::v1beta2::Workload;
use serde_json::{Value, json};

use super::act::{Act, Pass};
use super::decide::{Rules, pass};
use super::key::{of_group, of_pod};
use super::look::look;
use super::shelf::Shelf;
use crate::key::Key;
use crate::stores::Stores;
use crate::tests::job_rules;

const NOW: Timestamp = Timestamp::constant(1_787_400_000, 0);

fn pod(name: &str, version: u32, more: &Value) -> Arc<Pod> {
    let mut pod = json!({
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("uid-{name}"),
            "resourceVersion": version.to_string(), "finalizers": [POD_FINALIZER],
            "labels": {
                labels::MANAGED: "true", labels::QUEUE_NAME: "queue", POD_GROUP_NAME: "group",
            },
            "annotations": {
                annotations::POD_GROUP_TOTAL_COUNT: "1", annotations::ROLE_HASH: "role",
            },
        },
        "spec": {
            "containers": [{"name": "c"}], "schedulingGates": [{"name": gates::ADMISSION}],
        },
    });
    jobs::merge::apply(&mut pod, more);
    Arc::new(serde_json::from_value(pod).unwrap())
}

fn rules() -> Rules {
    Rules {
        jobs: job_rules(),
        manage_without_queue_name: false,
        only_of_parents: false,
        switches: Switches::default(),
        pods_die_alone: true,
    }
}

fn decided(stores: &Stores, rules: &Rules, key: &Key) -> Pass {
    let flavors = BTreeMap::new();
    pass(&look(stores, rules, &flavors, key, |_| Some(true), NOW))
}

fn kinds(pass: &Pass) -> Vec<&'static str> {
    let kind = |act: &Act| match act {
        Act::CreateWorkload(_) => "create",
        Act::LetGo(_) => "let go",
        Act::DeletePod(_) => "delete",
        Act::WriteStatus(..) => "status",
        Act::Release(_) => "release",
        Act::Event(_, _, reason, _) => reason,
        _ => "other",
    };
    pass.acts.iter().map(kind).collect()
}

#[test]
fn a_pod_is_waited_for_until_it_is_seen_without_the_finalizer() {
    let shelf = Shelf::default();
    let group = of_group("ns", "group");
    shelf.put(&pod("a", 1, &json!({})), true);
    shelf.expectations.expect(&group, "uid-a");
    // A watch that is behind shows it as it was.
    assert!(shelf.put(&pod("a", 1, &json!({})), true).is_empty());
    assert!(!shelf.expectations.satisfied(&group));
    let without = json!({"metadata": {"finalizers": null}});
    assert_eq!(
        shelf.put(&pod("a", 2, &without), true),
        std::slice::from_ref(&group)
    );
    assert!(shelf.expectations.satisfied(&group));
    shelf.expectations.expect(&group, "uid-a");
    shelf.remove(&Key::new("ns", "a"), Some("uid-a"), true);
    assert!(shelf.expectations.satisfied(&group), "gone is as good");
    assert!(shelf.under(&group).is_empty());
}

#[test]
fn a_pod_that_changes_its_group_is_looked_at_in_both() {
    let shelf = Shelf::default();
    shelf.put(&pod("a", 1, &json!({})), true);
    let moved = json!({"metadata": {"labels": {POD_GROUP_NAME: "other"}}});
    let keys = shelf.put(&pod("a", 2, &moved), true);
    assert_eq!(keys, [of_group("ns", "other"), of_group("ns", "group")]);
    assert!(shelf.under(&of_group("ns", "group")).is_empty());
}

#[test]
fn nothing_is_cleaned_up_while_something_is_on_its_way() {
    let (stores, rules) = (Stores::new(&[]), rules());
    let key = of_group("ns", "group");
    stores.shelf.put(&pod("a", 1, &json!({})), true);
    let made = decided(&stores, &rules, &key);
    assert_eq!(kinds(&made), ["create", "CreatedWorkload"]);
    let Some(Act::CreateWorkload(workload)) = made.acts.into_iter().next() else {
        panic!("no Workload");
    };
    stores.put_workload(&Arc::new(Workload::clone(&workload)));
    stores.shelf.put(&pod("b", 2, &json!({})), true);
    let once = decided(&stores, &rules, &key);
    assert_eq!(kinds(&once), ["let go", "delete", "ExcessPodDeleted"]);
    stores.shelf.expectations.expect(&key, "uid-b");
    let twice = decided(&stores, &rules, &key);
    assert!(twice.acts.is_empty(), "{:?}", kinds(&twice));
    assert!(twice.trouble.is_some());
}

#[test]
fn a_namesake_does_not_inherit_the_workload() {
    let (stores, rules) = (Stores::new(&[]), rules());
    let single = json!({"metadata": {"labels": {POD_GROUP_NAME: null}, "annotations": null}});
    let first = pod("a", 1, &single);
    let key = of_pod(&first, true);
    stores.shelf.put(&first, true);
    let Some(Act::CreateWorkload(workload)) =
        decided(&stores, &rules, &key).acts.into_iter().next()
    else {
        panic!("no Workload");
    };
    let mut workload = *workload;
    workload.metadata.uid = Some("uid-workload".to_owned());
    stores.put_workload(&Arc::new(workload));
    assert!(
        decided(&stores, &rules, &key).acts.is_empty(),
        "all is well"
    );
    stores.shelf.remove(&key, Some("uid-a"), true);
    let gone = decided(&stores, &rules, &key);
    assert_eq!(
        kinds(&gone),
        ["status", "release"],
        "its Workload is finished"
    );
    let mut again = single;
    again["metadata"]["uid"] = json!("uid-of-the-next");
    stores.shelf.put(&pod("a", 9, &again), true);
    let next = decided(&stores, &rules, &key);
    assert!(
        kinds(&next).contains(&"DeletedWorkload"),
        "{:?}",
        kinds(&next)
    );
}

#[test]
fn only_pods_of_parents_where_nobody_asked_for_others() {
    let (stores, mut rules) = (Stores::new(&[]), rules());
    rules.only_of_parents = true;
    let key = of_group("ns", "group");
    stores.shelf.put(&pod("a", 1, &json!({})), true);
    assert!(decided(&stores, &rules, &key).acts.is_empty());
    let of_parent =
        json!({"metadata": {"annotations": {annotations::POD_SUSPENDING_PARENT: "statefulset"}}});
    stores.shelf.put(&pod("a", 2, &of_parent), true);
    assert_eq!(
        kinds(&decided(&stores, &rules, &key)),
        ["create", "CreatedWorkload"]
    );
}
