//! Rules of ResourceFlavors.

use std::collections::BTreeSet;

use super::names;
use crate::field::{FieldError, Path};
use crate::v1beta2::ResourceFlavor;
use crate::{Taint, Toleration};

/// What is wrong with a ResourceFlavor, new or changed.
#[must_use]
pub fn resource_flavor(flavor: &ResourceFlavor) -> Vec<FieldError> {
    let spec = Path::new("spec");
    let mut errors = names::labels(&spec.child("nodeLabels"), Some(&flavor.spec.node_labels));
    errors.extend(taints(&spec.child("nodeTaints"), &flavor.spec.node_taints));
    errors.extend(tolerations(
        &spec.child("tolerations"),
        &flavor.spec.tolerations,
    ));
    errors
}

fn taints(path: &Path, taints: &[Taint]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, taint) in taints.iter().enumerate() {
        let path = path.index(i);
        errors.extend(names::label_key(&path.child("key"), &taint.key));
        errors.extend(
            taint
                .value
                .as_deref()
                .and_then(|value| names::label_value(&path.child("value"), value)),
        );
        if !seen.insert((&taint.key, &taint.effect)) {
            let mut error =
                FieldError::duplicate(&path, serde_json::to_value(taint).unwrap_or_default());
            "taints must be unique by key and effect pair".clone_into(&mut error.detail);
            errors.push(error);
        }
    }
    errors
}

/// Keys only: the rest is in the schema.
pub(super) fn tolerations(path: &Path, tolerations: &[Toleration]) -> Vec<FieldError> {
    let keys = tolerations
        .iter()
        .enumerate()
        .filter_map(|(i, t)| Some((i, t.key.as_deref().filter(|key| !key.is_empty())?)));
    keys.filter_map(|(i, key)| names::label_key(&path.index(i).child("key"), key))
        .collect()
}
