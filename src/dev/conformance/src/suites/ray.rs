//! The kinds of Ray: what is theirs alone. The rest is looked at as with all other kinds.

use jobs::admission::{Surroundings, validate_create};
use jobs::{Change, GenericJob};
use serde_json::{Value, json};

use super::File;
use super::jobs::{create, elastic, infos, object, parsed, pod_sets, pods_ready, restore, update};
use crate::compare::{Also, faults};
use crate::corpus::{Case, each};
use crate::verdict::Verdict;

/// `RayJob`s.
pub(super) const JOB: &[File] = &[
    ("TestDefault", super::job_defaults::default_job),
    ("TestGetCustomAnnotations", elastic),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestNodeSelectors", run_and_restore),
    ("TestPodSets", pod_sets),
    ("TestRestorePodSetsInfo", restore),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
    ("Test_RayJobFinished", finished),
    ("Test_RayJobIsOnHold", on_hold),
];

/// `RayCluster`s.
pub(super) const CLUSTER: &[File] = &[
    ("TestBuildPodSets", built),
    ("TestComparePodSetCounts", elastic),
    ("TestGetWorkloadslicingCustomAnnotations", elastic),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestParsePodSetReplicaSizes", elastic),
    ("TestPodSets", pod_sets),
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestRestorePodSetsInfo", restored),
    ("TestUpdatePodSets", elastic),
    ("TestUpdateRayClusterSpecToRunWithPodSetsInfo", run),
    ("TestValidateCreate", create),
    ("TestValidateCreateRayClusterSpec", checked),
    ("TestValidateDefault", super::job_defaults::default_job),
    ("TestValidateUpdate", update),
];

/// `RayService`s.
pub(super) const SERVICE: &[File] = &[
    ("TestIsActive", active),
    ("TestIsSuspended", suspended),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestPodSets", service_pod_sets),
    ("TestPodsReady", pods_ready),
    ("TestValidateCreate", refused),
    ("TestValidateUpdate", update),
];

fn active(case: Case<'_>) -> Verdict {
    let got = job(case).is_active();
    Verdict::equal("active", &got, &(case.want["want"] == true))
}

fn suspended(case: Case<'_>) -> Verdict {
    let got = job(case).is_suspended();
    Verdict::equal("suspended", &got, &(case.want["want"] == true))
}

/// The table only says whether something is wrong.
fn refused(case: Case<'_>) -> Verdict {
    let features = super::jobs::features(case);
    let around = Surroundings {
        namespace_managed: true,
        manage_without_queue_name: case.input["manageAll"] == true,
        ..Surroundings::default()
    };
    let got = validate_create(job(case).as_ref(), around, &features);
    Verdict::equal("refused", &!got.is_empty(), &(case.want["wantErr"] == true))
}

fn service_pod_sets(case: Case<'_>) -> Verdict {
    let scales = &case.input["rayService"]["spec"]["rayClusterConfig"]["enableInTreeAutoscaling"];
    if *scales == true && case.input["rayCluster"].is_object() {
        return Verdict::not_built("sizes that the autoscaler of Ray writes into the cluster");
    }
    pod_sets(case)
}

fn job(case: Case<'_>) -> Box<dyn GenericJob> {
    parsed(&object(case))
}

/// A cluster of which only the specification is given.
fn cluster(case: Case<'_>, spec: &Value) -> Box<dyn GenericJob> {
    let mut object = case.input["object"].clone();
    if object.is_null() {
        object = json!({"metadata": {"name": "cluster", "annotations": case.input["annotations"]}});
    }
    object["apiVersion"] = json!("ray.io/v1");
    object["kind"] = json!("RayCluster");
    object["metadata"]["labels"] = json!({"kueue.x-k8s.io/queue-name": "queue"});
    object["spec"] = spec.clone();
    parsed(&object)
}

fn built(case: Case<'_>) -> Verdict {
    let got = cluster(case, &case.input["rayClusterSpec"]).pod_sets();
    if case.want["wantErr"] == true {
        return Verdict::equal("refused", &got.is_err(), &true);
    }
    let want: Vec<kueue_api::v1beta2::PodSet> = each(&case.want["wantPodSets"]);
    Verdict::same(&json!(got.unwrap()), &json!(want))
}

fn run(case: Case<'_>) -> Verdict {
    let mut running = cluster(case, &case.input["rayClusterSpec"]);
    let ran = running.run_with(&infos(&case.input["podSetsInfo"]));
    let refused = Verdict::equal("refused", &ran.is_err(), &(case.want["wantErr"] == true));
    if ran.is_err() {
        return refused;
    }
    let mut got = running.to_value().unwrap()["spec"].clone();
    got.as_object_mut().unwrap().remove("suspend");
    Verdict::same(&got, &case.want["wantSpec"])
}

/// Whether bringing the templates back changes a cluster that does not run.
fn restored(case: Case<'_>) -> Verdict {
    let mut spec = case.input["rayClusterSpec"].clone();
    spec["suspend"] = json!(true);
    let change = cluster(case, &spec).stop_step(Some(&infos(&case.input["podSetsInfo"])));
    let changed = Verdict::equal(
        "changed",
        &change.is_some(),
        &(case.want["wantChanged"] == true),
    );
    let mut got = cluster(case, &spec).to_value().unwrap();
    if let Some(Change::Object(patch)) = change {
        jobs::merge::apply(&mut got, &patch);
    }
    let wanted = json!({"spec": case.want["wantSpec"]});
    Verdict::all([
        changed,
        Verdict::same(&bare(&got)["spec"], &bare(&wanted)["spec"]),
    ])
}

/// Starts a job and stops it again; the places of templates that were not there before stay, empty.
fn run_and_restore(case: Case<'_>) -> Verdict {
    let mut running = job(case);
    let ran = running.run_with(&infos(&case.input["runInfo"]));
    if case.want["wantRunError"].is_string() {
        return Verdict::equal("refused", &ran.is_err(), &true);
    }
    ran.unwrap();
    let mut got = running.to_value().unwrap();
    let started = Verdict::same(&bare(&got), &bare(&case.want["wantAfterRun"]));
    let originals = infos(&case.input["restoreInfo"]);
    while let Some(change) = parsed(&got).stop_step(Some(&originals)) {
        let (Change::Object(patch) | Change::Status(patch)) = change;
        jobs::merge::apply(&mut got, &patch);
    }
    let restored = Verdict::same(&bare(&got), &bare(&case.want["wantFinal"]));
    Verdict::all([started, restored])
}

/// Without what is empty, and without a `suspend` that the table's own step sets.
fn bare(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(spec) = value["spec"].as_object_mut() {
        spec.remove("suspend");
    }
    prune(&mut value);
    value
}

fn prune(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.values_mut().for_each(prune);
        fields.retain(|_, value| value.as_object().is_none_or(|inner| !inner.is_empty()));
    } else if let Some(items) = value.as_array_mut() {
        items.iter_mut().for_each(prune);
    }
}

fn checked(case: Case<'_>) -> Verdict {
    let spec = &case.input["rayClusterSpec"];
    let job = cluster(case, spec);
    let got = job.problems(&super::jobs::features(case));
    // What is said about growing differs between the kinds; the table has the words of jobs.
    faults(&got, &case.want["wantErrors"], Also::Nothing)
}

fn finished(case: Case<'_>) -> Verdict {
    let mut object = case.input["setup"]["rayJob"].clone();
    object["status"] = case.input["status"].clone();
    let got = parsed(&object).finished();
    Verdict::all([
        Verdict::equal(
            "finished",
            &got.is_some(),
            &(case.want["expectedFinished"] == true),
        ),
        Verdict::equal(
            "success",
            &got.is_some_and(|finish| finish.success),
            &(case.want["expectedSuccess"] == true),
        ),
    ])
}

fn on_hold(case: Case<'_>) -> Verdict {
    let mut object = case.input["setup"]["rayJob"].clone();
    object["status"]["jobDeploymentStatus"] = case.input["jobDeploymentStatus"].clone();
    let got = parsed(&object).is_on_hold();
    Verdict::equal("on hold", &got, &(case.want["expectedOnHold"] == true))
}
