//! The object, as far as we look into it: its templates, how many pods a group has, how many groups there are.

use k8s_openapi::api::core::v1::PodTemplateSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_openapi::{Metadata, NamespaceResourceScope, Resource};
use kueue_api::ObjectMeta;
use serde::{Deserialize, Serialize};

/// `leaderworkerset.x-k8s.io/v1` `LeaderWorkerSet`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeaderWorkerSet {
    pub metadata: ObjectMeta,
    pub spec: Spec,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// What it wants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Spec {
    /// How many groups; one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    pub leader_worker_template: Templates,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout_strategy: Option<Rollout>,
}

/// What a group consists of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Templates {
    /// That of the first pod, if it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leader_template: Option<PodTemplateSpec>,
    pub worker_template: PodTemplateSpec,
    /// How many pods, the leader included; one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<i32>,
}

/// How a new revision is rolled out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rollout {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolling_update_configuration: Option<RollingUpdate>,
}

/// The same, in detail.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_surge: Option<IntOrString>,
}

/// What its controller says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Status {
    #[serde(skip_serializing_if = "is_zero")]
    pub replicas: i32,
    #[serde(skip_serializing_if = "is_zero")]
    pub ready_replicas: i32,
    #[serde(skip_serializing_if = "is_zero")]
    pub updated_replicas: i32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

impl Resource for LeaderWorkerSet {
    const API_VERSION: &'static str = "leaderworkerset.x-k8s.io/v1";
    const GROUP: &'static str = "leaderworkerset.x-k8s.io";
    const KIND: &'static str = "LeaderWorkerSet";
    const VERSION: &'static str = "v1";
    const URL_PATH_SEGMENT: &'static str = "leaderworkersets";
    type Scope = NamespaceResourceScope;
}

impl Metadata for LeaderWorkerSet {
    type Ty = ObjectMeta;

    fn metadata(&self) -> &Self::Ty {
        &self.metadata
    }

    fn metadata_mut(&mut self) -> &mut Self::Ty {
        &mut self.metadata
    }
}

impl LeaderWorkerSet {
    /// How many groups it wants.
    #[must_use]
    pub fn replicas(&self) -> i32 {
        self.spec.replicas.unwrap_or(1)
    }

    /// How many pods a group has.
    #[must_use]
    pub fn size(&self) -> i32 {
        self.spec.leader_worker_template.size.unwrap_or(1)
    }

    /// How many groups have a Workload: while a new revision is rolled out with more groups than wanted, those too.
    #[must_use]
    pub fn groups(&self) -> i32 {
        let there = self.status.unwrap_or_default().replicas;
        if there > self.replicas() && self.surges() {
            there
        } else {
            self.replicas()
        }
    }

    fn surges(&self) -> bool {
        let rollout = self.spec.rollout_strategy.as_ref();
        let rolling = rollout.and_then(|rollout| rollout.rolling_update_configuration.as_ref());
        let surge = match rolling.and_then(|rolling| rolling.max_surge.as_ref()) {
            Some(IntOrString::Int(number)) => *number,
            Some(IntOrString::String(text)) => text.parse().unwrap_or(0),
            None => 0,
        };
        surge > 0 && self.status.unwrap_or_default().updated_replicas < self.replicas()
    }
}
