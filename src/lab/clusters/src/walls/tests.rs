use serde_json::Value;

use super::manifests;

fn objects() -> Vec<Value> {
    manifests::all().unwrap()
}

fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .collect()
}

/// The verbs that the trainee's role gives on one resource.
fn trainee_verbs(group: &str, resource: &str) -> Vec<String> {
    let objects = objects();
    let role = objects
        .iter()
        .find(|o| o["kind"] == "ClusterRole" && o["metadata"]["name"] == "atelier-trainee")
        .unwrap();
    let matches = |list: &Value, wanted: &str| {
        list.as_array()
            .is_some_and(|list| list.iter().any(|entry| entry == wanted || entry == "*"))
    };
    let mut verbs: Vec<String> = role["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| matches(&rule["apiGroups"], group) && matches(&rule["resources"], resource))
        .flat_map(|rule| {
            rule["verbs"]
                .as_array()
                .unwrap()
                .iter()
                .map(|verb| verb.as_str().unwrap().to_owned())
        })
        .collect();
    verbs.sort();
    verbs.dedup();
    verbs
}

#[test]
fn every_validating_policy_is_bound_and_denies() {
    let objects = objects();
    let policies = of_kind(&objects, "ValidatingAdmissionPolicy");
    assert_eq!(policies.len(), 6);
    for policy in policies {
        let bound = of_kind(&objects, "ValidatingAdmissionPolicyBinding")
            .into_iter()
            .any(|binding| {
                binding["spec"]["policyName"] == policy["metadata"]["name"]
                    && binding["spec"]["validationActions"] == serde_json::json!(["Deny"])
            });
        assert!(bound, "{} is not bound", policy["metadata"]["name"]);
        assert_eq!(policy["spec"]["failurePolicy"], "Fail");
    }
}

#[test]
fn no_placeholder_is_left() {
    for object in objects() {
        assert!(!object.to_string().contains('@'), "{object}");
    }
}

#[test]
fn the_trainees_role_holds_no_way_out() {
    let nothing: [(&str, &str); 8] = [
        ("", "nodes/proxy"),
        ("", "users"),
        ("", "groups"),
        ("certificates.k8s.io", "certificatesigningrequests"),
        ("certificates.k8s.io", "certificatesigningrequests/approval"),
        ("certificates.k8s.io", "signers"),
        ("", "pods/binding"),
        ("", "bindings"),
    ];
    for (group, resource) in nothing {
        assert_eq!(
            trainee_verbs(group, resource),
            Vec::<String>::new(),
            "{group}/{resource}"
        );
    }
    for resource in ["roles", "clusterroles"] {
        let verbs = trainee_verbs("rbac.authorization.k8s.io", resource);
        assert!(
            !verbs
                .iter()
                .any(|verb| matches!(verb.as_str(), "escalate" | "bind" | "*")),
            "{resource}: {verbs:?}"
        );
    }
    for resource in [
        "mutatingadmissionpolicies",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ] {
        assert_eq!(
            trainee_verbs("admissionregistration.k8s.io", resource),
            ["get", "list", "watch"],
            "{resource}"
        );
    }
    assert_eq!(
        trainee_verbs("", "nodes"),
        ["get", "list", "patch", "update", "watch"]
    );
    assert!(!trainee_verbs("", "serviceaccounts").contains(&"impersonate".to_owned()));
}

/// Nobody may grant what they do not hold: the chart could not be installed by whom it is meant for.
#[test]
fn a_trainee_holds_every_right_that_the_chart_grants() {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../manifests/kueue/kueue.yaml");
    let text = std::fs::read_to_string(file).unwrap();
    let granted: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut lacking = std::collections::BTreeSet::new();
    let mut seen = 0;
    for role in of_kind(&granted, "ClusterRole")
        .into_iter()
        .chain(of_kind(&granted, "Role"))
    {
        for rule in role["rules"].as_array().into_iter().flatten() {
            for group in texts(&rule["apiGroups"]) {
                for resource in texts(&rule["resources"]) {
                    let held = trainee_verbs(&group, &resource);
                    for verb in texts(&rule["verbs"]) {
                        seen += 1;
                        if !held.contains(&verb) && !held.iter().any(|held| held == "*") {
                            lacking.insert(format!("{verb} {group}/{resource}"));
                        }
                    }
                }
            }
        }
    }
    assert!(seen > 100, "only {seen} rights found");
    assert_eq!(lacking, std::collections::BTreeSet::new());
}
