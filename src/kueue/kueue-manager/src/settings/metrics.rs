//! What the metrics show: from the configuration and the gates.

use anyhow::Context as _;
use controllers::metrics::{Custom, CustomLabels, Options};
use kube::core::Selector;
use kueue_api::config::{Configuration, CustomLabel};
use kueue_api::features::gate;

pub(super) fn options(configuration: &Configuration) -> anyhow::Result<Options> {
    let on = |gate| configuration.features.on(gate);
    let local = &configuration.metrics.local_queues;
    let selector = local.local_queue_selector.clone().map(Selector::try_from);
    Ok(Options {
        local_queues: selector
            .transpose()
            .context("metrics.localQueueMetrics.localQueueSelector cannot be used")?,
        with_local_queues: local.enable && on(gate::LOCAL_QUEUE_METRICS),
        with_cohorts: on(gate::METRICS_FOR_COHORTS),
        with_creation_latency: on(gate::METRIC_FOR_CREATION_LATENCY),
        with_shapes: on(gate::SCHEDULING_EQUIVALENCE_HASHING),
        with_unadmitted: on(gate::UNADMITTED_OBSERVABILITY),
        with_resources: configuration.metrics.enable_cluster_queue_resources,
        custom: custom(configuration),
    })
}

fn custom(configuration: &Configuration) -> CustomLabels {
    let asked = labels(configuration);
    let of = |kind: &str| -> Vec<Custom> {
        let own = asked.iter().filter(|label| label.kind() == kind);
        own.map(one).collect()
    };
    CustomLabels {
        workloads: of("Workload"),
        cluster_queues: of("ClusterQueue"),
        local_queues: of("LocalQueue"),
        cohorts: of("Cohort"),
    }
}

/// The labels asked for, if the gate lets them.
fn labels(configuration: &Configuration) -> Vec<CustomLabel> {
    if configuration.features.on(gate::CUSTOM_METRIC_LABELS) {
        configuration.metrics.custom_labels.clone()
    } else {
        Vec::new()
    }
}

/// Names of labels live as long as the process; there are at most twenty.
fn one(label: &CustomLabel) -> Custom {
    let (key, annotation) = label.source();
    Custom {
        label: format!("custom_{}", label.name).leak(),
        key: key.to_owned(),
        annotation,
        tracked: label.tracked_values.clone(),
    }
}

/// The labels of Workloads, as the queues count by them.
pub(super) fn tracked(configuration: &Configuration) -> Vec<cache::TrackedLabel> {
    let asked = labels(configuration);
    let of_workloads = asked.iter().filter(|label| label.kind() == "Workload");
    let tracked = of_workloads.map(|label| {
        let (key, annotation) = label.source();
        cache::TrackedLabel {
            key: key.to_owned(),
            annotation,
            values: label.tracked_values.clone(),
        }
    });
    tracked.collect()
}
