//! Labels of the operator's choice (gate `CustomMetricLabels`, `kueue-reference.md` 6): each takes its value from a label or an
//! annotation of an object, and what is not among the tracked values becomes one value for all of them.

use kueue_api::ObjectMeta;
use telemetry::metrics::Labels;

#[cfg(test)]
mod tests;

/// What stands for every value that is not tracked.
const UNTRACKED: &str = cache::TrackedLabel::UNTRACKED;

/// One label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// As it is shown: `custom_team`. Lives as long as the process, as the names of all labels do.
    pub label: &'static str,
    pub key: String,
    pub annotation: bool,
    /// Values that are told apart; if there are none, all are.
    pub tracked: Vec<String>,
}

impl Custom {
    fn value(&self, meta: &ObjectMeta) -> String {
        let from = if self.annotation {
            &meta.annotations
        } else {
            &meta.labels
        };
        let value = from.as_ref().and_then(|all| all.get(&self.key)).cloned();
        let value = value.unwrap_or_default();
        if self.tracked.is_empty() || self.tracked.contains(&value) {
            value
        } else {
            UNTRACKED.to_owned()
        }
    }
}

/// The labels by the kind of object they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CustomLabels {
    pub workloads: Vec<Custom>,
    pub cluster_queues: Vec<Custom>,
    pub local_queues: Vec<Custom>,
    pub cohorts: Vec<Custom>,
}

/// The labels of an object; those of one that is not known are empty, so that all series of a metric have the same labels.
pub(super) fn values(of: &[Custom], meta: Option<&ObjectMeta>) -> Labels {
    let nothing = ObjectMeta::default();
    let meta = meta.unwrap_or(&nothing);
    of.iter()
        .map(|custom| (custom.label, custom.value(meta)))
        .collect()
}

/// The same from values that were read before.
pub(super) fn paired(of: &[Custom], values: &[String]) -> Labels {
    let values = values
        .iter()
        .cloned()
        .chain(std::iter::repeat(String::new()));
    of.iter().map(|custom| custom.label).zip(values).collect()
}
