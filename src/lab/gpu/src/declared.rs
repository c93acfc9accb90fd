//! Figures of simulated nodes: nothing runs there, so a pod's annotations say how it would use its devices. The exporter marks
//! every such figure (`source="declared"`, or `"assumed"` where the pod says nothing).

use std::collections::BTreeMap;

use crate::usage::{Source, Work};

/// How busy the pod keeps its devices, in percent.
pub const UTILISATION: &str = "atelier.kueue/gpu-utilisation";
/// Memory that the pod takes on each device, in MiB.
pub const MEMORY: &str = "atelier.kueue/gpu-memory-mib";
/// A pod that says nothing is taken for a training that computes.
const ASSUMED: f64 = 0.85;
const ASSUMED_MEMORY: u64 = 12_288;

/// What a simulated pod with these annotations does with its devices.
#[must_use]
pub fn work(annotations: &BTreeMap<String, String>) -> Work {
    let percent = annotations
        .get(UTILISATION)
        .and_then(|text| {
            text.trim()
                .trim_end_matches('%')
                .trim_end()
                .parse::<f64>()
                .ok()
        })
        .filter(|percent| percent.is_finite());
    let memory = annotations
        .get(MEMORY)
        .and_then(|text| text.trim().parse().ok());
    Work {
        busy: percent.map_or(ASSUMED, |percent| (percent / 100.0).clamp(0.0, 1.0)),
        memory_mib: memory.unwrap_or(ASSUMED_MEMORY),
        source: if percent.is_some() {
            Source::Declared
        } else {
            Source::Assumed
        },
    }
}

#[cfg(test)]
mod tests;
