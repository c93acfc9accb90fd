//! Configuration files of the reference: each is read with the reference's outcome, or refused for fields that are not supported
//! yet, by name. Nothing in them may be ignored without a word.

use kueue_api::config::{ConfigError, Configuration};
use kueue_api::field::FieldError;
use serde_json::{Value, json};

use crate::corpus::table;

/// The parts of the outcome that exist here, as the corpus writes them.
fn outcome(c: &Configuration) -> Value {
    let certificates = &c.internal_cert_management;
    json!({
        "clientConnection": {"qps": c.client_connection.qps, "burst": c.client_connection.burst},
        "frameworks": c.integrations.frameworks,
        "certificates": if certificates.enable {
            json!([certificates.webhook_service_name, certificates.webhook_secret_name])
        } else {
            Value::Null
        },
        "selector": c.managed_jobs_namespace_selector,
        "all": c.manage_jobs_without_queue_name,
        "namespace": c.namespace,
    })
}

fn wanted(want: &Value) -> Value {
    let certificates = &want["internalCertManagement"];
    let number = |name: &str| want["clientConnection"][name].as_f64().unwrap();
    json!({
        "clientConnection": {"qps": number("qps"), "burst": want["clientConnection"]["burst"]},
        "frameworks": want["integrations"]["frameworks"],
        "certificates": if certificates["enable"] == true {
            json!([certificates["webhookServiceName"], certificates["webhookSecretName"]])
        } else {
            Value::Null
        },
        "selector": want["managedJobsNamespaceSelector"],
        "all": want["manageJobsWithoutQueueName"],
        "namespace": want["namespace"],
    })
}

#[test]
fn files_of_the_reference_are_read_or_refused_by_name() {
    let Some(table) = table("pkg-config/TestLoad.json") else {
        return;
    };
    let mut read = 0;
    for (name, input, want) in table.cases() {
        let Some(text) = input["configFile"]["content"].as_str() else {
            continue;
        };
        match Configuration::parse(text, None) {
            Ok(configuration) => {
                assert_eq!(
                    outcome(&configuration),
                    wanted(&want["wantConfiguration"]),
                    "{name}"
                );
                read += 1;
            }
            Err(ConfigError::Fields(errors)) => {
                let later = |error: &FieldError| {
                    let named = [
                        "does not support the field yet",
                        "does not have this feature yet",
                    ];
                    // One file has lease times and a lock that no elector takes: the reference only notices when it starts one.
                    named.iter().any(|words| error.detail.contains(words))
                        || error.field.starts_with("leaderElection.")
                };
                let refused_there = want["wantConfiguration"]["kind"].is_null();
                let unexpected: Vec<_> = errors
                    .iter()
                    .filter(|error| !later(error) && !refused_there)
                    .collect();
                assert!(unexpected.is_empty(), "{name}: {unexpected:?}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert!(read >= 5, "only {read} files were read");
}
