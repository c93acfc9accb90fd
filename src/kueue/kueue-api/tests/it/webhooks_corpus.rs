//! Validation against the reference's cases: number, order, kind and field of the faults, and whatever else the corpus says counts.

use kueue_api::field::FieldError;
use kueue_api::validation;
use serde_json::Value;

use crate::corpus::{features, object, table};

/// Which parts of a fault a table compares besides kind and field.
#[derive(Clone, Copy)]
enum Also {
    Nothing,
    Value,
    Detail,
}

fn seen(errors: &[FieldError]) -> Vec<(String, String)> {
    errors
        .iter()
        .map(|error| (error.cause.reason().to_owned(), error.field.clone()))
        .collect()
}

fn wanted(want: &Value) -> Vec<(String, String)> {
    let text = |error: &Value, name: &str| error[name].as_str().unwrap().to_owned();
    want["wantErr"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|error| (text(error, "type"), text(error, "field")))
        .collect()
}

fn compare(file: &str, also: Also, run: impl Fn(&Value) -> Vec<FieldError>) {
    let Some(table) = table(file) else { return };
    let mut wrong = Vec::new();
    for (name, input, want) in table.cases() {
        let errors = run(input);
        if seen(&errors) != wanted(want) {
            wrong.push(format!("{name}: want {:?}, got {errors:?}", wanted(want)));
        }
        for (error, want) in errors
            .iter()
            .zip(want["wantErr"].as_array().into_iter().flatten())
        {
            match also {
                Also::Nothing => {}
                Also::Value => assert_eq!(error.value, want["badValue"], "{name}"),
                Also::Detail => assert_eq!(
                    error.detail,
                    want["detail"].as_str().unwrap_or_default(),
                    "{name}"
                ),
            }
        }
    }
    assert!(wrong.is_empty(), "{file}:\n{}", wrong.join("\n"));
}

/// Tables that only say whether the object is refused.
fn refused(file: &str) {
    let Some(table) = table(file) else { return };
    for (name, input, want) in table.cases() {
        let mut queue: kueue_api::v1beta2::ClusterQueue = object(&input["setup"]["cq"]);
        fill(&mut queue, input);
        let errors = validation::cluster_queue(&queue, &features(input));
        assert_eq!(
            !errors.is_empty(),
            want["wantErr"].as_bool().unwrap(),
            "{name}: {errors:?}"
        );
    }
}

/// The corpus drops large lists in some of these cases and says only how long they were.
fn fill(queue: &mut kueue_api::v1beta2::ClusterQueue, input: &Value) {
    use kueue_api::v1beta2::{FlavorQuotas, ResourceGroup, ResourceQuota};
    if !queue.spec.resource_groups.is_empty() {
        return;
    }
    let number = |name: &str| usize::try_from(input[name].as_u64().unwrap_or(0)).unwrap();
    let (flavors, resources) = (
        number("numFlavors").max(1),
        number("numResources").max(number("numCoveredRes")),
    );
    // At most 64 resources fit into one group.
    let names: Vec<_> = (0..resources).map(|i| format!("r{i:03}")).collect();
    for (i, names) in names.chunks(64).enumerate() {
        let quotas: Vec<_> = names
            .iter()
            .map(|name| ResourceQuota {
                name: name.clone(),
                ..ResourceQuota::default()
            })
            .collect();
        let flavors = (0..flavors)
            .map(|j| FlavorQuotas {
                name: format!("f{i}-{j}"),
                resources: quotas.clone(),
            })
            .collect();
        queue.spec.resource_groups.push(ResourceGroup {
            covered_resources: names.to_vec(),
            flavors,
        });
    }
}

#[test]
fn cluster_queues() {
    compare(
        "pkg-webhooks/TestValidateClusterQueue.json",
        Also::Nothing,
        |input| validation::cluster_queue(&object(&input["clusterQueue"]), &features(input)),
    );
}

#[test]
fn changes_of_cluster_queues() {
    compare(
        "pkg-webhooks/TestValidateClusterQueueUpdate.json",
        Also::Nothing,
        |input| {
            validation::cluster_queue_update(
                &object(&input["oldClusterQueue"]),
                &object(&input["newClusterQueue"]),
                &features(input),
            )
        },
    );
}

#[test]
fn limits_of_cluster_queues() {
    refused("pkg-webhooks/TestValidateTotalFlavors.json");
    refused("pkg-webhooks/TestValidateTotalCoveredResources.json");
    refused("pkg-webhooks/TestValidateFlavorResourceCombinations.json");
}

#[test]
fn cohorts() {
    compare(
        "pkg-webhooks/TestValidateCohort.json",
        Also::Detail,
        |input| validation::cohort(&object(&input["cohort"])),
    );
}

#[test]
fn resource_flavors() {
    compare(
        "pkg-webhooks/TestValidateResourceFlavor.json",
        Also::Value,
        |input| validation::resource_flavor(&object(&input["rf"])),
    );
}

#[test]
fn workloads() {
    compare(
        "pkg-webhooks/TestValidateWorkload.json",
        Also::Nothing,
        |input| validation::workload(&object(&input["workload"]), &features(input)),
    );
}

#[test]
fn changes_of_workloads() {
    compare(
        "pkg-webhooks/TestValidateWorkloadUpdate.json",
        Also::Nothing,
        |input| {
            validation::workload_update(
                &object(&input["before"]),
                &object(&input["after"]),
                &features(input),
            )
        },
    );
}

#[test]
fn dependencies_of_gates() {
    let Some(table) = table("pkg-config/TestLoadAndValidateFeatureGates.json") else {
        return;
    };
    for (name, input, want) in table.cases() {
        let gates = crate::corpus::gates(&input["featureGateMap"]);
        let wanted: Vec<_> = want["wantErr"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|e| e["detail"].as_str())
            .collect();
        if wanted.iter().any(|detail| detail.contains("cannot both"))
            || input["featureGatesCLI"].is_string()
        {
            continue;
        }
        let errors = kueue_api::features::missing_dependencies(&gates);
        assert_eq!(
            errors.is_empty(),
            want["wantErr"].is_null(),
            "{name}: {errors:?}"
        );
        for detail in wanted {
            assert!(
                errors.iter().any(|error| error.detail == detail),
                "{name}: want {detail:?}, got {errors:?}"
            );
        }
    }
}
