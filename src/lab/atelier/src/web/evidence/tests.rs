use jiff::Timestamp;
use serde_json::json;
use timeline::{Entry, ObjectEntry, Seen, Verb, What};

use super::describe;

fn told(what: What) -> Option<(String, &'static str, String)> {
    let evidence = describe(&Entry {
        seq: 1,
        at: Timestamp::UNIX_EPOCH,
        what,
    })?;
    Some((evidence.subject, evidence.verb, evidence.details))
}

fn object(kind: &str, namespace: Option<&str>, verb: Verb, object: serde_json::Value) -> What {
    What::Object(ObjectEntry {
        verb,
        seen: Seen::Watched,
        kind: kind.to_owned(),
        namespace: namespace.map(ToOwned::to_owned),
        name: "x".to_owned(),
        uid: "u".to_owned(),
        version: "1".to_owned(),
        object,
    })
}

#[test]
fn facts_are_told_in_the_clusters_words() {
    let waiting = json!({ "status": { "conditions": [
        { "type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "…" },
        { "type": "Admitted", "status": "True", "reason": "Admitted" },
    ] } });
    let cases = [
        (
            object("Workload", Some("equipe-vision"), Verb::Modified, waiting),
            (
                "Workload equipe-vision/x",
                "evidence-modified",
                "QuotaReserved=False (Pending) · Admitted=True",
            ),
        ),
        (
            object(
                "Job",
                Some("n"),
                Verb::Added,
                json!({ "spec": { "suspend": true } }),
            ),
            ("Job n/x", "evidence-added", "suspend=true"),
        ),
        (
            object("Node", None, Verb::Deleted, json!({})),
            ("Node x", "evidence-deleted", ""),
        ),
    ];
    for (what, (subject, verb, details)) in cases {
        assert_eq!(
            told(what),
            Some((subject.to_owned(), verb, details.to_owned()))
        );
    }
}

#[test]
fn what_only_concerns_the_recorder_is_no_evidence() {
    assert_eq!(told(What::Tick), None);
    assert_eq!(
        told(What::Back {
            kinds: vec!["Job".to_owned()]
        }),
        None
    );
}
