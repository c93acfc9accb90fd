//! Combinations of gates under which a case has to hold, and what is expected under them.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::corpus::{Case, each, read};

const OBSERVABILITY: &str = "UnadmittedWorkloadsObservability";
const MERGE_PATCH: &str = "WorkloadRequestUseMergePatch";

/// See the module.
pub(super) struct Scenario(BTreeMap<String, bool>);

/// The combinations of a file that do not contradict the case.
pub(super) fn of(case: &Case<'_>) -> Vec<Scenario> {
    let own = case.gates();
    let mut all: Vec<BTreeMap<String, bool>> = each(&case.common["scenarios"]);
    all.retain(|gates| {
        let mut set = gates.iter();
        set.all(|(gate, on)| own.get(gate).is_none_or(|own| own == on))
    });
    if all.is_empty() {
        all.push(BTreeMap::new());
    }
    let all = all.into_iter();
    all.map(|mut gates| {
        gates.extend(read::<BTreeMap<String, bool>>(&case.input["featureGates"]));
        Scenario(gates)
    })
    .collect()
}

impl Scenario {
    pub(super) fn on(&self, case: &Case<'_>, gate: &str) -> bool {
        let set = self.0.get(gate).copied();
        set.unwrap_or_else(|| case.file.defaults.get(gate).copied().unwrap_or(false))
    }

    pub(super) fn merge_patch(&self) -> bool {
        self.0.get(MERGE_PATCH) == Some(&true)
    }

    fn observed(&self) -> bool {
        self.0.get(OBSERVABILITY) != Some(&false)
    }

    /// The Workload that is expected.
    pub(super) fn want(&self, want: &Value, before: &Value) -> Value {
        let merged = &want["wantWorkloadUseMergePatch"];
        let wanted = if self.merge_patch() && merged.is_object() {
            merged
        } else {
            &want["wantWorkload"]
        };
        if self.observed() {
            wanted.clone()
        } else {
            less_said(wanted, before)
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = if self.observed() {
            ""
        } else {
            "legacy words, "
        };
        let patch = if self.merge_patch() {
            "merge patch"
        } else {
            "apply"
        };
        write!(f, "({words}{patch})")
    }
}

/// The rewrite of the README's section "Observability gate off" for the workload controller.
fn less_said(wanted: &Value, before: &Value) -> Value {
    let mut wanted = wanted.clone();
    let admitted_once = before["status"]["conditions"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|of| says(of, "Admitted", "True"));
    let Some(Value::Array(conditions)) = wanted.pointer_mut("/status/conditions") else {
        return wanted;
    };
    let unreserved = |of: &Value| {
        of["reason"] == "NoReservation" || of["reason"] == "NoReservationUnsatisfiedChecks"
    };
    conditions.retain(|of| !says(of, "Admitted", "False") || (admitted_once && !unreserved(of)));
    for condition in conditions.iter_mut() {
        if says(condition, "Admitted", "False")
            && condition["reason"] == "UnsatisfiedAdmissionChecks"
        {
            condition["reason"] = json!("UnsatisfiedChecks");
        }
        if says(condition, "QuotaReserved", "False") {
            condition["reason"] = json!(match condition["reason"].as_str().unwrap_or_default() {
                "WaitingForPodsReady" => "Waiting",
                "AdmissionGated" => "AdmissionGated",
                "Misconfigured" | "Suspended" | "Inadmissible" => "Inadmissible",
                _ => "Pending",
            });
        }
    }
    wanted
}

fn says(of: &Value, type_: &str, status: &str) -> bool {
    of["type"] == type_ && of["status"] == status
}
