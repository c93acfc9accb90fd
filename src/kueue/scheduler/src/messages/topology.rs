//! Why pods could not be placed in a topology, in the reference's words.

use std::fmt::Write as _;

use crate::labels::Taint;
use crate::places::NoRequest;
use crate::topology::{Exclusions, LayerFit, Reason, Unit};

/// Why no place can be looked for.
#[must_use]
pub fn unplaceable(error: &NoRequest) -> String {
    match error {
        NoRequest::NoTopology => {
            "workload requires Topology, but there is no TAS cache information".to_owned()
        }
        NoRequest::NoFlavor => "no TAS flavor assigned".to_owned(),
        NoRequest::SeveralFlavors(flavors) => {
            let names: Vec<_> = flavors.iter().map(ToString::to_string).collect();
            format!("more than one TAS flavor assigned: {}", names.join(", "))
        }
        NoRequest::ElasticRequired => {
            "required topology is not supported with ElasticJobsViaWorkloadSlices".to_owned()
        }
        NoRequest::ElasticPreferred => {
            "preferred topology is not supported with ElasticJobsViaWorkloadSlices".to_owned()
        }
    }
}

/// The text of a failed placement.
#[must_use]
pub fn unplaced(reason: &Reason) -> String {
    match reason {
        Reason::LevelUnspecified => "topology level not specified".to_owned(),
        Reason::NoLevel(level) => format!("no requested topology level: {level}"),
        Reason::NoSliceLevel(level) => format!("no requested topology level for slices: {level}"),
        Reason::SliceAbovePodSet { slice, pod_set } => {
            format!("podset slice topology {slice} is above the podset topology {pod_set}")
        }
        Reason::NoSliceSize => "slice topology requested, but slice size not provided".to_owned(),
        Reason::NoLayerLevel(level) => {
            format!("no requested topology level for additional slice layer: {level}")
        }
        Reason::LayerNotLower { layer, parent } => format!(
            "additional slice layer topology {layer} must be at a lower level than {parent}"
        ),
        Reason::LayerUneven { size, parent } => format!(
            "additional slice layer size {size} must evenly divide parent layer size {parent}"
        ),
        Reason::NoDomains(level) => format!("no topology domains at level: {level}"),
        Reason::Stale(domain) => format!(
            "Cannot replace the node, because the existing topologyAssignment is invalid, as it contains the stale domain {domain}"
        ),
        Reason::NoReplacement(node) => {
            format!("cannot find replacement assignment for unhealthy node: {node}")
        }
        Reason::DoesNotFit {
            topology,
            fitted,
            wanted,
            unit,
            excluded,
        } => does_not_fit(topology, *fitted, *wanted, *unit) + &because(excluded),
        Reason::LayersDoNotFit {
            topology,
            layers,
            excluded,
        } => layers_do_not_fit(topology, layers) + &because(excluded),
    }
}

fn does_not_fit(topology: &str, fitted: i64, wanted: i64, unit: Unit) -> String {
    let unit = match unit {
        Unit::Pods => "pod(s)",
        Unit::Slices => "slice(s)",
    };
    if fitted == 0 {
        format!("topology \"{topology}\" doesn't allow to fit any of {wanted} {unit}")
    } else {
        format!("topology \"{topology}\" allows to fit only {fitted} out of {wanted} {unit}")
    }
}

fn layers_do_not_fit(topology: &str, layers: &[LayerFit]) -> String {
    let mut text = format!("topology \"{topology}\" doesn't allow to fit");
    for layer in layers {
        let LayerFit {
            level,
            fitted,
            wanted,
        } = layer;
        let _ = write!(text, "; {fitted}/{wanted} slice(s) fit on level {level}");
    }
    text
}

fn because(excluded: &Exclusions) -> String {
    if !excluded.any() {
        return String::new();
    }
    let counted = [
        ("nodeSelector", excluded.selector),
        ("affinity", excluded.affinity),
        ("topologyDomain", excluded.domain),
    ];
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let counted = counted.map(|(what, count)| format!("{what}: {count}"));
    let taints = excluded.taints.iter();
    let taints = taints.map(|(taint, count)| format!("taint \"{}\": {count}", written(taint)));
    let resources = excluded.resources.iter();
    let resources = resources.map(|(name, count)| format!("resource \"{name}\": {count}"));
    let mut reasons: Vec<String> = counted.chain(taints).chain(resources).collect();
    reasons.sort_unstable();
    format!(
        ". Total nodes: {}; excluded: {}",
        excluded.nodes,
        reasons.join(", ")
    )
}

/// `key=value:effect`, as people write a taint.
fn written(taint: &Taint) -> String {
    let Taint { key, value, effect } = taint;
    let effect = effect.as_str();
    if value.is_empty() {
        format!("{key}:{effect}")
    } else {
        format!("{key}={value}:{effect}")
    }
}
