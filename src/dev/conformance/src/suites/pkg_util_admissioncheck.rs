//! Admission checks: whose they are and which object configures them.

use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::{AdmissionCheck, AdmissionCheckState, MultiKueueConfig};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, parse, read};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestConfigHelper", configuration),
    ("TestFilterCheckStates", filtered),
    ("TestGetMultiKueueAdmissionCheck", multikueue),
    ("TestGetRemoteClusters", clusters),
    ("TestIndexerFunc", index),
];

const PROVISIONING: &str = "ProvisioningRequestConfig";

fn check(value: &Value) -> Option<AdmissionCheck> {
    (!value.is_null()).then(|| parse(value))
}

fn configuration(case: Case<'_>) -> Verdict {
    let target: String = read(&case.input["targetAdmissionCheck"]);
    let check = check(&case.input["admissioncheck"]).filter(|check| check.name() == target);
    let Some(check) = check else {
        return Verdict::same(&Value::Null, &case.want["wantConfig"]);
    };
    match check.spec.configuration(PROVISIONING) {
        Ok(name) => {
            let config = &case.input["config"];
            let found = if config["metadata"]["name"] == name {
                config
            } else {
                &Value::Null
            };
            Verdict::same(found, &case.want["wantConfig"])
        }
        Err(error) => {
            let want: String = read(&case.want["wantError"]);
            let found = !want.is_empty() && error.to_string().ends_with(&want);
            Verdict::equal(&format!("{error} is {want}"), &found, &true)
        }
    }
}

fn index(case: Case<'_>) -> Verdict {
    let check: AdmissionCheck = parse(&case.input["admissioncheck"]);
    let own = check.spec.controller_name == "test-controller";
    let name = check.spec.configuration(PROVISIONING).ok().filter(|_| own);
    Verdict::same(
        &name.into_iter().collect::<Vec<_>>(),
        &case.want["wantResult"],
    )
}

fn of_controller(
    case: Case<'_>,
    states: &[AdmissionCheckState],
    controller: &str,
) -> Vec<AdmissionCheckState> {
    let checks: Vec<AdmissionCheck> = each(
        case.input
            .get("admissionChecks")
            .unwrap_or(&case.input["admissionchecks"]),
    );
    let owned = kueue_api::workload::checks::of_controller(states, &checks, controller);
    owned.cloned().collect()
}

fn filtered(case: Case<'_>) -> Verdict {
    let states: Vec<AdmissionCheckState> = each(&case.input["states"]);
    let got = of_controller(case, &states, "test-controller");
    let names: Vec<_> = got.iter().map(|state| state.name.as_str()).collect();
    Verdict::same(&names, &case.want["wantResult"])
}

fn multikueue(case: Case<'_>) -> Verdict {
    let states: Vec<AdmissionCheckState> =
        each(&case.input["setup"]["workload"]["status"]["admissionChecks"]);
    let got = of_controller(case, &states, MULTIKUEUE_CONTROLLER);
    let got = got.first().map(|state| state.name.clone());
    Verdict::same(&json!(got), &case.want["wantResult"]["name"])
}

fn clusters(case: Case<'_>) -> Verdict {
    let check: AdmissionCheck = parse(&case.input["setup"]["ac"]);
    let config = &case.input["multiKueueConfig"];
    let config: Option<MultiKueueConfig> = (!config.is_null()).then(|| parse(config));
    let name = check.spec.configuration("MultiKueueConfig").unwrap();
    let Some(config) = config.filter(|config| config.name() == name) else {
        return Verdict::equal("fails", &true, &case.want["wantErr"].is_string());
    };
    let got = config.spec.active_clusters();
    Verdict::all([
        Verdict::same(&got.ok(), &case.want["wantResult"]),
        Verdict::same(
            &got.err().map(|error| error.to_string()),
            &case.want["wantErr"],
        ),
    ])
}
