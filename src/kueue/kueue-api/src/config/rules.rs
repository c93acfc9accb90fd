//! Rules about values that were read: names, lists of frameworks, the namespaces whose jobs are managed, lease times.

use std::collections::{BTreeMap, BTreeSet};

use super::life;
use super::read::path;
use super::{
    Configuration, FairSharing, Integrations, LeaderElection, NAMESPACE_NAME_LABEL,
    QuotaCheckStrategy, Resources, VisibilityServer,
};
use super::{devices, metrics, tls};
use crate::features::{Features, gate};
use crate::field::FieldError;
use crate::validation::{is_qualified_name, is_subdomain, matches_selector, selector};

/// The job kind that has to be asked for twice.
const SPARK: &str = "sparkoperator.k8s.io/sparkapplication";

/// Job kinds this controller runs.
const FRAMEWORKS: &[&str] = &[
    "batch/job",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/mpijob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "kubeflow.org/jaxjob",
    "ray.io/rayjob",
    "ray.io/raycluster",
    "ray.io/rayservice",
    "workload.codeflare.dev/appwrapper",
    "trainer.kubeflow.org/trainjob",
    SPARK,
    "pod",
    "deployment",
    "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
];

pub(super) fn check(configuration: &Configuration) -> Vec<FieldError> {
    let mut errors = frameworks(
        &configuration.integrations.frameworks,
        &configuration.features,
    );
    errors.extend(label_keys(&configuration.integrations.label_keys_to_copy));
    errors.extend(namespaces(configuration));
    errors.extend(certificates(configuration));
    errors.extend(lease(&configuration.leader_election));
    errors.extend(concurrency(&configuration.group_kind_concurrency));
    errors.extend(fair_sharing(configuration.fair_sharing.as_ref()));
    errors.extend(transformations(&configuration.resources));
    errors.extend(quota_check(&configuration.resources));
    errors.extend(devices::check(
        &configuration.resources.device_class_mappings,
        &configuration.features,
    ));
    errors.extend(visibility(&configuration.visibility));
    errors.extend(tls::check(&configuration.tls));
    if configuration.features.on(gate::CUSTOM_METRIC_LABELS) {
        errors.extend(metrics::check(&configuration.metrics.custom_labels));
    }
    errors.extend(life::check(
        configuration.pods_ready(),
        configuration.admission_fair_sharing.as_ref(),
    ));
    errors.extend(external_frameworks(&configuration.integrations));
    errors
}

fn frameworks(names: &[String], features: &Features) -> Vec<FieldError> {
    let path = path("integrations.frameworks");
    if names.is_empty() {
        return vec![FieldError::required(&path, "cannot be empty")];
    }
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        if !FRAMEWORKS.contains(&name.as_str()) {
            errors.push(FieldError::not_supported(
                &path.index(i),
                name.as_str(),
                FRAMEWORKS.iter().copied(),
            ));
        } else if !seen.insert(name) {
            errors.push(FieldError::duplicate(&path.index(i), name.as_str()));
        } else if name == SPARK && !features.on(gate::SPARK_APPLICATION) {
            let detail =
                "is an alpha integration: switch on the feature gate SparkApplicationIntegration";
            errors.push(FieldError::forbidden(&path.index(i), detail));
        }
    }
    errors
}

fn visibility(server: &VisibilityServer) -> Option<FieldError> {
    (server.bind_port == 0).then(|| {
        let detail = "must be between 1 and 65535, inclusive";
        FieldError::invalid(&path("visibilityServer.bindPort"), 0, detail)
    })
}

/// Which kind a framework manages, as an external one would be named.
const KINDS: [(&str, &str); 11] = [
    ("batch/job", "Job.v1.batch"),
    ("jobset.x-k8s.io/jobset", "JobSet.v1alpha2.jobset.x-k8s.io"),
    ("kubeflow.org/mpijob", "MPIJob.v2beta1.kubeflow.org"),
    ("kubeflow.org/paddlejob", "PaddleJob.v1.kubeflow.org"),
    ("kubeflow.org/pytorchjob", "PyTorchJob.v1.kubeflow.org"),
    ("kubeflow.org/tfjob", "TFJob.v1.kubeflow.org"),
    ("kubeflow.org/xgboostjob", "XGBoostJob.v1.kubeflow.org"),
    ("kubeflow.org/jaxjob", "JAXJob.v1.kubeflow.org"),
    ("pod", "Pod.v1."),
    ("deployment", "Deployment.v1.apps"),
    ("statefulset", "StatefulSet.v1.apps"),
];

/// Three parts and more: kind, version, group; nobody else's kind, and each once.
fn external_frameworks(integrations: &Integrations) -> Vec<FieldError> {
    let managed = |name: &str| {
        KINDS.iter().any(|(framework, kind)| {
            *kind == name && integrations.frameworks.iter().any(|own| own == framework)
        })
    };
    let names = &integrations.external_frameworks;
    let path = path("integrations.externalFrameworks");
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, name) in names.iter().enumerate() {
        let mut parts = name.splitn(3, '.');
        let whole = parts
            .by_ref()
            .take(3)
            .filter(|part| !part.is_empty())
            .count()
            == 3;
        let at = path.index(i);
        if !whole {
            let detail = "must be format, 'Kind.version.group.com'";
            errors.push(FieldError::invalid(&at, name.as_str(), detail));
        } else if managed(name) || !seen.insert(name) {
            errors.push(FieldError::duplicate(&at, name.as_str()));
        }
    }
    errors
}

fn label_keys(keys: &[String]) -> Vec<FieldError> {
    let path = path("integrations.labelKeysToCopy");
    let wrong = keys
        .iter()
        .enumerate()
        .filter(|(_, key)| !is_qualified_name(key));
    wrong
        .map(|(i, key)| FieldError::invalid(&path.index(i), key.as_str(), "must be a label key"))
        .collect()
}

fn namespaces(configuration: &Configuration) -> Vec<FieldError> {
    let path = path("managedJobsNamespaceSelector");
    let mut errors = selector(&path, &configuration.managed_jobs_namespace_selector);
    for name in BTreeSet::from(["kube-system", configuration.namespace.as_str()]) {
        let labels = BTreeMap::from([(NAMESPACE_NAME_LABEL.to_owned(), name.to_owned())]);
        if errors.is_empty()
            && matches_selector(&configuration.managed_jobs_namespace_selector, &labels)
        {
            let value = serde_json::to_value(&configuration.managed_jobs_namespace_selector)
                .unwrap_or_default();
            return vec![FieldError::invalid(
                &path,
                value,
                &format!("should not match the {name:?} namespace"),
            )];
        }
    }
    errors.truncate(16);
    errors
}

fn certificates(configuration: &Configuration) -> Vec<FieldError> {
    let management = &configuration.internal_cert_management;
    if !management.enable {
        return Vec::new();
    }
    let service = |name: &str| {
        is_subdomain(name)
            && !name.contains('.')
            && name.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let mut errors = Vec::new();
    if !service(&management.webhook_service_name) {
        let detail = "must be the name of a Service: lower case letters, digits and '-', beginning with a letter";
        errors.push(FieldError::invalid(
            &path("internalCertManagement.webhookServiceName"),
            management.webhook_service_name.as_str(),
            detail,
        ));
    }
    if !is_subdomain(&management.webhook_secret_name) {
        let detail = "must be the name of a Secret: lower case letters, digits, '-' and '.'";
        errors.push(FieldError::invalid(
            &path("internalCertManagement.webhookSecretName"),
            management.webhook_secret_name.as_str(),
            detail,
        ));
    }
    errors
}

fn lease(election: &LeaderElection) -> Option<FieldError> {
    let ordered = election.lease_duration > election.renew_deadline
        && election.renew_deadline > election.retry_period;
    let text = format!("{:?}", election.lease_duration);
    let detail =
        "leaseDuration must be longer than renewDeadline, and that longer than retryPeriod";
    (election.leader_elect && !ordered)
        .then(|| FieldError::invalid(&path("leaderElection.leaseDuration"), text, detail))
}

fn concurrency(by_kind: &BTreeMap<String, u32>) -> Vec<FieldError> {
    let none = by_kind.iter().filter(|(_, count)| **count == 0);
    none.map(|(kind, _)| {
        FieldError::invalid(
            &path("controller.groupKindConcurrency").key(kind),
            0,
            "must be at least 1",
        )
    })
    .collect()
}

/// The lists of rules that make sense.
const STRATEGIES: [&[&str]; 3] = [
    &["LessThanOrEqualToFinalShare"],
    &["LessThanInitialShare"],
    &["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
];

fn fair_sharing(sharing: Option<&FairSharing>) -> Option<FieldError> {
    let path = path("fairSharing.preemptionStrategies");
    let asked = &sharing?.preemption_strategies;
    if asked.is_empty() {
        return Some(FieldError::required(&path, "must be specified"));
    }
    let known = STRATEGIES.iter().any(|list| asked == list);
    let lists = STRATEGIES.map(|list| list.join(","));
    let lists = lists.iter().map(String::as_str);
    (!known).then(|| FieldError::not_supported(&path, asked.join(","), lists))
}

fn transformations(resources: &Resources) -> Vec<FieldError> {
    let path = path("resources.transformations");
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (i, rule) in resources.transformations.iter().enumerate() {
        let path = path.index(i);
        let strategy = rule.strategy.as_deref().unwrap_or("Retain");
        if !["Retain", "Replace"].contains(&strategy) {
            errors.push(FieldError::not_supported(
                &path.child("strategy"),
                strategy,
                ["Retain", "Replace"],
            ));
        }
        if !seen.insert(&rule.input) {
            errors.push(FieldError::duplicate(
                &path.child("input"),
                rule.input.as_str(),
            ));
        }
    }
    errors
}

fn quota_check(resources: &Resources) -> Option<FieldError> {
    let path = path("resources.quotaCheckStrategy");
    let both = resources.quota_check_strategy == QuotaCheckStrategy::IgnoreUndeclared
        && !resources.exclude_resource_prefixes.is_empty();
    both.then(|| {
        FieldError::invalid(
            &path,
            "IgnoreUndeclared",
            "excludeResourcePrefixes is not allowed when quotaCheckStrategy is IgnoreUndeclared",
        )
    })
}
