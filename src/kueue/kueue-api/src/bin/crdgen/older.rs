//! The older version of each kind, `v1beta1`: the present schema with the differences of `kueue-reference.md` 1.12 written down. What
//! the converter does with them is in `kueue_api::conversion`.

use serde_json::{Value, json};

use crate::definition::Column;
use crate::parts::{check_reference, subdomain};
use crate::schema::{Schema, atomic_list, int32, int64, list, object, one_of, string, time};

/// The whole schema of the older version.
pub(crate) fn schema(kind: &str, present: Value) -> Value {
    let mut schema = present;
    match kind {
        "ClusterQueue" => cluster_queue(&mut schema),
        "LocalQueue" => local_queue(&mut schema),
        "Workload" => workload(&mut schema),
        "MultiKueueCluster" => multikueue_cluster(&mut schema),
        "MultiKueueConfig" => {
            drop_field(&mut schema, "/spec", "quotaManagement");
        }
        "AdmissionCheck" => add(
            &mut schema,
            "/spec",
            "retryDelayMinutes",
            int64().default(15).doc("Deprecated, without effect."),
        ),
        _ => {}
    }
    schema["properties"]["apiVersion"]["description"] =
        json!("Version of this representation: kueue.x-k8s.io/v1beta1.");
    schema
}

/// The older columns: only a field that has another name differs.
pub(crate) fn column(column: &Column) -> Column {
    let path = match column.path {
        ".spec.cohortName" => ".spec.cohort",
        path => path,
    };
    Column { path, ..*column }
}

/// The schema at a path of field names; `[]` are the elements of a list.
fn at<'a>(schema: &'a mut Value, path: &str) -> &'a mut Value {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(schema, |schema, part| match part {
        "[]" => &mut schema["items"],
        field => &mut schema["properties"][field],
    })
}

fn add(schema: &mut Value, path: &str, field: &str, of: Schema) {
    at(schema, path)["properties"][field] = of.into_value();
}

fn drop_field(schema: &mut Value, path: &str, field: &str) -> Option<Value> {
    let parent = at(schema, path);
    if let Some(required) = parent["required"].as_array_mut() {
        required.retain(|name| name != field);
    }
    parent["properties"].as_object_mut()?.shift_remove(field)
}

fn rename(schema: &mut Value, path: &str, from: &str, to: &str) {
    if let Some(value) = drop_field(schema, path, from) {
        at(schema, path)["properties"][to] = value;
    }
}

/// The rules at a path, each through this.
fn rules(schema: &mut Value, path: &str, change: impl Fn(&str, &str) -> Option<(String, String)>) {
    let Some(rules) = at(schema, path)["x-kubernetes-validations"].as_array_mut() else {
        return;
    };
    let text = |rule: &Value, part: &str| rule[part].as_str().unwrap_or_default().to_owned();
    *rules = rules
        .iter()
        .filter_map(|rule| change(&text(rule, "rule"), &text(rule, "message")))
        .map(|(rule, message)| json!({"message": message, "rule": rule}))
        .collect();
}

fn cluster_queue(schema: &mut Value) {
    rename(schema, "/spec", "cohortName", "cohort");
    rules(schema, "/spec", |rule, message| {
        Some((
            rule.replace("self.cohortName", "self.cohort"),
            message.to_owned(),
        ))
    });
    drop_field(schema, "/spec", "concurrentAdmissionPolicy");
    let checks = list(check_reference())
        .items(0, 64)
        .doc("Checks for all flavors; wins over admissionChecksStrategy.");
    add(schema, "/spec", "admissionChecks", checks);
    for (field, word) in [("whenCanBorrow", "Borrow"), ("whenCanPreempt", "Preempt")] {
        let policy = at(schema, &format!("/spec/flavorFungibility/{field}"));
        policy["enum"] = json!([word, "MayStopSearch", "TryNextFlavor"]);
    }
    let pending = object()
        .required("name", string().doc("Name of the workload."))
        .required("namespace", string().doc("Namespace of the workload."));
    let status = object()
        .doc("Deprecated, never written.")
        .field("clusterQueuePendingWorkload", atomic_list(pending))
        .required("lastChangeTime", time().doc("When the list was written."));
    add(schema, "/status", "pendingWorkloadsStatus", status);
}

fn local_queue(schema: &mut Value) {
    rename(schema, "/status", "flavorsUsage", "flavorUsage");
    let flavor = object()
        .required("name", string().doc("Name of the flavor."))
        .open();
    let flavors = list(flavor).items(0, 16).doc("Deprecated, never written.");
    add(schema, "/status", "flavors", flavors);
}

fn workload(schema: &mut Value) {
    class(schema);
    drop_field(schema, "/spec", "preemptionGates");
    drop_field(
        schema,
        "/spec/podSets/[]/topologyRequest",
        "podsetSliceRequiredTopologyConstraints",
    );
    drop_field(schema, "/status", "preemptionGates");
    rename(
        schema,
        "/status",
        "accumulatedPastExecutionTimeSeconds",
        "accumulatedPastExexcutionTimeSeconds",
    );
    let domain = object()
        .required("count", int32().min(1).doc("Pods in the domain."))
        .required(
            "values",
            atomic_list(string())
                .items(1, 16)
                .doc("Label values of the domain, level by level."),
        );
    let placement = object()
        .doc("Domains the pods were placed in.")
        .required(
            "domains",
            list(domain).items(0, 100_000).doc("The domains."),
        )
        .required(
            "levels",
            atomic_list(string())
                .items(1, 16)
                .doc("Node labels of the levels; only the host name if that is the lowest."),
        );
    let assignment = "/status/admission/podSetAssignments/[]";
    add(schema, assignment, "topologyAssignment", placement);
}

/// Name and source of the priority class beside each other.
fn class(schema: &mut Value) {
    drop_field(schema, "/spec", "priorityClassRef");
    let name = subdomain(0, 253).doc("Name of the class that the priority was taken from.");
    let sources = [
        "kueue.x-k8s.io/workloadpriorityclass",
        "scheduling.k8s.io/priorityclass",
        "",
    ];
    let source = one_of(&sources)
        .default("")
        .doc("Kind of the class that the priority was taken from.");
    // An empty name is allowed with an empty source.
    let mut name = name.into_value();
    name["pattern"] = json!(format!(
        "^$|{}",
        name["pattern"].as_str().unwrap_or_default()
    ));
    at(schema, "/spec")["properties"]["priorityClassName"] = name;
    add(schema, "/spec", "priorityClassSource", source);
    rules(schema, "/spec", |rule, message| {
        rule.contains("priorityClassRef")
            .then(|| {
                (
                    "has(self.priorityClassName) && size(self.priorityClassName) > 0 ? has(self.priority) : true".to_owned(),
                    "priority should not be nil when priorityClassName is set".to_owned(),
                )
            })
            .or_else(|| Some((rule.to_owned(), message.to_owned())))
    });
    rules(schema, "/", |rule, message| {
        let Some(part) = message
            .split(' ')
            .next()
            .filter(|part| part.starts_with("priorityClassRef"))
        else {
            return Some((rule.to_owned(), message.to_owned()));
        };
        let was = rule
            .split(" && has(oldSelf.spec.priorityClassRef)")
            .next()?
            .strip_prefix('(')?;
        let of = |object: &str, field: &str| {
            format!("(has({object}.spec.{field}) ? {object}.spec.{field} : '')")
        };
        let same = |field: &str| format!("{} == {}", of("oldSelf", field), of("self", field));
        match part {
            "priorityClassRef.group" => Some((
                format!("{was} ? {} : true", same("priorityClassSource")),
                "priorityClassSource is immutable while workload quota reserved".to_owned(),
            )),
            "priorityClassRef.name" => Some((
                format!(
                    "({was} && {} == '{}') ? {} : true",
                    of("self", "priorityClassSource"),
                    sources[1],
                    same("priorityClassName")
                ),
                "priorityClassName is immutable while workload quota reserved".to_owned(),
            )),
            // Said by the source already.
            _ => None,
        }
    });
}

fn multikueue_cluster(schema: &mut Value) {
    let Some(source) = drop_field(schema, "/spec", "clusterSource") else {
        return;
    };
    let spec = at(schema, "/spec");
    for part in ["properties", "x-kubernetes-validations"] {
        spec[part] = source[part].clone();
    }
    if let Some(spec) = spec.as_object_mut() {
        spec.shift_remove("required");
    }
}
