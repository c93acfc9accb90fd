//! `ProvisioningRequest` of `autoscaling.x-k8s.io/v1`, as far as we write and read it, and the names of those that we make. Reference section
//! 4.16, "Naming".

use std::collections::BTreeMap;

use kube::core::ApiResource;
use kueue_api::conditions::find;
use kueue_api::{Condition, ObjectMeta};
use serde::{Deserialize, Serialize};

use crate::key::Key;
use crate::store::Stored;

pub const API_VERSION: &str = "autoscaling.x-k8s.io/v1";
pub const KIND: &str = "ProvisioningRequest";
pub const PLURAL: &str = "provisioningrequests";

/// Longest beginning of a name that is cut.
const LONGEST: usize = 247;

/// How the API server calls requests.
#[must_use]
pub fn resource() -> ApiResource {
    ApiResource {
        group: "autoscaling.x-k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        plural: PLURAL.to_owned(),
    }
}

/// What an autoscaler is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    pub metadata: ObjectMeta,
    pub spec: RequestSpec,
    #[serde(skip_serializing)]
    pub status: RequestStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestSpec {
    pub provisioning_class_name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    pub pod_sets: Vec<RequestedPods>,
}

/// So many pods of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestedPods {
    pub count: i32,
    pub pod_template_ref: TemplateName,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TemplateName {
    pub name: String,
}

/// What the autoscaler answers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestStatus {
    #[serde(deserialize_with = "kueue_api::conditions::lenient")]
    pub conditions: Vec<Condition>,
    pub provisioning_class_details: BTreeMap<String, String>,
}

impl Stored for Request {
    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }
}

impl Request {
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// The Workload that it was made for.
    #[must_use]
    pub fn workload(&self) -> Option<Key> {
        let owners = self.metadata.owner_references.iter().flatten();
        let mut owners = owners.filter(|owner| owner.kind == "Workload");
        let namespace = self.metadata.namespace.as_deref().unwrap_or_default();
        owners.next().map(|owner| Key::new(namespace, &owner.name))
    }

    /// A condition, true or not.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        find(&self.status.conditions, kind)
    }

    /// The message of a condition that is true.
    #[must_use]
    pub fn is(&self, kind: &str) -> Option<&str> {
        let condition = self.condition(kind)?;
        (condition.status == "True").then_some(condition.message.as_str())
    }

    /// The number of the attempt, if it was made for this check of this Workload.
    #[must_use]
    pub fn attempt(&self, workload: &str, check: &str) -> Option<i32> {
        let prefix = limited(format!("{workload}-{check}-"));
        let number = self.name().strip_prefix(&prefix)?;
        let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| number.parse().unwrap_or(1))
    }
}

/// The name of one attempt.
#[must_use]
pub fn name_of(workload: &str, check: &str, attempt: i32) -> String {
    limited(format!("{workload}-{check}-{attempt}"))
}

/// The name of the template of one podset.
#[must_use]
pub fn template_name(request: &str, pod_set: &str) -> String {
    limited(format!("ppt-{request}-{pod_set}"))
}

fn limited(full: String) -> String {
    if full.len() <= LONGEST {
        return full;
    }
    let mut end = LONGEST;
    while !full.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{}", &full[..end], jobs::naming::hash(&full))
}
