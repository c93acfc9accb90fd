//! Configuration files of `config.kueue.x-k8s.io/v1beta1`: made into the present form before they are read (`kueue-reference.md` 2). What
//! was switched by a field of its own is switched by the presence of its part now.

use serde_json::{Map, Value, json};

#[cfg(test)]
mod tests;

type Fields = Map<String, Value>;

/// Parts that had a switch inside.
const SWITCHED: [&str; 2] = ["waitForPodsReady", "fairSharing"];

/// Rewrites a file of the older version.
pub(super) fn upgrade(root: &mut Value) {
    let Some(fields) = root.as_object_mut() else {
        return;
    };
    for part in SWITCHED {
        if !is_on(fields, part) {
            fields.shift_remove(part);
        }
    }
    if let Some(waiting) = part(fields, "waitForPodsReady") {
        // Other defaults than those of today.
        waiting.entry("timeout").or_insert_with(|| json!("5m"));
        waiting.entry("blockAdmission").or_insert(json!(true));
    } else {
        // Absent means on today.
        let gates = fields.entry("featureGates").or_insert_with(|| json!({}));
        if let Some(gates) = gates.as_object_mut() {
            gates.insert("DisableWaitForPodsReady".to_owned(), json!(true));
        }
    }
    if let Some(sharing) = part(fields, "fairSharing") {
        sharing
            .entry("preemptionStrategies")
            .or_insert_with(|| json!(["LessThanOrEqualToFinalShare", "LessThanInitialShare"]));
    }
    // Deprecated there, and without effect.
    fields.shift_remove("queueVisibility");
    if let Some(integrations) = part(fields, "integrations") {
        integrations.shift_remove("podOptions");
    }
}

fn part<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    fields.get_mut(name)?.as_object_mut()
}

/// Takes the switch out, and says how it stood.
fn is_on(fields: &mut Fields, name: &str) -> bool {
    part(fields, name)
        .and_then(|part| part.shift_remove("enable"))
        .is_some_and(|enable| enable == true)
}
