//! The kinds that scripts make and controllers write.

use kube::core::{ApiResource, GroupVersionKind};

/// A kind, and where it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    group: &'static str,
    version: &'static str,
    pub(super) name: &'static str,
    plural: &'static str,
    pub(super) namespaced: bool,
}

const KUEUE: (&str, &str) = ("kueue.x-k8s.io", "v1beta2");

const fn kueue(name: &'static str, plural: &'static str, namespaced: bool) -> Kind {
    Kind {
        group: KUEUE.0,
        version: KUEUE.1,
        name,
        plural,
        namespaced,
    }
}

pub(super) const JOB: Kind = Kind {
    group: "batch",
    version: "v1",
    name: "Job",
    plural: "jobs",
    namespaced: true,
};
pub(super) const NODE: Kind = core("Node", "nodes", false);
const NAMESPACE: Kind = core("Namespace", "namespaces", false);
pub(super) const EVENT: Kind = Kind {
    group: "events.k8s.io",
    version: "v1",
    name: "Event",
    plural: "events",
    namespaced: true,
};
pub(super) const WORKLOAD: Kind = kueue("Workload", "workloads", true);
pub(super) const PRIORITY_CLASS: Kind =
    kueue("WorkloadPriorityClass", "workloadpriorityclasses", false);

const fn core(name: &'static str, plural: &'static str, namespaced: bool) -> Kind {
    Kind {
        group: "",
        version: "v1",
        name,
        plural,
        namespaced,
    }
}

/// What is compared, in the order in which it can be deleted.
pub(super) const COMPARED: [Kind; 8] = [
    JOB,
    WORKLOAD,
    kueue("LocalQueue", "localqueues", true),
    kueue("ClusterQueue", "clusterqueues", false),
    kueue("Cohort", "cohorts", false),
    kueue("ResourceFlavor", "resourceflavors", false),
    kueue("Topology", "topologies", false),
    kueue("AdmissionCheck", "admissionchecks", false),
];

impl Kind {
    /// The kind of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let others = [NODE, NAMESPACE, PRIORITY_CLASS];
        let mut all = COMPARED.into_iter().chain(others);
        all.find(|kind| kind.name == name)
    }

    /// As the client wants it.
    pub(super) fn resource(self) -> ApiResource {
        let kind = GroupVersionKind::gvk(self.group, self.version, self.name);
        ApiResource::from_gvk_with_plural(&kind, self.plural)
    }
}
