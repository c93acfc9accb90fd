//! The kinds that a lab may speak of: what the recorder watches, and so what a criterion can rest on.

/// One recorded kind, with what is needed to watch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub kind: &'static str,
    pub group: &'static str,
    pub version: &'static str,
    pub plural: &'static str,
    pub namespaced: bool,
}

const fn kind(
    kind: &'static str,
    group: &'static str,
    version: &'static str,
    plural: &'static str,
    namespaced: bool,
) -> Kind {
    Kind {
        kind,
        group,
        version,
        plural,
        namespaced,
    }
}

const KUEUE: &str = "kueue.x-k8s.io";
const HOOKS: &str = "admissionregistration.k8s.io";

/// All recorded kinds. A name is unique here, so that lab files need no API group.
pub const KINDS: &[Kind] = &[
    kind("Namespace", "", "v1", "namespaces", false),
    kind("Node", "", "v1", "nodes", false),
    kind("Pod", "", "v1", "pods", true),
    kind("Event", "events.k8s.io", "v1", "events", true),
    kind("Job", "batch", "v1", "jobs", true),
    kind("Deployment", "apps", "v1", "deployments", true),
    kind(
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        false,
    ),
    kind(
        "ValidatingWebhookConfiguration",
        HOOKS,
        "v1",
        "validatingwebhookconfigurations",
        false,
    ),
    kind(
        "MutatingWebhookConfiguration",
        HOOKS,
        "v1",
        "mutatingwebhookconfigurations",
        false,
    ),
    kind("Workload", KUEUE, "v1beta2", "workloads", true),
    kind("ClusterQueue", KUEUE, "v1beta2", "clusterqueues", false),
    kind("LocalQueue", KUEUE, "v1beta2", "localqueues", true),
    kind("Cohort", KUEUE, "v1beta2", "cohorts", false),
    kind("ResourceFlavor", KUEUE, "v1beta2", "resourceflavors", false),
    kind(
        "WorkloadPriorityClass",
        KUEUE,
        "v1beta2",
        "workloadpriorityclasses",
        false,
    ),
];

/// The recorded kind of that name.
pub fn kind_named(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.kind == name)
}

/// Job kinds whose life can be followed.
pub(crate) const JOB_KINDS: &[&str] = &["Job"];
