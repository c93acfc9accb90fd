//! The host node in a real cluster: the chart's pod runs for real, is probed, logged, restarted and removed, and what
//! does not belong there is told so.

use exec::process::{Signal, signal_process};
use testkit::{Platform, Programs};

use crate::{
    commands::{create, delete, ok, program_of},
    host::manager_in,
    machine,
    patience::until,
};

const ENV: &str = "hote";
const NAMESPACE: &str = "kueue-system";

#[tokio::test(flavor = "multi_thread")]
async fn the_controllers_pod_runs_for_real() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, ENV).await;

    a_trainee_installs_the_chart(&platform).await;
    a_killed_process_is_restarted(&platform).await;
    a_deleted_pod_comes_back(&platform).await;
    mounts_stay_fresh(&platform).await;
    what_does_not_belong_here_is_told_so(&platform).await;
    a_killed_supervisor_starts_its_pods_again(&platform).await;

    delete(&platform, ENV).await;
    assert_eq!(platform.processes(), Vec::<u32>::new());
}

async fn a_trainee_installs_the_chart(platform: &Platform) {
    let install = [
        "helm",
        "install",
        "kueue",
        "kueue",
        "--namespace",
        NAMESPACE,
        "--create-namespace",
    ];
    ok(platform.atelier(["env", "run", ENV, "--"]).args(install)).await;
    ready(platform).await;
    let place = "{.items[0].spec.nodeName} {.items[0].status.containerStatuses[0].restartCount}";
    assert_eq!(of_pod(platform, place).await, "plateforme 0");
    let logs = ok(kubectl(
        platform,
        &[
            "logs",
            "-n",
            NAMESPACE,
            "deploy/kueue-controller-manager",
            "--tail=1",
            "--timestamps",
        ],
    ))
    .await;
    assert_eq!(logs.lines().count(), 1);
    assert!(
        logs.split(' ')
            .next()
            .is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok()),
        "{logs}"
    );
    // Through the Service, the egress proxy and the pod's relay: the webhook answers with words of its own.
    let job = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: x}\nspec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: -1}]}]}]}\n";
    let refused = kubectl(platform, &["create", "-f", "-"])
        .stdin(job)
        .output()
        .await
        .expect("it runs");
    assert!(
        refused.stderr.contains("nominalQuota"),
        "{}",
        refused.stderr
    );
}

async fn a_killed_process_is_restarted(platform: &Platform) {
    signal_process(manager(platform), Signal::KILL);
    until("the container was restarted", async || {
        of_pod(
            platform,
            "{.items[0].status.containerStatuses[0].restartCount}",
        )
        .await
            == "1"
    })
    .await;
    ready(platform).await;
    assert_eq!(
        of_pod(
            platform,
            "{.items[0].status.containerStatuses[0].lastState.terminated.exitCode}"
        )
        .await,
        "137"
    );
    let previous = ok(kubectl(
        platform,
        &[
            "logs",
            "-n",
            NAMESPACE,
            "deploy/kueue-controller-manager",
            "--previous",
        ],
    ))
    .await;
    assert!(!previous.is_empty());
}

async fn a_deleted_pod_comes_back(platform: &Platform) {
    let before = of_pod(platform, "{.items[0].metadata.name}").await;
    ok(kubectl(
        platform,
        &["delete", "pod", "-n", NAMESPACE, &before],
    ))
    .await;
    ready(platform).await;
    assert_ne!(of_pod(platform, "{.items[0].metadata.name}").await, before);
}

/// A ConfigMap that is mounted (not by subPath) changes under the running process.
async fn mounts_stay_fresh(platform: &Platform) {
    ok(kubectl(
        platform,
        &["create", "configmap", "frais", "--from-literal=mot=avant"],
    ))
    .await;
    ok(kubectl(platform, &["apply", "-f", "-"]).stdin(FRESH)).await;
    let shown = || mounted_word(platform);
    until("the word is mounted", async || {
        shown().is_some_and(|word| word == "avant")
    })
    .await;
    ok(kubectl(
        platform,
        &[
            "patch",
            "configmap",
            "frais",
            "-p",
            r#"{"data":{"mot":"apres"}}"#,
        ],
    ))
    .await;
    until("the mounted word has changed", async || {
        shown().is_some_and(|word| word == "apres")
    })
    .await;
    ok(kubectl(
        platform,
        &["delete", "pod", "frais", "--grace-period=1"],
    ))
    .await;
}

/// What the file holds in the volume that the pod `frais` has mounted.
fn mounted_word(platform: &Platform) -> Option<String> {
    let pods = platform.environment(ENV).join("run/host-node");
    let folders = std::fs::read_dir(pods).ok()?.flatten();
    folders
        .filter_map(|pod| std::fs::read_to_string(pod.path().join("volumes/v/mot")).ok())
        .next()
}

const FRESH: &str = "apiVersion: v1
kind: Pod
metadata: {name: frais}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: c
    image: atelier-kueue/kueue-manager:0.1.0
    volumeMounts: [{name: v, mountPath: /mnt/v}]
  volumes: [{name: v, configMap: {name: frais}}]
";

async fn what_does_not_belong_here_is_told_so(platform: &Platform) {
    let cases = [
        (
            "image",
            r#""containers":[{"name":"c","image":"nginx"}]"#,
            "downloads nothing",
        ),
        (
            "programme",
            r#""containers":[{"name":"c","image":"atelier-kueue/kueue-manager:0.1.0","command":["/bin/sh"]}]"#,
            "holds only /manager",
        ),
    ];
    // The API server refuses this one, before any node sees it.
    let files = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"fichiers"},"spec":{"nodeName":"plateforme","containers":[{"name":"c","image":"atelier-kueue/kueue-manager:0.1.0"}],"volumes":[{"name":"v","hostPath":{"path":"/"}}]}}"#;
    let refused = kubectl(platform, &["create", "-f", "-"])
        .stdin(files)
        .output()
        .await;
    let refused = refused.expect("kubectl runs");
    assert!(
        refused
            .stderr
            .contains("cannot mount folders of their node"),
        "{}",
        refused.stderr
    );
    for (name, spec, told) in cases {
        let pod = format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}"}},"spec":{{"nodeName":"plateforme",{spec}}}}}"#
        );
        ok(kubectl(platform, &["create", "-f", "-"]).stdin(pod)).await;
        let message = [
            "get",
            "pod",
            name,
            "-o",
            "jsonpath={.status.containerStatuses[0].state.waiting.message}",
        ];
        until(
            &format!("pod {name} is told why it does not run"),
            async || ok(kubectl(platform, &message)).await.contains(told),
        )
        .await;
        ok(kubectl(platform, &["delete", "pod", name])).await;
    }
}

async fn a_killed_supervisor_starts_its_pods_again(platform: &Platform) {
    let before = manager(platform);
    let supervisor = platform
        .processes()
        .into_iter()
        .find(|pid| program_of(*pid).ends_with("environment-supervisor"));
    signal_process(supervisor.expect("a supervisor runs"), Signal::KILL);
    ok(platform.atelier(["env", "start", ENV])).await;
    until("the pod runs again", async || {
        let counted = of_pod(
            platform,
            "{.items[0].status.containerStatuses[0].restartCount}",
        )
        .await;
        counted.parse::<u32>().is_ok_and(|count| count >= 1)
    })
    .await;
    ready(platform).await;
    assert_ne!(manager(platform), before);
}

/// The process of the controller.
fn manager(platform: &Platform) -> u32 {
    manager_in(platform, ENV)
}

async fn ready(platform: &Platform) {
    let wait = [
        "rollout",
        "status",
        "-n",
        NAMESPACE,
        "deployment/kueue-controller-manager",
        "--timeout=120s",
    ];
    ok(kubectl(platform, &wait)).await;
}

async fn of_pod(platform: &Platform, path: &str) -> String {
    let path = format!("jsonpath={path}");
    ok(kubectl(
        platform,
        &["get", "pods", "-n", NAMESPACE, "-o", &path],
    ))
    .await
}

fn kubectl(platform: &Platform, args: &[&str]) -> exec::Cmd {
    platform.kubectl(ENV, args)
}
