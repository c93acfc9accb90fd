//! `TrainJob`s: what they run is described by another object of the case.

use jobs::GenericJob;
use kueue_api::features::{Features, gate};
use serde_json::Value;

use super::File;
use super::job_reconcile::complete;
use super::jobs::{infos, parsed};
use crate::compare::{Also, faults};
use crate::corpus::Case;
use crate::store::Store;
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestDefault", super::job_defaults::default_job),
    ("TestMultiKueueAdapter", super::multikueue::adapter),
    ("TestReconciler", super::job_reconcile::reconciler),
    ("TestRunWithPodsetsInfo", run),
    ("TestValidateCreate", create),
];

fn whole(case: Case<'_>, runtime: &Value) -> Box<dyn GenericJob> {
    let mut job = parsed(&case.input["trainJob"]);
    complete(&Store::of([runtime]), job.as_mut());
    job
}

fn run(case: Case<'_>) -> Verdict {
    let mut job = whole(case, &case.common["testCtr"]);
    let before = job.to_value().unwrap();
    let refused = job.run_with(&infos(&case.input["podsetsInfo"])).is_err();
    let got = job.to_value().unwrap();
    let unchanged = !refused || got == before;
    let as_wanted = if refused {
        Verdict::Passed
    } else {
        Verdict::same(
            &got,
            &parsed(&case.want["wantTrainJob"]).to_value().unwrap(),
        )
    };
    Verdict::all([
        Verdict::equal("refused", &refused, &(case.want["wantErr"] == true)),
        Verdict::equal("unchanged", &unchanged, &true),
        as_wanted,
    ])
}

fn create(case: Case<'_>) -> Verdict {
    let job = whole(case, &case.input["clusterTrainingRuntime"]);
    let on = case.input["topologyAwareScheduling"] == true;
    let gates = [(gate::TOPOLOGY_AWARE_SCHEDULING.to_owned(), on)].into();
    let features = Features::with(gates);
    let around = jobs::admission::Surroundings::default();
    let got = jobs::admission::validate_create(job.as_ref(), around, &features);
    faults(&got, &case.want["wantErr"], Also::Detail)
}
