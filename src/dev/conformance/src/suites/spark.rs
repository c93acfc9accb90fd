//! Applications of Spark: what their tables alone ask.

use jobs::spark_application::mounted;
use jobs::{Change, GenericJob};
use serde_json::{Value, json};

use super::File;
use super::jobs::{create, infos, parsed, pod_sets, update};
use crate::corpus::{Case, each};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestAddVolumeMount", volume_mount),
    ("TestAddVolumes", volumes),
    ("TestDefault", super::job_defaults::default_job),
    ("TestPodSets", pod_sets),
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestRestorePodSetsInfo", restore),
    ("TestRunWithPodsetsInfo", run),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

fn volume_mount(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("a pod that is of no application"))
}

fn volumes(case: Case<'_>) -> Verdict {
    let spec = &case.input["app"]["spec"];
    let role = &case.input["pod"]["metadata"]["labels"]["spark-role"];
    let Some(role) = role.as_str() else {
        return volume_mount(case);
    };
    let (volumes, mounts) = mounted(&each(&spec["volumes"]), &each(&spec[role]["volumeMounts"]));
    let volumes: Vec<_> = volumes.into_iter().map(|one| one.name).collect();
    let mounts: Vec<_> = mounts.into_iter().map(|one| one.name).collect();
    Verdict::all([
        Verdict::same(&volumes, &case.want["wantVolumes"]),
        Verdict::same(&mounts, &case.want["wantVolumeMount"]),
    ])
}

fn job(case: Case<'_>) -> Box<dyn GenericJob> {
    parsed(&case.input["sparkApp"])
}

fn run(case: Case<'_>) -> Verdict {
    let mut job = job(case);
    let refused = job.run_with(&infos(&case.input["podsetsInfo"])).is_err();
    let as_wanted = if refused {
        Verdict::Passed
    } else {
        Verdict::same(&job.to_value().unwrap(), &case.want["wantSparkApp"])
    };
    Verdict::all([
        Verdict::equal("refused", &refused, &(case.want["wantErr"] == true)),
        as_wanted,
    ])
}

/// Whether bringing it back changes one that is stopped, and into what.
fn restore(case: Case<'_>) -> Verdict {
    let mut job = job(case);
    job.suspend();
    let change = job.stop_step(Some(&infos(&case.input["podsetsInfo"])));
    let changed = change.is_some();
    let mut got = job.to_value().unwrap();
    if let Some(Change::Object(patch)) = change {
        jobs::merge::apply(&mut got, &patch);
    }
    got["spec"]["suspend"] = Value::Null;
    let mut want = case.want["wantSparkApp"].clone();
    want["spec"]["suspend"] = json!(null);
    Verdict::all([
        Verdict::equal("changed", &changed, &(case.want["wantChanged"] == true)),
        Verdict::same(&got, &want),
    ])
}
