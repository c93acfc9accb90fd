//! Ways up, and who is found at their end.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::json;

use super::{Astray, LIMIT, find};
use crate::integrations::Integrations;

fn meta(name: &str, queue: bool, owner: Option<(&str, &str, &str)>) -> ObjectMeta {
    let labels = queue.then(|| json!({"kueue.x-k8s.io/queue-name": "lq"}));
    let owners = owner.map(|(api, kind, name)| {
        json!([{"apiVersion": api, "kind": kind, "name": name, "uid": name, "controller": true}])
    });
    let value = json!({"name": name, "uid": name, "labels": labels, "ownerReferences": owners});
    serde_json::from_value(value).unwrap()
}

fn integrations() -> Integrations {
    let frameworks = ["batch/job", "jobset.x-k8s.io/jobset"].map(str::to_owned);
    Integrations::new(&frameworks, &["Flow.v1.example.com".to_owned()])
}

const JOB_SET: (&str, &str) = ("jobset.x-k8s.io/v1alpha2", "JobSet");

fn set(name: &str) -> Option<(&str, &str, &str)> {
    Some((JOB_SET.0, JOB_SET.1, name))
}

#[test]
fn the_topmost_managed_ancestor_counts() {
    let flow = Some(("example.com/v1", "Flow", "flow"));
    let cases = [
        ("alone", meta("j", true, None), vec![], false, None),
        (
            "child of a queued one",
            meta("j", false, set("s")),
            vec![meta("s", true, None)],
            false,
            Some("s"),
        ),
        (
            "child of one without a queue",
            meta("j", true, set("s")),
            vec![meta("s", false, None)],
            false,
            None,
        ),
        (
            "where all are managed",
            meta("j", true, set("s")),
            vec![meta("s", false, None)],
            true,
            Some("s"),
        ),
        (
            "of a framework that others integrate",
            meta("j", false, set("s")),
            vec![meta("s", false, flow), meta("flow", true, None)],
            false,
            Some("flow"),
        ),
        (
            "a kind that nobody knows",
            meta("j", true, Some(("batch/v1", "CronJob", "c"))),
            vec![meta("c", true, None)],
            true,
            None,
        ),
        (
            "a kind that is not enabled is passed",
            meta("j", false, Some(("ray.io/v1", "RayJob", "r"))),
            vec![meta("r", true, set("s")), meta("s", true, None)],
            false,
            Some("s"),
        ),
    ];
    let integrations = integrations();
    for (name, object, above, unnamed, want) in cases {
        let above: BTreeMap<_, _> = above.into_iter().map(|m| (m.name.clone(), m)).collect();
        let look_up = |owner: &OwnerReference| above.get(&Some(owner.name.clone())).cloned();
        let found = find(&object, unnamed, |owner| integrations.known(owner), look_up).unwrap();
        let found = found.and_then(|ancestor| ancestor.meta.name);
        assert_eq!(found.as_deref(), want, "{name}");
    }
}

#[test]
fn a_way_that_leads_nowhere_is_an_error() {
    let integrations = integrations();
    let known = |owner: &OwnerReference| integrations.known(owner);
    let child = meta("0", false, set("1"));
    assert!(matches!(
        find(&child, false, known, |_| None),
        Err(Astray::OwnerNotFound { .. })
    ));
    let circle = |owner: &OwnerReference| {
        let next = if owner.name == "1" { "0" } else { "1" };
        Some(meta(&owner.name, false, set(next)))
    };
    assert_eq!(find(&child, false, known, circle), Err(Astray::Cyclic));
    let endless = |owner: &OwnerReference| {
        let next = (owner.name.parse::<usize>().unwrap() + 1).to_string();
        Some(meta(&owner.name, false, set(&next)))
    };
    assert_eq!(find(&child, false, known, endless), Err(Astray::TooDeep));
    let short = |owner: &OwnerReference| {
        let number = owner.name.parse::<usize>().unwrap();
        let next = (number + 1).to_string();
        let last = number == LIMIT;
        let above = set(&next).filter(|_| !last);
        Some(meta(&owner.name, last, above))
    };
    let found = find(&child, false, known, short).unwrap().unwrap();
    assert_eq!(found.meta.name, Some(LIMIT.to_string()));
}

#[test]
fn a_namesake_of_the_owner_ends_the_way() {
    let integrations = integrations();
    let known = |owner: &OwnerReference| integrations.known(owner);
    let child = meta("j", false, Some((JOB_SET.0, JOB_SET.1, "s")));
    let other = |_: &OwnerReference| {
        let mut found = meta("s", true, None);
        found.uid = Some("another".to_owned());
        Some(found)
    };
    assert_eq!(find(&child, false, known, other), Ok(None));
}
