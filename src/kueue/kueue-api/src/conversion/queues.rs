//! ClusterQueue, LocalQueue, `MultiKueueCluster`.

use serde_json::{Value, json};

use super::{Fields, drop_all, part, rename};

pub(super) fn cluster_queue(object: &mut Fields, down: bool) {
    if let Some(spec) = part(object, "spec") {
        if down {
            rename(spec, "cohortName", "cohort");
            drop_all(spec, &["concurrentAdmissionPolicy"]);
        } else {
            rename(spec, "cohort", "cohortName");
            checks(spec);
            fungibility(spec);
        }
    }
    if let Some(status) = part(object, "status")
        && !down
    {
        drop_all(status, &["pendingWorkloadsStatus"]);
    }
}

/// The flat list of checks becomes rules for all flavors, and wins over rules that were given beside it.
fn checks(spec: &mut Fields) {
    let Some(Value::Array(names)) = spec.shift_remove("admissionChecks") else {
        return;
    };
    if names.is_empty() {
        return;
    }
    let rules: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    let strategy = json!({ "admissionChecks": rules });
    spec.insert("admissionChecksStrategy".to_owned(), strategy);
}

/// Words that the newer version has no more.
fn fungibility(spec: &mut Fields) {
    let Some(policy) = part(spec, "flavorFungibility") else {
        return;
    };
    for (field, old) in [("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")] {
        if policy.get(field).and_then(Value::as_str) == Some(old) {
            policy.insert(field.to_owned(), json!("MayStopSearch"));
        }
    }
}

pub(super) fn local_queue(object: &mut Fields, down: bool) {
    let Some(status) = part(object, "status") else {
        return;
    };
    if down {
        rename(status, "flavorsUsage", "flavorUsage");
    } else {
        rename(status, "flavorUsage", "flavorsUsage");
        drop_all(status, &["flavors"]);
    }
}

pub(super) fn multikueue_cluster(object: &mut Fields, down: bool) {
    const SOURCES: [&str; 2] = ["kubeConfig", "clusterProfileRef"];
    let Some(spec) = part(object, "spec") else {
        return;
    };
    if down {
        if let Some(Value::Object(source)) = spec.shift_remove("clusterSource") {
            spec.extend(source);
        }
        return;
    }
    let mut source = Fields::new();
    for name in SOURCES {
        if let Some(value) = spec.shift_remove(name) {
            source.insert(name.to_owned(), value);
        }
    }
    spec.insert("clusterSource".to_owned(), Value::Object(source));
}
