//! What only real kubelets and containers show: lab 1 on a kind cluster, and trainings on faked GPUs.

mod faults;
mod shell;

use testkit::{Platform, Programs};

use crate::{
    commands::{apply, helm, ok},
    machine,
    patience::until,
};

const ENVIRONMENT: &str = "conteneurs";

#[tokio::test(flavor = "multi_thread")]
async fn lab_one_passes_with_full_marks_on_a_kind_cluster() {
    let Some(programs) = Programs::find().filter(|_| testkit::kind_clusters()) else {
        return;
    };
    let _machine = machine::places(machine::ALL).await;
    let platform = Platform::with_kind(&programs);
    ok(platform.atelier(["solve", "d1-am"])).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trainings_share_the_gpus_of_real_nodes() {
    let Some(programs) = Programs::find().filter(|_| testkit::kind_clusters()) else {
        return;
    };
    let _machine = machine::places(machine::ALL).await;
    let cluster = Cluster(Platform::with_kind(&programs));
    cluster.begin().await;
    shell::it_reaches_its_cluster_and_nothing_else(&cluster).await;
    two_run_and_a_third_waits(&cluster).await;
    a_preempted_training_goes_on_where_it_was(&cluster).await;
    faults::a_device_breaks_under_a_running_pod(&cluster).await;
    faults::a_training_outlives_its_node(&cluster).await;
}

/// The platform, with one environment.
struct Cluster(Platform);

impl Cluster {
    async fn begin(&self) {
        let create = [
            "env",
            "create",
            ENVIRONMENT,
            "--profile",
            "cassiopee-conteneurs",
        ];
        ok(self.0.atelier(create)).await;
        ok(helm(&self.0, ENVIRONMENT, "install")).await;
        // Ready is what its pod says; each node's way to it follows a moment later.
        until("the controller's webhooks answer", async || {
            let try_it = ["apply", "--dry-run=server", "-f", "-"];
            let tried = self.0.kubectl(ENVIRONMENT, try_it).stdin(QUEUES);
            tried.run().await.is_ok()
        })
        .await;
        apply(&self.0, ENVIRONMENT, QUEUES).await;
    }

    async fn kubectl(&self, line: &str) -> String {
        ok(self.0.kubectl(ENVIRONMENT, line.split_whitespace())).await
    }

    /// What a question answers, or nothing while it cannot be answered.
    async fn ask(&self, line: &str) -> String {
        let question = self.0.kubectl(ENVIRONMENT, line.split_whitespace());
        question
            .run()
            .await
            .map(|output| output.stdout.trim().to_owned())
            .unwrap_or_default()
    }

    async fn train(&self, name: &str, priority: &str, arguments: &str) {
        let job = TRAINING
            .replace("NAME", name)
            .replace("PRIORITY", priority)
            .replace("ARGUMENTS", arguments);
        apply(&self.0, ENVIRONMENT, &job).await;
    }

    async fn log(&self, job: &str) -> String {
        self.ask(&format!(
            "logs -n equipe-vision -l job-name={job} --tail=-1"
        ))
        .await
    }
}

async fn two_run_and_a_third_waits(cluster: &Cluster) {
    let endless = "--pas 100000";
    for name in ["chiffres", "poete"] {
        cluster.train(name, "cours", endless).await;
    }
    let running = "get pods -n equipe-vision --field-selector=status.phase=Running -o name";
    until("two trainings run", async || {
        cluster.ask(running).await.lines().count() == 2
    })
    .await;
    cluster.train("cinema", "cours", endless).await;
    let reason = "get workloads -n equipe-vision -o jsonpath={.items[?(@.metadata.ownerReferences[0].name=='cinema')].status.conditions[?(@.type=='QuotaReserved')].message}";
    until("the third waits for quota", async || {
        cluster
            .ask(reason)
            .await
            .contains("insufficient unused quota for nvidia.com/gpu")
    })
    .await;
    assert_eq!(cluster.ask(running).await.lines().count(), 2);

    // Each sees its own two devices, and what works on them.
    let pod = cluster
        .kubectl("get pods -n equipe-vision -l job-name=chiffres -o name")
        .await;
    let pod = pod.trim();
    let devices = cluster
        .kubectl(&format!("exec -n equipe-vision {pod} -- nvidia-smi -L"))
        .await;
    assert_eq!(
        devices.lines().filter(|line| line.contains("A100")).count(),
        2,
        "{devices}"
    );
    let query = "nvidia-smi --query-gpu=memory.total --format=csv,noheader";
    let memory = cluster
        .kubectl(&format!("exec -n equipe-vision {pod} -- {query}"))
        .await;
    assert_eq!(memory.lines().count(), 2, "{memory}");

    cluster
        .kubectl("delete job -n equipe-vision chiffres --wait")
        .await;
    until("the third takes its place", async || {
        cluster
            .ask(
                "get pods -n equipe-vision -l job-name=cinema -o jsonpath={.items[*].status.phase}",
            )
            .await
            == "Running"
    })
    .await;
    cluster
        .kubectl("delete jobs -n equipe-vision --all --wait")
        .await;
}

async fn a_preempted_training_goes_on_where_it_was(cluster: &Cluster) {
    // It waits for its data, so that it is slow and costs nothing.
    let slow = "--pas 80 --tous-les 10 --journal 1 --attente-donnees 0.5 --points /points/long";
    cluster.train("long", "cours", slow).await;
    until("it has written a checkpoint", async || {
        cluster.log("long").await.contains("pas=20")
    })
    .await;
    let done = numbers(&cluster.log("long").await, "pas=")
        .pop()
        .unwrap_or_default();
    // The same training without waits, twice, by somebody in a hurry, takes all four GPUs.
    for name in ["presse", "presse-2"] {
        cluster.train(name, "urgent", "--pas 80").await;
    }
    until("it is preempted", async || {
        cluster
            .ask("get job long -n equipe-vision -o jsonpath={.spec.suspend}")
            .await
            == "true"
    })
    .await;
    for name in ["presse", "long"] {
        let succeeded =
            format!("get job {name} -n equipe-vision -o jsonpath={{.status.succeeded}}");
        until("both have finished", async || {
            cluster.ask(&succeeded).await == "1"
        })
        .await;
    }
    let log = cluster.log("long").await;
    let resumed = numbers(&log, "reprend au pas ").pop().unwrap_or_default();
    assert!(
        resumed >= done / 10 * 10,
        "{done} steps were done, and it resumed at {resumed}:\n{log}"
    );
    assert!(fingerprint(&log).is_some(), "no result:\n{log}");
    assert_eq!(fingerprint(&log), fingerprint(&cluster.log("presse").await));
}

/// The word that names what a training has learnt.
fn fingerprint(log: &str) -> Option<String> {
    let after = log.split("empreinte=").nth(1)?;
    after.split_whitespace().next().map(str::to_owned)
}

/// The numbers that stand right after a word.
fn numbers(text: &str, word: &str) -> Vec<u64> {
    let after = text.split(word).skip(1);
    let digits = after.map(|rest| {
        rest.chars()
            .take_while(char::is_ascii_digit)
            .collect::<String>()
    });
    digits.filter_map(|digits| digits.parse().ok()).collect()
}

/// Four GPUs on two real nodes for one queue.
const QUEUES: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {nvidia.com/gpu.present: \"true\"}
  tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 8}
      - {name: memory, nominalQuota: 16Gi}
      - {name: nvidia.com/gpu, nominalQuota: 4}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: vision, namespace: equipe-vision}
spec: {clusterQueue: vision}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: cours}
value: 100
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 1000
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: points, namespace: equipe-vision}
spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Gi}}}
";

const TRAINING: &str = "
apiVersion: batch/v1
kind: Job
metadata:
  name: NAME
  namespace: equipe-vision
  labels: {kueue.x-k8s.io/queue-name: vision, kueue.x-k8s.io/priority-class: PRIORITY}
spec:
  backoffLimit: 3
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 20
      containers:
      - name: entrainement
        image: atelier-kueue/trainer:0.1.0
        command: [sh, -c, exec python3 chiffres.py ARGUMENTS]
        resources:
          requests: {cpu: 100m, memory: 256Mi}
          limits: {nvidia.com/gpu: 2}
        volumeMounts: [{name: points, mountPath: /points}]
      volumes: [{name: points, persistentVolumeClaim: {claimName: points}}]
";
