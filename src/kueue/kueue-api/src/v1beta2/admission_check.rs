//! `AdmissionCheck`: a second condition, decided by another controller, before a workload with quota may start.

use serde::{Deserialize, Serialize};

use crate::Condition;
use crate::names::GROUP;
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

/// Why the parameters of a check cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParametersError {
    #[error("missing parameters reference")]
    Missing,
    #[error("empty name: bad parameters reference")]
    Nameless,
    #[error("wrong group {found:?}, expecting {wanted:?}: bad parameters reference")]
    Group { found: String, wanted: String },
    #[error("wrong kind {found:?}, expecting {wanted:?}: bad parameters reference")]
    Kind { found: String, wanted: String },
}

impl AdmissionCheckSpec {
    /// Name of the object of this kind, one of ours, that the check is configured by.
    ///
    /// # Errors
    /// When it names none, or one of another kind.
    pub fn configuration(&self, kind: &str) -> Result<&str, ParametersError> {
        let parameters = self.parameters.as_ref().ok_or(ParametersError::Missing)?;
        let wrong = |found: &str, wanted: &str| (found.to_owned(), wanted.to_owned());
        if parameters.name.is_empty() {
            return Err(ParametersError::Nameless);
        }
        if parameters.api_group != GROUP {
            let (found, wanted) = wrong(&parameters.api_group, GROUP);
            return Err(ParametersError::Group { found, wanted });
        }
        if parameters.kind != kind {
            let (found, wanted) = wrong(&parameters.kind, kind);
            return Err(ParametersError::Kind { found, wanted });
        }
        Ok(&parameters.name)
    }
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
