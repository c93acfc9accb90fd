//! What the webhooks refuse: kind and field of the faults in their order, and whatever else a table compares.

use kueue_api::features::Features;
use kueue_api::field::FieldError;
use kueue_api::v1beta2::{ClusterQueue, FlavorQuotas, ResourceGroup, ResourceQuota};
use kueue_api::validation;
use serde_json::Value;

use super::File;
use crate::compare::{Also, faults};
use crate::corpus::{Case, parse};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestValidateClusterQueue", cluster_queue),
    ("TestValidateClusterQueueUpdate", cluster_queue_update),
    ("TestValidateCohort", cohort),
    ("TestValidateFlavorResourceCombinations", refused),
    ("TestValidateResourceFlavor", resource_flavor),
    ("TestValidateTotalCoveredResources", refused),
    ("TestValidateTotalFlavors", refused),
    ("TestValidateWorkload", workload),
    ("TestValidateWorkloadUpdate", workload_update),
];

fn compare(case: Case<'_>, got: &[FieldError], also: Also) -> Verdict {
    faults(got, &case.want["wantErr"], also)
}

fn cluster_queue(case: Case<'_>) -> Verdict {
    let got = validation::cluster_queue(&parse(&case.input["clusterQueue"]), &features(case));
    compare(case, &got, Also::Nothing)
}

fn cluster_queue_update(case: Case<'_>) -> Verdict {
    let (old, new) = (
        parse(&case.input["oldClusterQueue"]),
        parse(&case.input["newClusterQueue"]),
    );
    let got = validation::cluster_queue_update(&old, &new, &features(case));
    compare(case, &got, Also::Nothing)
}

fn cohort(case: Case<'_>) -> Verdict {
    let got = validation::cohort(&parse(&case.input["cohort"]));
    compare(case, &got, Also::Detail)
}

fn resource_flavor(case: Case<'_>) -> Verdict {
    let got = validation::resource_flavor(&parse(&case.input["rf"]));
    compare(case, &got, Also::Value)
}

fn workload(case: Case<'_>) -> Verdict {
    let got = validation::workload(&parse(&case.input["workload"]), &features(case));
    compare(case, &got, Also::Nothing)
}

fn workload_update(case: Case<'_>) -> Verdict {
    let (old, new) = (parse(&case.input["before"]), parse(&case.input["after"]));
    let got = validation::workload_update(&old, &new, &features(case));
    compare(case, &got, Also::Nothing)
}

fn features(case: Case<'_>) -> Features {
    Features::with(case.gates())
}

/// Tables that only say whether the object is refused.
fn refused(case: Case<'_>) -> Verdict {
    let mut queue: ClusterQueue = parse(&case.input["setup"]["cq"]);
    fill(&mut queue, case.input);
    let got = validation::cluster_queue(&queue, &features(case));
    Verdict::equal(
        &format!("refused, for {got:?}"),
        &!got.is_empty(),
        &(case.want["wantErr"] == true),
    )
}

/// The corpus drops large lists in some of these cases and says only how long they were.
fn fill(queue: &mut ClusterQueue, input: &Value) {
    if !queue.spec.resource_groups.is_empty() {
        return;
    }
    let number = |name: &str| usize::try_from(input[name].as_u64().unwrap_or(0)).unwrap();
    let flavors = number("numFlavors").max(1);
    let resources = number("numResources").max(number("numCoveredRes"));
    let names: Vec<_> = (0..resources).map(|i| format!("r{i:03}")).collect();
    // At most 64 resources fit into one group.
    for (i, names) in names.chunks(64).enumerate() {
        let quota = |name: &String| ResourceQuota {
            name: name.clone(),
            ..ResourceQuota::default()
        };
        let flavor = |j: usize| FlavorQuotas {
            name: format!("f{i}-{j}"),
            resources: names.iter().map(quota).collect(),
        };
        queue.spec.resource_groups.push(ResourceGroup {
            covered_resources: names.to_vec(),
            flavors: (0..flavors).map(flavor).collect(),
        });
    }
}
