//! `AdmissionCheck`: a second condition, decided by another controller, before a workload with quota may start.

use serde::{Deserialize, Serialize};

use crate::Condition;
use crate::wire::kind;

kind! {
    AdmissionCheck("admissionchecks", ClusterResourceScope) {
        spec: AdmissionCheckSpec,
        status: Option<AdmissionCheckStatus>,
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionCheckSpec {
    pub controller_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<AdmissionCheckParametersReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionCheckParametersReference {
    pub api_group: String,
    pub kind: String,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AdmissionCheckStatus {
    #[serde(
        deserialize_with = "crate::conditions::lenient",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub conditions: Vec<Condition>,
}
