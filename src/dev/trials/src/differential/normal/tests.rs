use serde_json::json;

use super::*;

#[test]
fn names_of_identities_become_neutral() {
    let workload = json!({
        "metadata": { "name": "job-a-1f2e3", "namespace": "default", "uid": "x",
                      "ownerReferences": [{ "name": "a" }] },
        "status": { "conditions": [
            { "type": "Preempted", "message": "for job-a-1f2e3 (UID: 0b6d2f0e-8f63-4f4e-9d0a-2f7f8a3b4c5d)" },
            { "type": "Evicted", "lastTransitionTime": "2026-01-01T00:00:00Z" },
        ] },
    });
    let objects = normal(vec![("Workload", workload)]);
    let found = &objects["Workload default/job-a-#"];
    assert_eq!(
        found["status"]["conditions"][0],
        json!({ "type": "Evicted" })
    );
    assert_eq!(
        found["status"]["conditions"][1]["message"],
        "for job-a-# (UID: <uid>)"
    );
}
