//! Deployments: what their webhooks write and refuse.

use jobs::serving::deployment::{default, validate_create, validate_update};
use k8s_openapi::api::apps::v1::Deployment;

use super::File;
use super::job_defaults::Place;
use super::jobs::features;
use crate::compare::{Also, faults};
use crate::corpus::{Case, parse};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestDefault", defaults),
    ("TestValidateCreate", create),
    ("TestValidateUpdate", update),
];

fn defaults(case: Case<'_>) -> Verdict {
    let mut deployment: Deployment = parse(&case.input["deployment"]);
    let around = Place::of(case).around(&deployment.metadata);
    default(&mut deployment, around);
    let want: Deployment = parse(&case.want["want"]);
    Verdict::same(&deployment, &serde_json::to_value(want).unwrap())
}

fn create(case: Case<'_>) -> Verdict {
    let deployment: Deployment = parse(&case.input["deployment"]);
    let got = validate_create(&deployment, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn update(case: Case<'_>) -> Verdict {
    let old: Deployment = parse(&case.input["oldDeployment"]);
    let new: Deployment = parse(&case.input["newDeployment"]);
    let got = validate_update(&old, &new, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}
