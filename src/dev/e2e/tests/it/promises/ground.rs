//! The cluster that the promises share, and the ground of one of them: a namespace, and kubectl in it.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use testkit::Platform;

use crate::commands::{helm, ok};
use crate::patience::until;

pub(super) const ENVIRONMENT: &str = "promesses";
pub(super) const SYSTEM: &str = "kueue-system";
pub(super) const MANAGER: &str = "deployment/kueue-controller-manager";

/// The part of the configuration that the chart's own would have.
const BASE: &str = "apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
health: {healthProbeBindAddress: \":8081\"}
metrics: {bindAddress: \":8443\", enableClusterQueueResources: true}
webhook: {port: 9443}
leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io, leaseDuration: 6s, renewDeadline: 4s, retryPeriod: 1s}";

/// The cluster.
#[derive(Clone)]
pub(super) struct Cluster(pub(super) Arc<Platform>);

impl Cluster {
    /// Installs or upgrades the chart with these lines added to the configuration, and waits until it is ready.
    pub(super) async fn helm(&self, act: &str, settings: &str, more: &[&str]) {
        let configuration = format!("{BASE}{settings}");
        let values =
            serde_json::json!({"managerConfig": {"controllerManagerConfigYaml": configuration}});
        let file = self.0.dir().join("values.yaml");
        std::fs::write(&file, values.to_string()).expect("the folder can be written");
        let command = helm(&self.0, ENVIRONMENT, act).args(["--timeout", "3m"]);
        ok(command.args(more).arg("-f").arg(file)).await;
    }

    pub(super) fn kubectl(&self, arguments: &[&str]) -> exec::Cmd {
        self.0.kubectl(ENVIRONMENT, arguments)
    }

    /// The way into a pod of the host node.
    pub(super) fn relay_of(&self, uid: &str) -> PathBuf {
        let pods = self.0.environment(ENVIRONMENT).join("run/host-node");
        pods.join(uid.trim()).join("in/relay.sock")
    }

    /// Waits until the manager's Deployment is as it should be.
    pub(super) async fn manager_is_ready(&self) {
        let status = ["rollout", "status", "-n", SYSTEM, MANAGER, "--timeout=120s"];
        ok(self.kubectl(&status)).await;
    }
}

/// A namespace of one's own.
#[derive(Clone)]
pub(super) struct Ground {
    pub(super) cluster: Cluster,
    pub(super) name: String,
}

impl Ground {
    pub(super) fn new(cluster: Cluster, name: &str) -> Self {
        let name = name.replace('_', "-");
        Self { cluster, name }
    }

    pub(super) async fn open(&self) {
        ok(self.cluster.kubectl(&["create", "namespace", &self.name])).await;
    }

    /// kubectl in this namespace, as a command.
    pub(super) fn command(&self, arguments: &[&str]) -> exec::Cmd {
        self.cluster.kubectl(&["-n", &self.name]).args(arguments)
    }

    /// What kubectl prints in this namespace.
    pub(super) async fn kubectl(&self, arguments: &[&str]) -> String {
        ok(self.command(arguments)).await
    }

    /// Applies manifests in which `NS` stands for this namespace, the name of its queues, flavors and cohorts.
    pub(super) async fn apply(&self, manifests: &str) {
        ok(self.applying(manifests)).await;
    }

    pub(super) fn applying(&self, manifests: &str) -> exec::Cmd {
        self.command(&["apply", "-f", "-"])
            .stdin(manifests.replace("NS", &self.name))
    }

    /// A flavor, a ClusterQueue with this much `cpu`, and a LocalQueue, all of this namespace's name.
    pub(super) async fn queue(&self, cpu: u32) {
        self.apply(&QUEUE.replace("CPU", &cpu.to_string())).await;
        self.local_queue("NS").await;
    }

    /// Adds a LocalQueue that leads to the ClusterQueue of its name, and waits until it is active.
    pub(super) async fn local_queue(&self, cluster_queue: &str) {
        let name = cluster_queue.strip_prefix("NS-").unwrap_or(cluster_queue);
        let made = LOCAL_QUEUE.replace("CLUSTER_QUEUE", cluster_queue);
        self.apply(&made.replace("NAME", name)).await;
        self.wait(&format!("localqueue/{name}"), "condition=Active")
            .await;
    }

    /// Submits a Job of one pod to this namespace's queue.
    pub(super) async fn job(&self, name: &str, cpu: u32, seconds: u32) {
        self.apply(&job(name, cpu, seconds)).await;
    }

    /// One field of an object; empty if either is missing.
    pub(super) async fn get(&self, what: &str, path: &str) -> String {
        let (what, path) = (what.replace("NS", &self.name), format!("jsonpath={path}"));
        self.kubectl(&["get", &what, "--ignore-not-found", "-o", &path])
            .await
    }

    /// A list or object as JSON.
    pub(super) async fn json(&self, arguments: &[&str]) -> Value {
        let text = ok(self.command(arguments).args(["-o", "json"])).await;
        serde_json::from_str(&text).expect("kubectl prints JSON")
    }

    /// Waits as `kubectl wait` does, also for an object that is not there yet.
    pub(super) async fn wait(&self, what: &str, condition: &str) {
        let (what, wanted) = (what.replace("NS", &self.name), format!("--for={condition}"));
        until(&format!("{what} {condition}"), async || {
            let wait = self.command(&["wait", &what, &wanted, "--timeout=20s"]);
            wait.output()
                .await
                .is_ok_and(|output| output.code == Some(0))
        })
        .await;
    }

    /// Waits until a field has a value.
    pub(super) async fn field(&self, what: &str, path: &str, value: &str) {
        until(&format!("{what} {path} is {value}"), async || {
            self.get(what, path).await == value
        })
        .await;
    }

    /// Waits until there is no such object any more.
    pub(super) async fn gone(&self, what: &str) {
        self.field(what, "{.metadata.name}", "").await;
    }

    /// Waits for an event with these words about an object of this name.
    pub(super) async fn event(&self, about: &str, words: &str) {
        let fields = format!("involvedObject.name={about}");
        until(&format!("an event about {about}: {words}"), async || {
            let events = ["get", "events", "--field-selector", &fields];
            self.kubectl(&events).await.contains(words)
        })
        .await;
    }

    /// The Workload of a Job, once there is one.
    pub(super) async fn workload_of(&self, job: &str) -> String {
        let uid = self.get(&format!("job/{job}"), "{.metadata.uid}").await;
        let label = format!("kueue.x-k8s.io/job-uid={uid}");
        let ask = ["get", "workloads", "-l", &label, "-o", "name"];
        until(&format!("{job} has a Workload"), async || {
            !self.kubectl(&ask).await.is_empty()
        })
        .await;
        self.kubectl(&ask).await.trim().to_owned()
    }
}

/// A Job of one pod.
pub(super) fn job(name: &str, cpu: u32, seconds: u32) -> String {
    JOB.replace("NAME", name)
        .replace("CPU", &cpu.to_string())
        .replace("SECONDS", &seconds.to_string())
}

/// Only nodes that are simulated have this label.
const QUEUE: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: NS}
spec: {nodeLabels: {cassiopee.example/materiel: cpu}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: NS}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: NS, resources: [{name: cpu, nominalQuota: CPU}]}]
";

const LOCAL_QUEUE: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: NAME}
spec: {clusterQueue: CLUSTER_QUEUE}
";

const JOB: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, labels: {kueue.x-k8s.io/queue-name: NS}}
spec:
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: i, command: [sleep, \"SECONDS\"], resources: {requests: {cpu: CPU}}}]
";
