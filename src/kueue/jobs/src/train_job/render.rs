//! From a `TrainJob` and the runtime that it names to the replicated jobs of the `JobSet` that its controller will make: the templates of the
//! runtime, the patches of the `TrainJob` over them, and what the `TrainJob` says of its trainer and its initializers. What the controller adds for
//! a framework besides (variables, volumes) is nothing that could be charged, and left out.

use serde_json::{Map, Value, json};

/// The label that says which part of the `TrainJob` a replicated job is the template of.
const ANCESTOR: &str = "trainer.kubeflow.org/trainjob-ancestor-step";
const TRAINER: &str = "trainer";
/// Name of the container that trains, and of the replicated job with the nodes.
const NODE: &str = "node";
/// Parts of the `TrainJob`, under their names there and as label and container.
const INITIALIZERS: [(&str, &str); 2] = [
    ("dataset", "dataset-initializer"),
    ("model", "model-initializer"),
];

const POD_SPEC: &str = "/template/spec/template/spec";

/// The replicated jobs, in the order of the runtime.
pub(super) fn replicated_jobs(job: &Value, runtime: &Value) -> Vec<Value> {
    let policy = &runtime["spec"]["mlPolicy"];
    let mut all = patched(job, &runtime["spec"]["template"]["spec"]["replicatedJobs"]);
    let mut counts: Vec<i64> = all.iter().map(|one| own_count(one, policy)).collect();
    set_nodes(job, policy, &all, &mut counts);
    for (one, count) in all.iter_mut().zip(counts) {
        let inner = &mut one["template"]["spec"];
        inner["parallelism"] = json!(count);
        inner["completions"] = json!(count);
        initialize(job, one);
        train(job, policy, one);
    }
    all
}

fn ancestor(one: &Value) -> &str {
    let labels = &one["template"]["metadata"]["labels"];
    labels[ANCESTOR].as_str().unwrap_or_default()
}

/// The templates with the patches of everybody over them.
fn patched(job: &Value, templates: &Value) -> Vec<Value> {
    let mut all = json!({ "replicatedJobs": list(templates) });
    for patch in list(&job["spec"]["runtimePatches"]) {
        let spec = &patch["trainingRuntimeSpec"]["template"]["spec"];
        if spec.is_object() {
            merge(&mut all, spec);
        }
    }
    let mut all = list(&all["replicatedJobs"]).to_vec();
    // What a patch adds comes with the first.
    let names: Vec<_> = list(templates).iter().map(|one| &one["name"]).collect();
    let place = |one: &Value| names.iter().position(|name| **name == one["name"]);
    all.sort_by_key(|one| place(one).unwrap_or(0));
    all
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// By what the entries of a list are told apart that a strategic merge patch joins; other lists are replaced.
fn merge_key(list: &str) -> Option<&'static str> {
    Some(match list {
        "replicatedJobs" | "containers" | "initContainers" | "env" | "volumes"
        | "imagePullSecrets" | "schedulingGates" | "claims" | "resourceClaims" => "name",
        "volumeMounts" => "mountPath",
        "ports" => "containerPort",
        "topologySpreadConstraints" => "topologyKey",
        _ => return None,
    })
}

/// Applies a strategic merge patch, as far as pod templates have need of one.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(fields) = target else {
        return;
    };
    for (name, change) in changes {
        match (fields.get_mut(name), change, merge_key(name)) {
            (_, Value::Null, _) => {
                fields.shift_remove(name);
            }
            (Some(Value::Array(own)), Value::Array(others), Some(key)) => {
                for other in others {
                    match own.iter_mut().find(|one| one[key] == other[key]) {
                        Some(one) => merge(one, other),
                        None => own.push(other.clone()),
                    }
                }
            }
            (Some(own), ..) => merge(own, change),
            (None, ..) => {
                fields.insert(name.clone(), change.clone());
            }
        }
    }
}

/// How many pods a replicated job has where the `TrainJob` says nothing.
fn own_count(one: &Value, policy: &Value) -> i64 {
    let says = if ancestor(one) == TRAINER && policy.is_object() {
        &policy["numNodes"]
    } else {
        &one["template"]["spec"]["parallelism"]
    };
    says.as_i64().unwrap_or(1).max(1)
}

/// The number of nodes that the `TrainJob` asks for. With MPI, the launcher may be one of them.
fn set_nodes(job: &Value, policy: &Value, all: &[Value], counts: &mut [i64]) {
    let Some(nodes) = job["spec"]["trainer"]["numNodes"].as_i64() else {
        return;
    };
    let is_mpi = policy["mpi"].is_object();
    let place = all.iter().position(|one| {
        if is_mpi {
            one["name"] == NODE
        } else {
            ancestor(one) == TRAINER
        }
    });
    if let Some(count) = place.and_then(|place| counts.get_mut(place)) {
        *count = if launches_as_node(policy) {
            (nodes - 1).max(1)
        } else {
            nodes
        };
    }
}

fn launches_as_node(policy: &Value) -> bool {
    policy["mpi"]["runLauncherAsNode"] == true
}

/// The containers of a name.
fn containers<'a>(one: &'a mut Value, name: &'a str) -> impl Iterator<Item = &'a mut Value> {
    let spec = one.pointer_mut(POD_SPEC);
    let all = spec.and_then(|spec| spec.get_mut("containers")?.as_array_mut());
    let all = all.into_iter().flatten();
    all.filter(move |container| container["name"] == name)
}

fn initialize(job: &Value, one: &mut Value) {
    for (part, name) in INITIALIZERS {
        if ancestor(one) != name {
            continue;
        }
        one["replicas"] = json!(1);
        let part = &job["spec"]["initializer"][part];
        for container in containers(one, name) {
            if let Some(uri) = part["storageUri"].as_str() {
                let variable = json!([{"name": "STORAGE_URI", "value": uri}]);
                merge(container, &json!({ "env": variable }));
            }
            if part["env"].is_array() {
                merge(container, &json!({ "env": part["env"] }));
            }
            if part["secretRef"].is_object() {
                let mut from = list(&container["envFrom"]).to_vec();
                from.push(json!({ "secretRef": part["secretRef"] }));
                container["envFrom"] = json!(from);
            }
        }
    }
}

fn train(job: &Value, policy: &Value, one: &mut Value) {
    let trainer = &job["spec"]["trainer"];
    let trains = ancestor(one) == TRAINER;
    let is_node = launches_as_node(policy) && one["name"] == NODE;
    if trains {
        one["replicas"] = json!(1);
    }
    for container in containers(one, NODE) {
        if trains {
            for field in ["image", "command", "args"] {
                if !trainer[field].is_null() {
                    container[field] = trainer[field].clone();
                }
            }
        }
        if (trains || is_node) && trainer["env"].is_array() {
            merge(container, &json!({ "env": trainer["env"] }));
        }
        let sized = trains && policy.is_object() || is_node;
        if sized && trainer["resourcesPerNode"].is_object() {
            let resources = json!({ "resources": trainer["resourcesPerNode"] });
            merge(container, &resources);
        }
    }
}
