//! How Workloads are handed over to other clusters: from the configuration to what the controllers go by.

use std::collections::BTreeSet;

use controllers::multikueue::{Settings, decide};
use jobs::integrations::Integrations;
use kueue_api::config::{Configuration, Dispatcher};
use kueue_api::features::gate;

use super::integrations;

/// The kinds of jobs that are managed, those of pods too.
fn kinds(integrations: &Integrations) -> BTreeSet<&'static str> {
    let jobs = jobs::KINDS.iter().copied();
    let sets = [
        &jobs::serving::STATEFUL_SET,
        &jobs::serving::LEADER_WORKER_SET,
    ];
    let pods = [&jobs::pods::POD].into_iter().chain(sets);
    let all = jobs.chain(pods);
    let managed = all.filter(|kind| integrations.on(kind.framework));
    managed.map(|kind| kind.kind).collect()
}

/// Clusters that the incremental dispatcher proposes at a time when the file may not say so.
const STEP: usize = 3;

pub(super) fn settings(configuration: &Configuration) -> Option<Settings> {
    let on = |gate| configuration.features.active(gate);
    let asked = &configuration.multikueue;
    let dispatcher = match asked.dispatcher {
        Dispatcher::AllAtOnce => decide::Dispatcher::AllAtOnce,
        Dispatcher::External => decide::Dispatcher::External,
        Dispatcher::Incremental(step) => decide::Dispatcher::Incremental {
            step: if on(gate::MULTIKUEUE_DISPATCHER_CONFIG) {
                usize::try_from(step).unwrap_or(STEP)
            } else {
                STEP
            },
            config_order: on(gate::MULTIKUEUE_DISPATCHER_ORDER),
        },
    };
    on(gate::MULTIKUEUE).then(|| Settings {
        rules: decide::Rules {
            origin: asked.origin.clone(),
            worker_lost_timeout: asked.worker_lost_timeout,
            dispatcher,
            gated: on(gate::MULTIKUEUE_ORCHESTRATED_PREEMPTION),
            annotated: on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
            kinds: kinds(&integrations(configuration)),
            boost: on(gate::PRIORITY_BOOST),
        },
        gc_interval: asked.gc_interval,
        namespace: configuration.namespace.clone(),
        checked_paths: on(gate::MULTIKUEUE_PATHS),
    })
}
