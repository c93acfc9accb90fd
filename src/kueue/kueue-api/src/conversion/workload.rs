//! Workload: the priority class, fields of one version only, a misspelled field, and where the pods were placed.

use serde_json::{Value, json};

use super::placement::{spread, squeeze};
use super::{ConversionError, Fields, drop_all, each, part, rename};

/// How the older version names the two kinds of classes: its word, group, kind.
pub(super) const CLASSES: [(&str, &str, &str); 2] = [
    (
        "kueue.x-k8s.io/workloadpriorityclass",
        "kueue.x-k8s.io",
        "WorkloadPriorityClass",
    ),
    (
        "scheduling.k8s.io/priorityclass",
        "scheduling.k8s.io",
        "PriorityClass",
    ),
];
/// The older version's spelling, and the present one.
const ACCUMULATED: (&str, &str) = (
    "accumulatedPastExexcutionTimeSeconds",
    "accumulatedPastExecutionTimeSeconds",
);

pub(super) fn convert(object: &mut Fields, down: bool) -> Result<(), ConversionError> {
    if let Some(spec) = part(object, "spec") {
        if down {
            class_apart(spec);
            drop_all(spec, &["preemptionGates"]);
            for set in each(spec, "podSets") {
                if let Some(request) = part(set, "topologyRequest") {
                    drop_all(request, &["podsetSliceRequiredTopologyConstraints"]);
                }
            }
        } else {
            class_together(spec);
        }
    }
    let Some(status) = part(object, "status") else {
        return Ok(());
    };
    let (old, new) = ACCUMULATED;
    if down {
        rename(status, new, old);
        drop_all(status, &["preemptionGates"]);
    } else {
        rename(status, old, new);
    }
    let Some(admission) = part(status, "admission") else {
        return Ok(());
    };
    for assignment in each(admission, "podSetAssignments") {
        if let Some(placement) = part(assignment, "topologyAssignment") {
            if down {
                spread(placement)?;
            } else {
                squeeze(placement)?;
            }
        }
    }
    Ok(())
}

fn class_apart(spec: &mut Fields) {
    let Some(reference) = spec.shift_remove("priorityClassRef") else {
        return;
    };
    let known = CLASSES
        .iter()
        .find(|(_, group, kind)| reference["group"] == *group && reference["kind"] == *kind);
    if let Some((source, ..)) = known {
        spec.insert("priorityClassName".to_owned(), reference["name"].clone());
        spec.insert("priorityClassSource".to_owned(), json!(source));
    }
}

/// A source that nobody knows gives no reference.
fn class_together(spec: &mut Fields) {
    let name = spec.shift_remove("priorityClassName");
    let source = spec.shift_remove("priorityClassSource");
    let known = CLASSES
        .iter()
        .find(|(word, ..)| source.as_ref().and_then(Value::as_str) == Some(word));
    if let (Some((_, group, kind)), Some(name)) = (known, name) {
        let reference = json!({"group": group, "kind": kind, "name": name});
        spec.insert("priorityClassRef".to_owned(), reference);
    }
}
