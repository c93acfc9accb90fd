//! Job kinds as values: their podsets, start and stop, what they say about their pods, and what their webhooks refuse.
//! One table serves several folders, because the reference tests every kind in the same ways.

use jobs::admission::{Surroundings, validate_create, validate_update};
use jobs::{Change, GenericJob, JobKind, PodSetInfo};
use kueue_api::features::{Features, gate};
use kueue_api::v1beta2::{PodSet, ReclaimablePod};
use serde_json::{Value, json};

use super::File;
use crate::compare::{Also, faults};
use crate::corpus::{Case, each, read};
use crate::verdict::Verdict;

/// `batch/v1` Jobs.
pub(super) const JOB: &[File] = &[
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestDefault", super::job_defaults::default_job),
    ("TestCleanLabels", clean_labels),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("Test_multiKueueAdapter_SyncJob", super::multikueue::hidden),
    ("Test_applyWorkloadSliceSchedulingGate", gated),
    ("TestPodSets", pod_sets),
    ("TestPodSetsInfo", run_and_restore),
    ("TestPodsReady", pods_ready),
    ("TestReclaimablePods", reclaimable),
    ("TestTerminalIndexesCount", terminal_indexes),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

/// `JobSet`s.
pub(super) const JOB_SET: &[File] = &[
    ("TestDefault", super::job_defaults::default_job),
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestPodSets", pod_sets),
    ("TestPodsReady", pods_ready),
    ("TestReclaimablePods", reclaimable),
    ("TestRestorePodSetsInfo", restore),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

/// `AppWrapper`s.
pub(super) const APP_WRAPPER: &[File] = &[
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestPodSets", pod_sets),
    ("TestReconciler", super::job_reconcile::reconciler),
];

/// The Kubeflow kinds.
pub(super) const KUBEFLOW: &[File] = &[
    ("TestDefault", super::job_defaults::default_job),
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestOrderedReplicaTypes", roles),
    ("TestPodSets", pod_sets),
    ("TestPriorityClass", priority_class),
    ("TestRestorePodSetsInfo", restore),
    ("TestValidate", create),
    ("TestCalcPriorityClassName", priority_class),
    ("TestRunWithPodSetsInfo", run),
    ("TestValidateCreate", create),
];

/// The gate before the pods of a Job that grows.
fn gated(case: Case<'_>) -> Verdict {
    let mut job = parsed(&case.input["args"]["job"]);
    job.default_own(&features(case));
    let job = job.to_value().unwrap();
    let gates = &job["spec"]["template"]["spec"]["schedulingGates"];
    Verdict::same(gates, &case.want["want"])
}

pub(super) fn elastic(_: Case<'_>) -> Verdict {
    Verdict::not_built("ElasticJobsViaWorkloadSlices")
}

/// Labels of the Job controller are not part of what a Job asks for.
fn clean_labels(case: Case<'_>) -> Verdict {
    let template =
        json!({"metadata": {"labels": case.input["labels"]}, "spec": {"containers": []}});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "spec": {"template": template}});
    let sets = parsed(&job).pod_sets().unwrap();
    let got = sets[0].template.metadata.clone().unwrap_or_default().labels;
    Verdict::same(&got, &case.want["wantLabels"])
}

/// The object of a case, whatever the table calls it.
pub(super) fn object(case: Case<'_>) -> Value {
    let names = [
        "job",
        "jobSet",
        "newJob",
        "mpiJob",
        "rayJob",
        "rayService",
        "rayCluster",
        "service",
        "newService",
        "trainJob",
        "sparkApp",
        "newSparkApp",
        "oldJob",
    ];
    let found = names.iter().find(|name| case.input[**name].is_object());
    found.map(|name| case.input[*name].clone()).unwrap()
}

pub(super) fn kind(object: &Value) -> &'static JobKind {
    let kinds = jobs::KINDS.iter();
    let mut kinds = kinds.filter(|kind| object["kind"] == kind.kind);
    kinds
        .next()
        .unwrap_or_else(|| panic!("no kind {}", object["kind"]))
}

pub(super) fn parsed(object: &Value) -> Box<dyn GenericJob> {
    (kind(object).read)(object.clone()).unwrap()
}

fn job(case: Case<'_>) -> Box<dyn GenericJob> {
    parsed(&object(case))
}

pub(super) fn features(case: Case<'_>) -> Features {
    Features::with(case.gates())
}

pub(super) fn pod_sets(case: Case<'_>) -> Verdict {
    let mut got = job(case).pod_sets().unwrap();
    if !features(case).on(gate::TOPOLOGY_AWARE_SCHEDULING) {
        got.iter_mut().for_each(|set| set.topology_request = None);
    }
    let wanted = ["wantPodSets", "want"].map(|name| &case.want[name]);
    let wanted = wanted.into_iter().find(|wanted| wanted.is_array());
    let want: Vec<PodSet> = each(wanted.unwrap_or(&Value::Null));
    Verdict::same(&json!(got), &json!(want))
}

pub(super) fn infos(value: &Value) -> Vec<PodSetInfo> {
    let infos = value.as_array().into_iter().flatten();
    infos
        .map(|info| PodSetInfo {
            name: read(&info["name"]),
            count: read(&info["count"]),
            labels: read(&info["labels"]),
            annotations: read(&info["annotations"]),
            node_selector: read(&info["nodeSelector"]),
            tolerations: each(&info["tolerations"]),
            scheduling_gates: each(&info["schedulingGates"]),
            keeps_slice: false,
        })
        .collect()
}

/// Starts a Job, and brings it back: it has to be what it was.
fn run_and_restore(case: Case<'_>) -> Verdict {
    let mut running = job(case);
    let before = running.to_value().unwrap();
    if case.want["wantRunError"].is_string() {
        let refused = running.run_with(&infos(&case.input["runInfo"])).is_err();
        return Verdict::equal("refused", &refused, &true);
    }
    running.run_with(&infos(&case.input["runInfo"])).unwrap();
    let started = Verdict::same(
        &running.to_value().unwrap(),
        &parsed(&case.want["wantUnsuspended"]).to_value().unwrap(),
    );
    let originals = infos(&case.input["restoreInfo"]);
    let mut back = running.to_value().unwrap();
    while let Some(change) = parsed(&back).stop_step(Some(&originals)) {
        let (Change::Object(patch) | Change::Status(patch)) = change;
        jobs::merge::apply(&mut back, &patch);
    }
    let restored = Verdict::same(&parsed(&back).to_value().unwrap(), &before);
    Verdict::all([started, restored])
}

fn run(case: Case<'_>) -> Verdict {
    let mut running = job(case);
    let got = running
        .run_with(&infos(&case.input["podSetsInfo"]))
        .is_err();
    Verdict::equal("refused", &got, &(case.want["wantErr"] == true))
}

/// Whether bringing the templates back changes a suspended object.
pub(super) fn restore(case: Case<'_>) -> Verdict {
    let got = job(case)
        .stop_step(Some(&infos(&case.input["podSetsInfo"])))
        .is_some();
    Verdict::equal("changed", &got, &(case.want["wantChanged"] == true))
}

pub(super) fn pods_ready(case: Case<'_>) -> Verdict {
    let got = job(case).pods_ready();
    Verdict::equal("pods ready", &got, &(case.want["want"] == true))
}

fn reclaimable(case: Case<'_>) -> Verdict {
    let got = job(case).reclaimable_pods().unwrap_or_default();
    let want: Vec<ReclaimablePod> = each(&case.want["want"]);
    Verdict::equal("reclaimable pods", &got, &want)
}

/// Terminal indexes show in what an indexed Job gives back.
fn terminal_indexes(case: Case<'_>) -> Verdict {
    let completions: i32 = read(&case.input["completions"]);
    let job = parsed(&json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"},
        "spec": {"completionMode": "Indexed", "completions": completions, "parallelism": completions.max(2), "template": {}},
        "status": {"completedIndexes": case.input["completedIndexes"], "failedIndexes": case.input["failedIndexes"]},
    }));
    let given: i32 = job
        .reclaimable_pods()
        .unwrap_or_default()
        .iter()
        .map(|pods| pods.count)
        .sum();
    let idle = completions.max(2) - completions;
    let got = if given == 0 { 0 } else { given - idle };
    Verdict::equal("terminal indexes", &got, &read(&case.want["want"]))
}

fn roles(case: Case<'_>) -> Verdict {
    let want: Vec<String> = read(&case.want["wantReplicaTypes"]);
    let got = job(case).pod_sets().unwrap();
    let got: Vec<_> = got.into_iter().map(|set| set.name).collect();
    let want: Vec<_> = want.iter().map(|role| role.to_lowercase()).collect();
    Verdict::equal("roles in order", &got, &want)
}

fn priority_class(case: Case<'_>) -> Verdict {
    let job = job(case);
    let got = job.priority_class().unwrap_or_default().to_owned();
    Verdict::equal(
        "priority class",
        &got,
        &read(&case.want["wantPriorityClassName"]),
    )
}

fn wanted(case: Case<'_>) -> &Value {
    let names = ["wantValidationErrs", "wantErr"];
    let found = names.iter().find(|name| case.want[**name].is_array());
    found.map_or(&Value::Null, |name| &case.want[*name])
}

pub(super) fn create(case: Case<'_>) -> Verdict {
    let got = validate_create(job(case).as_ref(), around(case), &features(case));
    faults(&got, wanted(case), Also::Detail)
}

fn around(case: Case<'_>) -> Surroundings {
    Surroundings {
        namespace_managed: true,
        has_default_queue: case.input["defaultLqExist"] == true,
        manage_without_queue_name: case.input["manageAll"] == true,
        ..Surroundings::default()
    }
}

pub(super) fn update(case: Case<'_>) -> Verdict {
    let names = ["oldJob", "oldService", "oldSparkApp"];
    let mut old = names.iter().map(|name| &case.input[*name]);
    let old = old.find(|old| old.is_object()).unwrap();
    let (old, new) = (parsed(old), job(case));
    let got = validate_update(old.as_ref(), new.as_ref(), around(case), &features(case));
    faults(&got, wanted(case), Also::Detail)
}
