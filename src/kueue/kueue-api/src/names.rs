//! Names that are part of the interface: groups, versions, finalizer, labels, annotations, scheduling gates.

pub const GROUP: &str = "kueue.x-k8s.io";
pub const VERSION: &str = "v1beta2";
pub const API_VERSION: &str = "kueue.x-k8s.io/v1beta2";

pub const CONFIG_GROUP: &str = "config.kueue.x-k8s.io";
pub const CONFIG_API_VERSION: &str = "config.kueue.x-k8s.io/v1beta2";
pub const OLDER_CONFIG_API_VERSION: &str = "config.kueue.x-k8s.io/v1beta1";

/// Finalizer of ClusterQueues, flavors, admission checks, topologies and Workloads.
pub const RESOURCE_IN_USE_FINALIZER: &str = "kueue.x-k8s.io/resource-in-use";
/// Field manager of the controller's own writes.
pub const FIELD_MANAGER: &str = "kueue";
/// Field manager of the admission part of a Workload's status.
pub const ADMISSION_FIELD_MANAGER: &str = "kueue-admission";

/// Label, and annotation, that names the group a pod belongs to.
pub const POD_GROUP_NAME: &str = "kueue.x-k8s.io/pod-group-name";
/// Finalizer of pods that Kueue looks after.
pub const POD_FINALIZER: &str = labels::MANAGED;

pub const DEFAULT_POD_SET: &str = "main";
pub const DEFAULT_LOCAL_QUEUE: &str = "default";
pub const DEFAULT_WORKLOAD_PRIORITY_CLASS: &str = "default";

pub const SYSTEM_NAMESPACE: &str = "kueue-system";
pub const WEBHOOK_SERVICE: &str = "kueue-webhook-service";
pub const WEBHOOK_SECRET: &str = "kueue-webhook-server-cert";
pub const MUTATING_WEBHOOK_CONFIGURATION: &str = "kueue-mutating-webhook-configuration";
pub const VALIDATING_WEBHOOK_CONFIGURATION: &str = "kueue-validating-webhook-configuration";
pub const VISIBILITY_SERVICE: &str = "kueue-visibility-server";
pub const VISIBILITY_API_SERVICES: &[&str] = &[
    "v1beta1.visibility.kueue.x-k8s.io",
    "v1beta2.visibility.kueue.x-k8s.io",
];
/// Custom resources whose versions differ, so that a webhook converts them.
pub const CONVERTED_DEFINITIONS: &[&str] = &[
    "clusterqueues.kueue.x-k8s.io",
    "cohorts.kueue.x-k8s.io",
    "localqueues.kueue.x-k8s.io",
    "multikueueclusters.kueue.x-k8s.io",
    "workloads.kueue.x-k8s.io",
];

pub const PROVISIONING_CONTROLLER: &str = "kueue.x-k8s.io/provisioning-request";
pub const MULTIKUEUE_CONTROLLER: &str = "kueue.x-k8s.io/multikueue";

/// Priority class sources of `priorityClassRef`.
pub const SCHEDULING_GROUP: &str = "scheduling.k8s.io";

/// Label keys.
pub mod labels {
    pub const QUEUE_NAME: &str = "kueue.x-k8s.io/queue-name";
    pub const PRIORITY_CLASS: &str = "kueue.x-k8s.io/priority-class";
    pub const PREBUILT_WORKLOAD_NAME: &str = "kueue.x-k8s.io/prebuilt-workload-name";
    pub const JOB_UID: &str = "kueue.x-k8s.io/job-uid";
    pub const MAX_EXEC_TIME_SECONDS: &str = "kueue.x-k8s.io/max-exec-time-seconds";
    pub const MANAGED: &str = "kueue.x-k8s.io/managed";
    pub const MANAGED_VALUE: &str = "true";
    pub const POD_SET: &str = "kueue.x-k8s.io/podset";
    pub const CLUSTER_QUEUE_NAME: &str = "kueue.x-k8s.io/cluster-queue-name";
    pub const LOCAL_QUEUE_NAME: &str = "kueue.x-k8s.io/local-queue-name";
    pub const POD_GROUP_POD_INDEX: &str = "kueue.x-k8s.io/pod-group-pod-index";
    pub const MULTIKUEUE_ORIGIN: &str = "kueue.x-k8s.io/multikueue-origin";
    pub const MULTIKUEUE_WORKER_WORKLOAD_POD: &str =
        "kueue.x-k8s.io/multikueue-worker-workload-pod";
    pub const CONCURRENT_ADMISSION_PARENT: &str = "kueue.x-k8s.io/concurrent-admission-parent";
}

/// Annotation keys.
pub mod annotations {
    pub const PREBUILT_WORKLOAD_NAME: &str = "kueue.x-k8s.io/prebuilt-workload-name";
    pub const WORKLOAD: &str = "kueue.x-k8s.io/workload";
    pub const WORKLOAD_SLICE_NAME: &str = "kueue.x-k8s.io/workload-slice-name";
    pub const WORKLOAD_SLICE_REPLACEMENT_FOR: &str =
        "kueue.x-k8s.io/workload-slice-replacement-for";
    pub const ELASTIC_JOB: &str = "kueue.x-k8s.io/elastic-job";
    pub const IS_GROUP_WORKLOAD: &str = "kueue.x-k8s.io/is-group-workload";
    /// How many pods a group has.
    pub const POD_GROUP_TOTAL_COUNT: &str = "kueue.x-k8s.io/pod-group-total-count";
    /// `true`: the group is admitted from its first pod on.
    pub const POD_GROUP_FAST_ADMISSION: &str = "kueue.x-k8s.io/pod-group-fast-admission";
    /// `true`: the group serves, and never finishes.
    pub const POD_GROUP_SERVING: &str = "kueue.x-k8s.io/pod-group-serving";
    /// The role a pod plays in its group.
    pub const ROLE_HASH: &str = "kueue.x-k8s.io/role-hash";
    /// `false`: failed pods of the group are not replaced.
    pub const RETRIABLE_IN_GROUP: &str = "kueue.x-k8s.io/retriable-in-group";
    /// Framework of the parent that has its pods held back.
    pub const POD_SUSPENDING_PARENT: &str = "kueue.x-k8s.io/pod-suspending-parent";
    pub const ADMISSION_GATED_BY: &str = "kueue.x-k8s.io/admission-gated-by";
    pub const PRIORITY_BOOST: &str = "kueue.x-k8s.io/priority-boost";
    pub const POD_SET_REQUIRED_TOPOLOGY: &str = "kueue.x-k8s.io/podset-required-topology";
    pub const POD_SET_PREFERRED_TOPOLOGY: &str = "kueue.x-k8s.io/podset-preferred-topology";
    pub const POD_SET_UNCONSTRAINED_TOPOLOGY: &str = "kueue.x-k8s.io/podset-unconstrained-topology";
    pub const POD_SET_SLICE_REQUIRED_TOPOLOGY: &str =
        "kueue.x-k8s.io/podset-slice-required-topology";
    pub const POD_SET_SLICE_SIZE: &str = "kueue.x-k8s.io/podset-slice-size";
    pub const POD_SET_SLICE_CONSTRAINTS: &str =
        "kueue.x-k8s.io/podset-slice-required-topology-constraints";
    pub const POD_SET_GROUP_NAME: &str = "kueue.x-k8s.io/podset-group-name";
    pub const POD_INDEX_OFFSET: &str = "kueue.x-k8s.io/pod-index-offset";
    pub const POD_GROUP_POD_INDEX_LABEL: &str = "kueue.x-k8s.io/pod-group-pod-index-label";
    pub const JOB_OWNER_GVK: &str = "kueue.x-k8s.io/job-owner-gvk";
    pub const JOB_OWNER_NAME: &str = "kueue.x-k8s.io/job-owner-name";
    pub const COMPONENT_WORKLOAD_INDEX: &str = "kueue.x-k8s.io/component-workload-index";
    pub const MULTIKUEUE_ORIGIN_UID: &str = "kueue.x-k8s.io/multikueue-origin-uid";
    pub const ALLOWED_RESOURCE_FLAVORS: &str = "kueue.x-k8s.io/workload-allowed-resource-flavors";
    pub const SAFE_TO_FORCEFULLY_DELETE: &str = "kueue.x-k8s.io/safe-to-forcefully-delete";
    /// Prefix of annotations that are copied to the Workload and from there to a `ProvisioningRequest`.
    pub const PROVISIONING_REQUEST_PREFIX: &str = "provreq.kueue.x-k8s.io/";
    pub const JOB_MIN_PARALLELISM: &str = "kueue.x-k8s.io/job-min-parallelism";
    pub const JOB_COMPLETIONS_EQUAL_PARALLELISM: &str =
        "kueue.x-k8s.io/job-completions-equal-parallelism";
    pub const JOB_STOPPING: &str = "kueue.x-k8s.io/stopping";
}

/// Scheduling gates on pods, and preemption gates on Workloads.
pub mod gates {
    pub const TOPOLOGY: &str = "kueue.x-k8s.io/topology";
    pub const ADMISSION: &str = "kueue.x-k8s.io/admission";
    pub const ELASTIC_JOB: &str = "kueue.x-k8s.io/elastic-job";
    pub const MULTIKUEUE: &str = "kueue.x-k8s.io/multikueue";
    pub const CONCURRENT_ADMISSION: &str = "kueue.x-k8s.io/concurrent-admission";
}
