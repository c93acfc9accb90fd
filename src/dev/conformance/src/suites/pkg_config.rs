//! The manager's configuration file: what it becomes, what is refused in it, and the gates.
//!
//! A file that asks for something this controller does not have yet is refused by the name of the field; such a case is `feature`, not failed.

use std::time::Duration;

use kueue_api::config::devices::{self as rules, DeviceClassMapping};
use kueue_api::config::{ConfigError, Configuration, WaitForPodsReady, parse_duration};
use kueue_api::features::{self, Features};
use kueue_api::field::FieldError;
use kueue_api::names::CONFIG_API_VERSION;
use serde_json::{Value, json};

use super::File;
use crate::compare::{Also, faults};
use crate::corpus::{Case, read};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestEncode", |_| {
        Verdict::Skipped(Skip::Internal(
            "writes a configuration back as YAML, for a log of the reference",
        ))
    }),
    ("TestLoad", load),
    ("TestTLSOptions", load),
    ("TestLoadAndValidateFeatureGates", gates),
    ("TestValidate", validate),
    ("TestValidateCustomLabels", labels),
    ("TestValidateDeviceClassMappings", devices),
    ("TestWaitForPodsReadyIsEnabled", waits_for_pods),
];

/// Configurations of a few fields: the defaults come from the file that they are made into.
fn labels(case: Case<'_>) -> Verdict {
    let mut cfg = case.input["cfg"].clone();
    if cfg.is_null() {
        cfg = case.input["setup"]["cfg"].clone();
    }
    let Some(fields) = cfg.as_object_mut() else {
        return Verdict::Failed("no configuration".to_owned());
    };
    fields.insert("apiVersion".to_owned(), json!(CONFIG_API_VERSION));
    fields.insert("kind".to_owned(), json!("Configuration"));
    fields.insert(
        "featureGates".to_owned(),
        json!({"CustomMetricLabels": true}),
    );
    let want = if case.want["wantErr"].is_null() {
        &case.common["testCases"][case.name]["wantErr"]
    } else {
        &case.want["wantErr"]
    };
    let parsed = Configuration::parse(&cfg.to_string(), None);
    if case.input["cfg"].is_null() {
        // Only that something is said about every kind.
        let refused = matches!(&parsed, Err(ConfigError::Fields(errors)) if errors.len() == 4);
        return Verdict::equal("refused", &refused, &true);
    }
    match parsed {
        Ok(_) => faults(&[], want, Also::Detail),
        Err(ConfigError::Fields(errors)) => faults(&errors, want, Also::Detail),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

fn gates(case: Case<'_>) -> Verdict {
    let file: Option<_> = read(&case.input["featureGateMap"]);
    let mut got = match features::asked(case.input["featureGatesCLI"].as_str(), file.as_ref()) {
        Ok(set) => features::missing_dependencies(&set),
        Err(errors) => errors,
    };
    let want = &case.want["wantErr"];
    // The reference tells all gates with missing dependencies in one fault, we in one each.
    got.truncate(1);
    // Details that are known only from the first of several faults are left out of the data.
    let all = want.as_array().into_iter().flatten();
    let detailed = all.clone().count() > 0 && all.clone().all(|fault| fault["detail"].is_string());
    let also = if detailed && case.input["ignoreDetail"] != true {
        Also::Detail
    } else {
        Also::Nothing
    };
    faults(&got, want, also)
}

/// What this controller does not have yet, of what a file asks for, and what is wrong with the rest.
fn split(errors: Vec<FieldError>) -> (Vec<FieldError>, Vec<FieldError>) {
    let words = [
        "does not support the field yet",
        "does not have this feature yet",
    ];
    let later = |error: &FieldError| words.iter().any(|words| error.detail.contains(words));
    errors.into_iter().partition(later)
}

fn not_yet(later: &[FieldError]) -> Option<Verdict> {
    let later = later.first()?;
    Some(Verdict::not_built(format!(
        "configuration: {}",
        later.field
    )))
}

const WITHOUT_DEFAULTS: Verdict = Verdict::Skipped(Skip::Internal(
    "rules about a configuration without defaults, which no file becomes",
));

/// The case's configuration as a file. None if it lacks a section that every file is given.
fn with_defaults(case: Case<'_>, section: &str) -> Option<String> {
    let mut file = case.input["cfg"].clone();
    file.pointer(section).filter(|value| !value.is_null())?;
    let fields = file.as_object_mut()?;
    fields.insert("apiVersion".to_owned(), json!(CONFIG_API_VERSION));
    fields.insert("kind".to_owned(), json!("Configuration"));
    fields.insert("featureGates".to_owned(), json!(case.gates()));
    Some(file.to_string())
}

/// Whether anybody looks at pods. A file without the section gets it by default, so that case is one of none but the reference's.
fn waits_for_pods(case: Case<'_>) -> Verdict {
    let Some(file) = with_defaults(case, "/waitForPodsReady") else {
        return WITHOUT_DEFAULTS;
    };
    let read = Configuration::parse(&file, None).unwrap();
    let want = case.want["want"] == true;
    Verdict::equal("enabled", &read.pods_ready().is_some(), &want)
}

fn validate(case: Case<'_>) -> Verdict {
    let Some(file) = with_defaults(case, "/integrations/frameworks") else {
        return WITHOUT_DEFAULTS;
    };
    match Configuration::parse(&file, None) {
        Ok(read) if !read.warnings.is_empty() => {
            Verdict::not_built(format!("configuration: {}", read.warnings.join(", ")))
        }
        Ok(_) => faults(&[], &case.want["wantErr"], Also::Nothing),
        Err(ConfigError::Fields(errors)) => {
            let (later, mistakes) = split(errors);
            // What is wrong in any case is compared, also beside what is not there yet.
            let compared = || faults(&mistakes, &case.want["wantErr"], Also::Nothing);
            let accepted = mistakes.is_empty() && case.want["wantErr"].is_null();
            not_yet(&later)
                .filter(|_| accepted)
                .unwrap_or_else(compared)
        }
        Err(error) => Verdict::Failed(error.to_string()),
    }
}

/// The rules about devices alone.
fn devices(case: Case<'_>) -> Verdict {
    let mappings: Vec<DeviceClassMapping> =
        read(&case.input["cfg"]["resources"]["deviceClassMappings"]);
    let got = rules::check(&mappings, &Features::with(case.gates()));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

/// The parts of a configuration that exist here, as the data writes them.
fn outcome(read: &Configuration) -> Value {
    let certificates = &read.internal_cert_management;
    let names = json!({
        "enable": certificates.enable,
        "webhookServiceName": certificates.webhook_service_name,
        "webhookSecretName": certificates.webhook_secret_name,
    });
    json!({
        "clientConnection": {"qps": read.client_connection.qps, "burst": read.client_connection.burst},
        "frameworks": read.integrations.frameworks,
        "externalFrameworks": read.integrations.external_frameworks,
        "tls": {"minVersion": read.tls.min_version, "cipherSuites": read.tls.cipher_suites},
        "certificates": if certificates.enable { names } else { json!({"enable": false}) },
        "selector": read.managed_jobs_namespace_selector,
        "all": read.manage_jobs_without_queue_name,
        "namespace": read.namespace,
        "pods": pods(&read.wait_for_pods_ready),
        "kept": [seconds(read.retain_finished_workloads), seconds(read.retain_deactivated_jobs)],
    })
}

fn wanted(want: &Value) -> Value {
    let qps = want["clientConnection"]["qps"].as_f64();
    json!({
        "clientConnection": {"qps": qps, "burst": want["clientConnection"]["burst"]},
        "frameworks": want["integrations"]["frameworks"],
        "externalFrameworks": want["integrations"]["externalFrameworks"],
        "tls": {"minVersion": want["tls"]["minVersion"], "cipherSuites": want["tls"]["cipherSuites"]},
        "certificates": want["internalCertManagement"],
        "selector": want["managedJobsNamespaceSelector"],
        "all": want["manageJobsWithoutQueueName"],
        "namespace": want["namespace"],
        "pods": timed(&want["waitForPodsReady"], &["timeout", "recoveryTimeout"]),
        "kept": [
            seconds(duration(&want["objectRetentionPolicies"]["workloads"]["afterFinished"])),
            seconds(duration(&want["objectRetentionPolicies"]["workloads"]["afterDeactivatedByKueue"])),
        ],
    })
}

fn duration(value: &Value) -> Option<Duration> {
    value.as_str().map(|text| parse_duration(text).unwrap())
}

fn seconds(duration: Option<Duration>) -> Option<f64> {
    duration.map(|duration| duration.as_secs_f64())
}

/// Durations under these keys as seconds.
fn timed(section: &Value, keys: &[&str]) -> Value {
    let mut section = section.clone();
    for key in keys {
        section[*key] = json!(seconds(duration(&section[*key])));
    }
    section
}

fn pods(asked: &WaitForPodsReady) -> Value {
    json!({
        "timeout": asked.timeout.as_secs_f64(),
        "blockAdmission": asked.block_admission,
        "recoveryTimeout": asked.recovery_timeout.as_secs_f64(),
        "requeuingStrategy": {
            "timestamp": asked.timestamp,
            "backoffLimitCount": asked.backoff_limit_count,
            "backoffBaseSeconds": asked.backoff_base_seconds,
            "backoffMaxSeconds": asked.backoff_max_seconds,
        },
    })
}

fn load(case: Case<'_>) -> Verdict {
    let refused = case.want["wantConfiguration"]["kind"].is_null();
    let read = match &case.input["configFile"] {
        // A name alone is that of a file nobody can read.
        Value::String(_) => return Verdict::equal("refused", &true, &refused),
        file => match file["content"].as_str() {
            Some(text) => Configuration::parse(text, None),
            None => Ok(Configuration::defaults(None)),
        },
    };
    match read {
        Ok(read) if !read.warnings.is_empty() => {
            Verdict::not_built(format!("configuration: {}", read.warnings.join(", ")))
        }
        Ok(read) => {
            let want = wanted(&case.want["wantConfiguration"]);
            Verdict::all([
                Verdict::equal("refused", &false, &refused),
                Verdict::same(&outcome(&read), &want),
            ])
        }
        Err(_) if refused => Verdict::Passed,
        Err(ConfigError::Fields(errors)) => not_yet(&split(errors.clone()).0)
            .unwrap_or_else(|| Verdict::Failed(ConfigError::Fields(errors).to_string())),
        Err(error @ ConfigError::Version { .. }) => Verdict::not_built(error.to_string()),
        Err(error) => Verdict::Failed(error.to_string()),
    }
}
