//! From a request to a verdict: read the object, apply the rule, say the outcome.

pub(crate) mod job;
pub(crate) mod kinds;
pub(crate) mod pod;
pub(crate) mod serving;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jobs::RuntimeRef;
use jobs::integrations::Integrations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::LabelSelector;
use kueue_api::features::Features;
use kueue_api::field::{FieldError, aggregate};
use kueue_api::v1beta2::Workload;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::review::{Request, Verdict};

/// One rule at one path.
pub(crate) type Handler = fn(&Request, &Context) -> Verdict;

/// What the rules ask about the cluster. Answers come from memory: a review must not wait.
pub trait Cluster: Send + Sync {
    /// Labels of a namespace, if it is known.
    fn namespace_labels(&self, namespace: &str) -> Option<BTreeMap<String, String>>;
    /// Whether the namespace has a LocalQueue called `default`.
    fn has_default_local_queue(&self, namespace: &str) -> bool;
    /// Whether there is a WorkloadPriorityClass called `default`.
    fn has_default_priority_class(&self) -> bool;
    /// The metadata of an owner, if it is known.
    fn owner(&self, namespace: &str, owner: &OwnerReference) -> Option<ObjectMeta>;
    /// Whether a LocalQueue leads to a ClusterQueue that sends its Workloads to other clusters.
    fn leads_elsewhere(&self, namespace: &str, queue: &str) -> bool;
    /// What a job names as the description of its pods, if it is known.
    fn runtime(&self, of: &RuntimeRef) -> Option<Arc<Value>>;
    /// A Workload, if it is known.
    fn workload(&self, namespace: &str, name: &str) -> Option<Arc<Workload>>;
}

/// Settings and surroundings of the rules.
pub struct Context {
    pub features: Features,
    pub managed_jobs_namespace_selector: LabelSelector,
    pub manage_jobs_without_queue_name: bool,
    /// Frameworks that are enabled.
    pub integrations: Integrations,
    pub cluster: Arc<dyn Cluster>,
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("features", &self.features)
            .finish_non_exhaustive()
    }
}

/// Reads an object, or says why it cannot be read.
fn object<T: DeserializeOwned + Named>(value: &Value) -> Result<T, Verdict> {
    T::deserialize(value)
        .map_err(|error| Verdict::Malformed(format!("object is not a valid {}: {error}", T::NAME)))
}

/// Kinds know their name for the message.
trait Named {
    const NAME: &'static str;
}

impl<T: k8s_openapi::Resource> Named for T {
    const NAME: &'static str = T::KIND;
}

fn verdict(errors: &[FieldError]) -> Verdict {
    if errors.is_empty() {
        Verdict::Allow
    } else {
        Verdict::Deny(aggregate(errors))
    }
}

/// The verdict of a rule that may fail early.
fn settle(outcome: Result<Verdict, Verdict>) -> Verdict {
    outcome.unwrap_or_else(|refused| refused)
}
