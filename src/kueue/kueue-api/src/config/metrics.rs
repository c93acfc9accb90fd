//! What the metrics show: labels of the operator's choice, and which LocalQueues have metrics (`kueue-reference.md` 2 and 6).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::read::path;
use crate::LabelSelector;
use crate::field::{FieldError, Path};
use crate::validation::qualified_name_faults;

#[cfg(test)]
mod tests;

/// Most labels of all kinds together.
const MAX_LABELS: usize = 20;
/// Where a value comes from when nobody says.
const CLUSTER_QUEUE: &str = "ClusterQueue";
const WORKLOAD: &str = "Workload";
/// Kinds of objects that values come from, with the most labels and the most tracked values of each.
const KINDS: [(&str, usize, usize); 4] = [
    (WORKLOAD, 2, 12),
    (CLUSTER_QUEUE, 6, 16),
    ("LocalQueue", 6, 16),
    ("Cohort", 6, 16),
];

/// A label of metrics whose value comes from an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct CustomLabel {
    pub name: String,
    pub source_kind: Option<String>,
    pub source_label_key: String,
    pub source_annotation_key: String,
    /// Values that are told apart; if there are none, all are.
    pub tracked_values: Vec<String>,
}

impl CustomLabel {
    /// Kind of the object that the value comes from.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self.source_kind.as_deref() {
            None | Some("") => CLUSTER_QUEUE,
            Some(kind) => kind,
        }
    }

    /// The key that holds the value, and whether it is that of an annotation.
    #[must_use]
    pub fn source(&self) -> (&str, bool) {
        match (&*self.source_annotation_key, &*self.source_label_key) {
            ("", "") => (&self.name, false),
            ("", label) => (label, false),
            (annotation, _) => (annotation, true),
        }
    }
}

/// Which LocalQueues have metrics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct LocalQueueMetrics {
    pub enable: bool,
    pub local_queue_selector: Option<LabelSelector>,
}

impl Default for LocalQueueMetrics {
    fn default() -> Self {
        Self {
            enable: true,
            local_queue_selector: None,
        }
    }
}

/// What is wrong with the labels.
pub(super) fn check(labels: &[CustomLabel]) -> Vec<FieldError> {
    let all = path("metrics.customLabels");
    let mut errors = Vec::new();
    if labels.len() > MAX_LABELS {
        errors.push(FieldError::too_many(&all, labels.len(), MAX_LABELS));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for label in labels {
        *counts.entry(label.kind()).or_default() += 1;
    }
    for (kind, count) in counts {
        let detail = match KINDS.iter().find(|(known, ..)| *known == kind) {
            None => format!("unknown source kind: {kind}"),
            Some((_, most, _)) if count > *most => format!(
                "too many custom labels for source kind {kind}: found {count}, expected <= {most}"
            ),
            Some(_) => continue,
        };
        errors.push(FieldError::invalid(&all, count, &detail));
    }
    let mut seen = BTreeSet::new();
    for (i, label) in labels.iter().enumerate() {
        let at = all.index(i);
        errors.extend(one(&at, label));
        if !seen.insert(&label.name) {
            errors.push(FieldError::duplicate(
                &at.child("name"),
                label.name.as_str(),
            ));
        }
    }
    errors
}

fn one(at: &Path, label: &CustomLabel) -> Vec<FieldError> {
    let name = at.child("name");
    let mut errors = Vec::new();
    let word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !word(&label.name) || !label.name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let detail = "must match ^[a-zA-Z][a-zA-Z0-9_]*$";
        errors.push(FieldError::invalid(&name, label.name.as_str(), detail));
    }
    match (&*label.source_label_key, &*label.source_annotation_key) {
        ("", "") => errors.extend(key(&name, &label.name)),
        (from, "") => errors.extend(key(&at.child("sourceLabelKey"), from)),
        ("", from) => errors.extend(key(&at.child("sourceAnnotationKey"), from)),
        _ => {
            let detail = "sourceLabelKey and sourceAnnotationKey are mutually exclusive";
            errors.push(FieldError::invalid(at, label.name.as_str(), detail));
        }
    }
    errors.extend(tracked(&at.child("trackedValues"), label));
    errors
}

fn key(at: &Path, key: &str) -> Option<FieldError> {
    let faults = qualified_name_faults(key);
    (!faults.is_empty()).then(|| FieldError::invalid(at, key, &faults.join("; ")))
}

fn tracked(at: &Path, label: &CustomLabel) -> Option<FieldError> {
    let values = &label.tracked_values;
    let (kind, _, most) = KINDS.iter().find(|(known, ..)| *known == label.kind())?;
    let of_workloads = *kind == WORKLOAD;
    let distinct: BTreeSet<&String> = values.iter().collect();
    if of_workloads && values.is_empty() {
        let detail = "must not be empty when sourceKind is 'Workload'";
        return Some(FieldError::invalid(at, "", detail));
    }
    if of_workloads && values.len() > *most {
        let detail = format!("must not be greater than {most} when sourceKind is 'Workload'");
        return Some(FieldError::invalid(at, values.len(), &detail));
    }
    if values.len() > *most {
        return Some(FieldError::too_many(at, values.len(), *most));
    }
    (distinct.len() < values.len())
        .then(|| FieldError::invalid(at, values.join(","), "must not contain duplicates"))
}
