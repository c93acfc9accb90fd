//! What the harness generates: the reference's configurations with fewer Workloads, and the large one that v0.17.0 does not have yet.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::Load;
use crate::reference::Reference;

/// Writes the harness's configuration.
pub(super) fn write(
    reference: &Reference,
    load: Load,
    scale: f64,
    to: &Path,
) -> anyhow::Result<()> {
    let mut configuration = match load {
        Load::Baseline => read(&reference.generator("baseline"))?,
        Load::Tas => read(&reference.generator("tas"))?,
        Load::LargeScale => large(),
    };
    shrink(&mut configuration, scale);
    fs::write(to, serde_json::to_vec_pretty(&configuration)?)?;
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    serde_saphyr::from_str(&text).with_context(|| path.display().to_string())
}

/// The number of Workloads of each set; queues, nodes and intervals stay.
fn shrink(configuration: &mut Value, scale: f64) {
    let mut sets = Vec::new();
    collect(configuration, &mut sets);
    for count in sets {
        let scaled = (count.as_f64().unwrap_or_default() * scale)
            .round()
            .max(1.0);
        #[expect(clippy::cast_possible_truncation, reason = "a few hundred Workloads")]
        let scaled = scaled as i64;
        *count = json!(scaled);
    }
}

fn collect<'a>(value: &'a mut Value, sets: &mut Vec<&'a mut Value>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == "workloadsSets" {
                    let of_sets = value.as_array_mut().into_iter().flatten();
                    sets.extend(of_sets.filter_map(|set| set.get_mut("count")));
                } else {
                    collect(value, sets);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| collect(item, sets)),
        _ => {}
    }
}

/// Ten cohorts of a hundred queues, fifty Workloads each.
fn large() -> Value {
    let set = |class: &str,
               count: u32,
               interval: u32,
               runtime: u32,
               priority: u32,
               request: &str| {
        json!({
            "count": count,
            "creationIntervalMs": interval,
            "workloads": [{ "className": class, "runtimeMs": runtime, "priority": priority, "request": request }],
        })
    };
    json!({ "cohorts": [{
        "className": "cohort",
        "count": 10,
        "queuesSets": [{
            "className": "cq",
            "count": 100,
            "nominalQuota": "20",
            "borrowingLimit": "100",
            "reclaimWithinCohort": "Any",
            "withinClusterQueue": "LowerPriority",
            "workloadsSets": [
                set("small", 35, 60, 150, 50, "1"),
                set("medium", 11, 300, 350, 100, "5"),
                set("large", 4, 700, 700, 200, "20"),
            ],
        }],
    }] })
}
