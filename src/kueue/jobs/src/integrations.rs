//! Which owners of objects are known: the kinds that integrations exist for, those that the configuration enables, and those that other
//! controllers integrate (`integrations.externalFrameworks`). Reference section 5.1.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use crate::ancestors::Known;

/// Framework, group and kind of every integration that the reference has, whether it is built here or not: children of such an object
/// are looked at as such.
const REGISTERED: &[(&str, &str, &str)] = &[
    ("batch/job", "batch", "Job"),
    ("jobset.x-k8s.io/jobset", "jobset.x-k8s.io", "JobSet"),
    ("kubeflow.org/pytorchjob", "kubeflow.org", "PyTorchJob"),
    ("kubeflow.org/tfjob", "kubeflow.org", "TFJob"),
    ("kubeflow.org/xgboostjob", "kubeflow.org", "XGBoostJob"),
    ("kubeflow.org/paddlejob", "kubeflow.org", "PaddleJob"),
    ("kubeflow.org/jaxjob", "kubeflow.org", "JAXJob"),
    ("kubeflow.org/mpijob", "kubeflow.org", "MPIJob"),
    ("ray.io/rayjob", "ray.io", "RayJob"),
    ("ray.io/raycluster", "ray.io", "RayCluster"),
    ("ray.io/rayservice", "ray.io", "RayService"),
    (
        "workload.codeflare.dev/appwrapper",
        "workload.codeflare.dev",
        "AppWrapper",
    ),
    (
        "trainer.kubeflow.org/trainjob",
        "trainer.kubeflow.org",
        "TrainJob",
    ),
    (
        "sparkoperator.k8s.io/sparkapplication",
        "sparkoperator.k8s.io",
        "SparkApplication",
    ),
    (
        "leaderworkerset.x-k8s.io/leaderworkerset",
        "leaderworkerset.x-k8s.io",
        "LeaderWorkerSet",
    ),
    ("pod", "", "Pod"),
    ("deployment", "apps", "Deployment"),
    ("statefulset", "apps", "StatefulSet"),
];

/// Frameworks whose pods are held back one by one or as groups, by the integration of pods.
const OF_PODS: &[&str] = &[
    "deployment",
    "statefulset",
    "leaderworkerset.x-k8s.io/leaderworkerset",
];

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Integrations {
    enabled: BTreeSet<String>,
    external: Vec<(String, String)>,
}

impl Integrations {
    /// From the names in the configuration; external ones are `Kind.version.group`.
    #[must_use]
    pub fn new(frameworks: &[String], external: &[String]) -> Self {
        let kind_and_group = |name: &String| {
            let mut parts = name.splitn(3, '.');
            let kind = parts.next()?.to_owned();
            parts.next()?;
            Some((kind, parts.next()?.to_owned()))
        };
        Self {
            enabled: frameworks.iter().cloned().collect(),
            external: external.iter().filter_map(kind_and_group).collect(),
        }
    }

    /// Whether a framework is enabled, by its name or because another needs it.
    #[must_use]
    pub fn on(&self, framework: &str) -> bool {
        self.enabled.contains(framework) || framework == "pod" && self.implies_pods()
    }

    /// Whether pods are looked after only because another framework needs it.
    #[must_use]
    pub fn pods_implied(&self) -> bool {
        !self.enabled.contains("pod") && self.implies_pods()
    }

    fn implies_pods(&self) -> bool {
        OF_PODS.iter().any(|name| self.enabled.contains(*name))
    }

    /// How an owner is known.
    #[must_use]
    pub fn known(&self, owner: &OwnerReference) -> Known {
        let (group, _) = owner
            .api_version
            .rsplit_once('/')
            .unwrap_or(("", owner.api_version.as_str()));
        let mut registered = REGISTERED
            .iter()
            .filter(|(_, of, kind)| *of == group && *kind == owner.kind);
        let own = registered.next();
        let mut external = self.external.iter();
        if own.is_some_and(|(framework, ..)| self.on(framework))
            || external.any(|(kind, of)| *kind == owner.kind && of == group)
        {
            return Known::Managed;
        }
        // A ReplicaSet is on the way from pods to their Deployment; nobody should have to list it.
        if own.is_some() || owner.kind == "ReplicaSet" && owner.api_version == "apps/v1" {
            return Known::Passed;
        }
        Known::No
    }
}
