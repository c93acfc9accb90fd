//! The rows: where each kind keeps its cluster.

use super::{Ray, Ready, SUSPEND, Shape};
use crate::kind::JobKind;

/// `ray.io/v1` `RayJob`.
pub const RAY_JOB: JobKind = JobKind {
    framework: "ray.io/rayjob",
    group: "ray.io",
    version: "v1",
    kind: "RayJob",
    plural: "rayjobs",
    adopts: true,
    elastic: true,
    checked_unmanaged: false,
    native_controller: "ray.io/kuberay-operator",
    read: |value| Ray::read(&JOB, value),
};

/// `ray.io/v1` `RayCluster`.
pub const RAY_CLUSTER: JobKind = JobKind {
    framework: "ray.io/raycluster",
    group: "ray.io",
    version: "v1",
    kind: "RayCluster",
    plural: "rayclusters",
    adopts: true,
    elastic: true,
    checked_unmanaged: false,
    native_controller: "ray.io/kuberay-operator",
    read: |value| Ray::read(&CLUSTER, value),
};

/// `ray.io/v1` `RayService`.
pub const RAY_SERVICE: JobKind = JobKind {
    framework: "ray.io/rayservice",
    group: "ray.io",
    version: "v1",
    kind: "RayService",
    plural: "rayservices",
    adopts: true,
    elastic: true,
    checked_unmanaged: false,
    native_controller: "ray.io/kuberay-operator",
    read: |value| Ray::read(&SERVICE, value),
};

static SERVICE: Shape = Shape {
    kind: &RAY_SERVICE,
    cluster: &["spec", "rayClusterConfig"],
    suspend: &["spec", "rayClusterConfig", "suspend"],
    ends: false,
    ready: Ready::Condition("Ready"),
    grows: "a kueue managed RayService can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices feature gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" annotation",
};

static JOB: Shape = Shape {
    kind: &RAY_JOB,
    cluster: &["spec", "rayClusterSpec"],
    suspend: SUSPEND,
    ends: true,
    ready: Ready::State("/status/rayClusterStatus/state"),
    grows: "a kueue managed job should only use autoscaling when workload slicing is enabled",
};

static CLUSTER: Shape = Shape {
    kind: &RAY_CLUSTER,
    cluster: &["spec"],
    suspend: SUSPEND,
    ends: false,
    ready: Ready::State("/status/state"),
    grows: "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the ElasticJobsViaWorkloadSlices feature gate and set the \"kueue.x-k8s.io/elastic-job\": \"true\" annotation",
};
