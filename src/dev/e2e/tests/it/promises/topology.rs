//! Topology: the pods of one Job are placed in one rack, on the nodes that the assignment names, or wait with a reason.

use super::ground::Ground;

pub(super) async fn hold(ground: Ground) {
    ground.apply(QUEUES).await;
    ground.local_queue("NS").await;
    ground.apply(&job("fits", "2")).await;
    ground.wait("job/fits", "jsonpath={.status.ready}=2").await;
    let racks = "jsonpath={.items[*].spec.nodeSelector}";
    let selectors = ground
        .kubectl(&["get", "pods", "-l", "job-name=fits", "-o", racks])
        .await;
    assert!(selectors.contains("kubernetes.io/hostname"), "{selectors}");
    let workload = ground.workload_of("fits").await;
    let levels = "{.status.admission.podSetAssignments[0].topologyAssignment.levels}";
    let levels = ground.get(&workload, levels).await;
    assert!(levels.contains("kubernetes.io/hostname"), "{levels}");

    ground.apply(&job("too-large", "500")).await;
    let large = ground.workload_of("too-large").await;
    ground.wait(&large, "condition=QuotaReserved=False").await;
    let message = "{.status.conditions[?(@.type==\"QuotaReserved\")].message}";
    let message = ground.get(&large, message).await;
    assert!(message.contains("allows to fit only"), "{message}");
}

fn job(name: &str, pods: &str) -> String {
    JOB.replace("NAME", name).replace("PODS", pods)
}

const QUEUES: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: NS}
spec: {levels: [{nodeLabel: topology.atelier.kueue/rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: NS}
spec: {nodeLabels: {cassiopee.example/materiel: cpu}, topologyName: NS}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: NS}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NS}}
  resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 1000}]}]}]
";

const JOB: &str = "
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, labels: {kueue.x-k8s.io/queue-name: NS}}
spec:
  parallelism: PODS
  completions: PODS
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: topology.atelier.kueue/rack}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      containers: [{name: c, image: i, command: [sleep, \"600\"], resources: {requests: {cpu: 1}}}]
";
