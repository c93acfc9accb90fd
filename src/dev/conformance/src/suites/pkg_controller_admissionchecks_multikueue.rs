//! MultiKueue on the manager's side: one pass over a Workload with its worker clusters in memory, the state of the check, the dispatcher.

mod passes;

use std::time::Duration;

use controllers::multikueue::check::{active, configuration};
use controllers::multikueue::connection::establish_timeout;
use kueue_api::conditions::is_true;
use kueue_api::config::parse_duration;
use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::{AdmissionCheck, MultiKueueCluster, MultiKueueConfig};
use serde_json::json;

use super::File;
use crate::corpus::{Case, now, read};
use crate::store::Store;
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestAdmissionCheckHandlerCreate", asked),
    ("TestAdmissionCheckHandlerUpdate", asked),
    ("TestCQReconcile", automation),
    ("TestConfigHandlerUpdate", asked),
    ("TestEstablishBackoffSchedule", establish),
    ("TestListMultiKueueClustersUsingClusterProfile", index),
    ("TestListMultiKueueClustersUsingKubeConfig", index),
    ("TestListMultiKueueConfigsUsingMultiKueueClusters", index),
    ("TestListWorkloadsWithAdmissionCheck", index),
    (
        "TestNominateAndSynchronizeWorkers_MoreCases",
        passes::nominate,
    ),
    ("TestReconcile", check),
    ("TestRemoteClientGC", passes::collect),
    ("TestWlReconcile", passes::workload),
];

/// The incremental dispatcher.
pub(super) const DISPATCHER: &[File] = &[
    (
        "TestIncrementalDispatcherNominateWorkers",
        passes::incremental,
    ),
    ("TestIncrementalDispatcherReconciler_Reconcile", |_| {
        Verdict::Skipped(Skip::Internal(
            "when the reference's dispatcher has nothing to do",
        ))
    }),
];

fn index(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("an index of the reference's client"))
}

fn asked(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("which Workloads are looked at again"))
}

fn automation(_: Case<'_>) -> Verdict {
    Verdict::not_built("MultiKueueManagerQuotaAutomation")
}

fn establish(case: Case<'_>) -> Verdict {
    let failed: u32 = read(&case.input["failedAttempts"]);
    let want: Duration = parse_duration(case.want["want"].as_str().unwrap()).unwrap();
    Verdict::equal("time to connect", &establish_timeout(failed), &want)
}

/// The condition of an `AdmissionCheck`.
fn check(case: Case<'_>) -> Verdict {
    let fields = ["checks", "configs", "clusters"];
    let store = Store::of(fields.map(|field| &case.input[field]));
    let name: String = read(&case.input["reconcileFor"]);
    let Some(mut object) = store.get::<AdmissionCheck>("", &name) else {
        return Verdict::same(&json!([]), &case.want["wantChecks"]);
    };
    if object.spec.controller_name == MULTIKUEUE_CONTROLLER {
        let config = configuration(&object, |name| store.get::<MultiKueueConfig>("", name));
        let reachable = |name: &str| {
            let cluster = store.get::<MultiKueueCluster>("", name)?;
            let status = cluster.status.unwrap_or_default();
            Some(is_true(&status.conditions, "Active"))
        };
        let condition = active(
            &object,
            config.as_ref().map_err(Clone::clone),
            reachable,
            now(),
        );
        object.status.get_or_insert_default().conditions = vec![condition];
    }
    // The reference compares without the generation of the object.
    object.metadata.generation = None;
    Verdict::same(&json!([object]), &case.want["wantChecks"])
}
