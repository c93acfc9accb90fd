//! From the configuration to what each part is started with.

mod life;
mod metrics;
mod multikueue;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use cache::{FairStrategy, Features as CacheFeatures, QuotaCheck, Transformation};
use controllers::connect::own_namespace;
use controllers::job::decide::Rules;
use controllers::pods::decide::Rules as PodRules;
use controllers::{context, lease, run};
use jobs::JobKind;
use jobs::integrations::Integrations;
use kube::core::Selector;
use kueue_api::config::{Configuration, FairSharing, QuotaCheckStrategy, Tls};
use kueue_api::features::{Features, asked, gate};
use kueue_api::field::aggregate;

use webhooks::tls::Choice;

use crate::clock;
use crate::options::Options;

/// Reads the configuration file, and lays the options over it.
pub(crate) fn load(options: &Options) -> anyhow::Result<Configuration> {
    let own = options.pod_namespace.clone().or_else(own_namespace);
    let mut configuration = match &options.config {
        Some(path) => read(path, own.as_deref())?,
        None => alone(own.as_deref()),
    };
    if let Some(text) = options
        .feature_gates
        .as_deref()
        .filter(|text| !text.is_empty())
    {
        let file = configuration.features.asked();
        let set = asked(Some(text), Some(file).filter(|file| !file.is_empty()))
            .map_err(|errors| anyhow::Error::msg(aggregate(&errors)))?;
        configuration.features =
            Features::start(&set).map_err(|errors| anyhow::Error::msg(aggregate(&errors)))?;
    }
    if let Some(address) = &options.metrics_bind_address {
        configuration.metrics.bind_address.clone_from(address);
    }
    if let Some(address) = &options.health_probe_bind_address {
        configuration.health.bind_address.clone_from(address);
    }
    if options.harness.metrics_port.is_some() {
        "0".clone_into(&mut configuration.metrics.bind_address);
    }
    if let Some(elect) = options.leader_elect {
        configuration.leader_election.leader_elect = elect;
    }
    Ok(configuration)
}

/// Without a file this is a process that somebody, or a harness, started by hand: there may be no namespace for a lease, and nobody to
/// share it with.
fn alone(own: Option<&str>) -> Configuration {
    let mut configuration = Configuration::defaults(own);
    configuration.leader_election.leader_elect = false;
    configuration
}

fn read(path: &Path, own: Option<&str>) -> anyhow::Result<Configuration> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    Configuration::parse(&text, own).with_context(|| path.display().to_string())
}

/// The kinds of jobs that the configuration names.
pub(crate) fn kinds(configuration: &Configuration) -> Vec<&'static JobKind> {
    configuration
        .integrations
        .frameworks
        .iter()
        .filter_map(|name| jobs::kind::of_framework(name))
        .collect()
}

/// What the controllers are started with.
pub(crate) fn controllers(
    configuration: &Configuration,
    instance: &str,
) -> anyhow::Result<run::Options> {
    let selector = configuration.managed_jobs_namespace_selector.clone();
    let settings = context::Settings {
        manage_jobs_without_queue_name: configuration.manage_jobs_without_queue_name,
        managed_namespaces: Selector::try_from(selector)
            .context("managedJobsNamespaceSelector cannot be used")?,
        jobs: rules(configuration),
        integrations: integrations(configuration),
        workload_rules: life::rules(configuration),
        pods: pods(configuration),
        provisioning_cleans_up: configuration.features.on(gate::PROVISIONING_CLEANUP),
        recovers: configuration.features.active(gate::FAILURE_RECOVERY),
        multikueue: multikueue::settings(configuration),
        concurrency: configuration.group_kind_concurrency.clone(),
    };
    Ok(run::Options {
        settings,
        cache: cache_options(configuration),
        metrics: metrics::options(configuration)?,
        kinds: kinds(configuration),
        lease: lease(configuration, instance),
        instance: instance.to_owned(),
        clock: clock::now,
    })
}

/// What the reconciler of jobs goes by.
fn rules(configuration: &Configuration) -> Rules {
    let features = &configuration.features;
    let longest = jobs::naming::longest(features);
    let topology = features.active(gate::TOPOLOGY_AWARE_SCHEDULING);
    Rules {
        workloads: jobs::construct::Options {
            label_keys_to_copy: configuration.integrations.label_keys_to_copy.clone(),
            annotations_to_copy: Vec::new(),
            admission_gates: features.on(gate::ADMISSION_GATED_BY),
            partial: features.on(gate::PARTIAL_ADMISSION),
            longest_name: longest,
            elastic: features.active(gate::ELASTIC_JOBS),
            topology,
        },
        marks: jobs::Marks {
            topology,
            slices: features.active(gate::ELASTIC_JOBS),
            queues: features.on(gate::ASSIGN_QUEUE_LABELS_FOR_PODS),
        },
        track_pods_ready: configuration.pods_ready().is_some(),
        reclaim: features.on(gate::RECLAIMABLE_PODS),
        finish_orphans: features.on(gate::FINISH_ORPHANED_WORKLOADS),
        annotated_names: features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
        keep_deactivated: configuration.retain_deactivated_jobs,
    }
}

/// How pods are looked after, if they are.
fn pods(configuration: &Configuration) -> Option<PodRules> {
    let integrations = integrations(configuration);
    let features = &configuration.features;
    integrations
        .on(jobs::pods::POD.framework)
        .then(|| PodRules {
            jobs: rules(configuration),
            manage_without_queue_name: configuration.manage_jobs_without_queue_name,
            only_of_parents: integrations.pods_implied(),
            switches: features.into(),
            pods_die_alone: features.on(gate::SKIP_REASSIGNMENT_FOR_PODS),
        })
}

/// The frameworks that the configuration enables.
pub(crate) fn integrations(configuration: &Configuration) -> Integrations {
    Integrations::new(
        &configuration.integrations.frameworks,
        &configuration.integrations.external_frameworks,
    )
}

fn cache_options(configuration: &Configuration) -> cache::Options {
    let options = cache::Options {
        features: CacheFeatures::read(|name| configuration.features.active(name)),
        exclude_resource_prefixes: configuration.resources.exclude_resource_prefixes.clone(),
        quota_check: match configuration.resources.quota_check_strategy {
            QuotaCheckStrategy::BlockUndeclared => QuotaCheck::BlockUndeclared,
            QuotaCheckStrategy::IgnoreUndeclared => QuotaCheck::IgnoreUndeclared,
        },
        transformations: transformations(configuration),
        fair_sharing: configuration.fair_sharing.as_ref().map(fair_sharing),
        tracked_labels: metrics::tracked(configuration),
        ..cache::Options::default()
    };
    life::cache(configuration, options)
}

fn transformations(configuration: &Configuration) -> BTreeMap<String, Transformation> {
    let rules = configuration.resources.transformations.iter();
    let made = rules.map(|rule| {
        let made = Transformation {
            retain: rule.retains(),
            multiply_by: rule.multiply_by.clone(),
            outputs: rule.outputs.clone(),
        };
        (rule.input.clone(), made)
    });
    made.collect()
}

/// The rules are those that the configuration lets pass.
fn fair_sharing(sharing: &FairSharing) -> cache::FairSharing {
    let strategy = |name: &String| match name.as_str() {
        "LessThanInitialShare" => FairStrategy::LessThanInitialShare,
        _ => FairStrategy::LessThanOrEqualToFinalShare,
    };
    let mut asked = sharing.preemption_strategies.iter().map(strategy);
    let first = asked.next();
    cache::FairSharing {
        first: first.unwrap_or(FairStrategy::LessThanOrEqualToFinalShare),
        second: asked.next(),
    }
}

/// What the servers agree to.
pub(crate) fn tls(asked: &Tls) -> Choice {
    Choice {
        only_newest: asked.only_newest(),
        suites: asked.cipher_suites.clone(),
        groups: asked.curve_preferences.clone(),
    }
}

fn lease(configuration: &Configuration, instance: &str) -> Option<lease::Options> {
    let election = &configuration.leader_election;
    election.leader_elect.then(|| lease::Options {
        namespace: election.resource_namespace.clone(),
        name: election.resource_name.clone(),
        identity: instance.to_owned(),
        duration: election.lease_duration,
        renew_deadline: election.renew_deadline,
        retry_period: election.retry_period,
        clock: clock::now,
    })
}
