//! Simulated nodes in a real cluster: how long pods run, how they fail, and that a simulator that was frozen, restarted
//! or robbed of a node leaves no trace (platform case 065).

use exec::process::{Signal, signal_process};
use testkit::{Platform, Programs};

use crate::{
    commands::{apply, create, delete, ok, program_of},
    machine,
    patience::until,
};

const ENV: &str = "simule";

/// A Job of one pod; `pod` is what makes it special.
fn job(name: &str, annotations: &str, policy: &str, container: &str) -> String {
    let limit = if policy == "OnFailure" { 6 } else { 0 };
    format!(
        "apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: equipe-vision}}
spec:
  backoffLimit: {limit}
  template:
    metadata: {{annotations: {{{annotations}}}}}
    spec: {{restartPolicy: {policy}, containers: [{{name: c, image: busybox, {container}}}]}}
---
"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_do_what_they_are_told_and_outlive_the_simulators_troubles() {
    let Some(programs) = Programs::find() else {
        return;
    };
    let _place = machine::place().await;
    let platform = Platform::new(&programs);
    create(&platform, ENV).await;

    ends_come_as_asked(&platform).await;
    suspending_a_job_ends_its_pod(&platform).await;
    a_frozen_simulator_harms_nothing(&platform).await;
    a_pod_that_was_marked_unready_recovers(&platform).await;
    a_pod_of_a_lost_node_can_be_deleted(&platform).await;

    delete(&platform, ENV).await;
}

async fn ends_come_as_asked(platform: &Platform) {
    let jobs = [
        job("dort", "", "Never", "command: [sleep, '4']"),
        job(
            "script",
            "",
            "Never",
            "command: [sh, -c, 'echo a; sleep 0.05m; echo b']",
        ),
        job(
            "annote",
            "atelier.kueue/duration: 3s",
            "Never",
            "args: [sleep, '600']",
        ),
        job(
            "rate",
            "atelier.kueue/exit-code: '3', atelier.kueue/duration: 2s",
            "Never",
            "args: [sleep, '600']",
        ),
        job(
            "reprend",
            "atelier.kueue/exit-code: '1', atelier.kueue/duration: 1s",
            "OnFailure",
            "args: [x]",
        ),
        job(
            "jamais",
            "atelier.kueue/never-ready: 'true', atelier.kueue/duration: 1s",
            "Never",
            "args: [x]",
        ),
    ];
    apply(platform, ENV, &jobs.concat()).await;
    for (name, lasts) in [("dort", 4), ("script", 3), ("annote", 3)] {
        becomes(platform, name, "{.status.succeeded}", "1").await;
        assert_eq!(
            ran_for(platform, name).await,
            lasts,
            "{name} ran for another time than it was told"
        );
    }
    becomes(platform, "rate", "{.status.failed}", "1").await;
    let code = "{.items[0].status.containerStatuses[0].state.terminated.exitCode}";
    assert_eq!(of_pod(platform, "rate", code).await, "3");
    until("a container that fails is restarted in place", async || {
        of_pod(
            platform,
            "reprend",
            "{.items[0].status.containerStatuses[0].restartCount}",
        )
        .await
        .parse::<u32>()
        .is_ok_and(|count| count >= 2)
    })
    .await;
    let unready = of_pod(
        platform,
        "jamais",
        "{.items[0].status.phase} {.items[0].status.containerStatuses[0].ready}",
    )
    .await;
    assert_eq!(unready, "Running false");
    let said = ok(kubectl(
        platform,
        &["logs", "-n", "equipe-vision", "job/jamais"],
    ))
    .await;
    assert!(said.contains("This pod is simulated"), "{said}");
}

async fn suspending_a_job_ends_its_pod(platform: &Platform) {
    apply(
        platform,
        ENV,
        &job("arrete", "", "Never", "command: [sleep, '600']"),
    )
    .await;
    becomes(platform, "arrete", "{.status.ready}", "1").await;
    ok(kubectl(
        platform,
        &[
            "patch",
            "job",
            "arrete",
            "-n",
            "equipe-vision",
            "-p",
            r#"{"spec":{"suspend":true}}"#,
        ],
    ))
    .await;
    until("the suspended Job's pod is gone", async || {
        pods(platform, "arrete").await.is_empty()
    })
    .await;
    becomes(
        platform,
        "arrete",
        r#"{.status.conditions[?(@.type=="Suspended")].status}"#,
        "True",
    )
    .await;
}

/// The simulator stands still while a pod's time runs out; then it catches up, and no node was ever lost.
async fn a_frozen_simulator_harms_nothing(platform: &Platform) {
    let kwok = platform
        .processes()
        .into_iter()
        .find(|pid| program_of(*pid).ends_with("kwok"))
        .expect("kwok runs");
    apply(
        platform,
        ENV,
        &job("gele", "", "Never", "command: [sleep, '3']"),
    )
    .await;
    becomes(platform, "gele", "{.status.ready}", "1").await;
    signal_process(kwok, Signal::STOP);
    let leases = [
        "get",
        "leases",
        "-n",
        "kube-node-lease",
        "-o",
        "jsonpath={.items[*].spec.renewTime}",
    ];
    let before = ok(kubectl(platform, &leases)).await;
    until("leases are renewed without the simulator", async || {
        ok(kubectl(platform, &leases)).await != before
    })
    .await;
    let ready = r#"jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}"#;
    assert_eq!(
        ok(kubectl(platform, &["get", "nodes", "-o", ready])).await,
        "True True True True"
    );
    signal_process(kwok, Signal::CONT);
    becomes(platform, "gele", "{.status.succeeded}", "1").await;
}

/// What the node controller does to pods of a node that it lost.
async fn a_pod_that_was_marked_unready_recovers(platform: &Platform) {
    apply(
        platform,
        ENV,
        &job("revient", "", "Never", "command: [sleep, '600']"),
    )
    .await;
    becomes(platform, "revient", "{.status.ready}", "1").await;
    let pod = pods(platform, "revient").await;
    let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"False"}]}}"#;
    ok(kubectl(
        platform,
        &[
            "patch",
            &pod,
            "-n",
            "equipe-vision",
            "--subresource=status",
            "-p",
            unready,
        ],
    ))
    .await;
    let ready = r#"{.items[0].status.conditions[?(@.type=="Ready")].status}"#;
    until("the pod is Ready again", async || {
        of_pod(platform, "revient", ready).await == "True"
    })
    .await;
    let unready = r#"{"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}}"#;
    ok(kubectl(
        platform,
        &[
            "patch",
            "node",
            "cpu-1",
            "--subresource=status",
            "-p",
            unready,
        ],
    ))
    .await;
    let ready = r#"jsonpath={.status.conditions[?(@.type=="Ready")].status}"#;
    until("the node is Ready again", async || {
        ok(kubectl(platform, &["get", "node", "cpu-1", "-o", ready])).await == "True"
    })
    .await;
}

async fn a_pod_of_a_lost_node_can_be_deleted(platform: &Platform) {
    ok(kubectl(
        platform,
        &["delete", "node", "cpu-1", "--wait=false"],
    ))
    .await;
    ok(kubectl(
        platform,
        &["delete", "job", "revient", "-n", "equipe-vision"],
    ))
    .await;
    until("the pod of the lost node is gone", async || {
        pods(platform, "revient").await.is_empty()
    })
    .await;
    let node = kubectl(platform, &["get", "node", "cpu-1"]);
    until("the node registers anew", async || node.run().await.is_ok()).await;
}

/// Whole seconds between the start and the end of the first container, as the cluster has them.
async fn ran_for(platform: &Platform, job: &str) -> i64 {
    let state = "{.items[0].status.containerStatuses[0].state.terminated";
    let times = of_pod(
        platform,
        job,
        &format!("{state}.startedAt}} {state}.finishedAt}}"),
    )
    .await;
    let seconds: Vec<i64> = times
        .split(' ')
        .map(|time| time.parse::<jiff::Timestamp>().expect("a time").as_second())
        .collect();
    seconds[1] - seconds[0]
}

async fn becomes(platform: &Platform, job: &str, path: &str, value: &str) {
    let path = format!("jsonpath={path}");
    let get = kubectl(
        platform,
        &["get", "job", job, "-n", "equipe-vision", "-o", &path],
    );
    until(&format!("Job {job} has {path} = {value}"), async || {
        get.run().await.is_ok_and(|output| output.stdout == value)
    })
    .await;
}

async fn of_pod(platform: &Platform, job: &str, path: &str) -> String {
    let (selector, path) = (format!("job-name={job}"), format!("jsonpath={path}"));
    ok(kubectl(
        platform,
        &[
            "get",
            "pods",
            "-n",
            "equipe-vision",
            "-l",
            &selector,
            "-o",
            &path,
        ],
    ))
    .await
}

/// `pod/NAME` of the Job's pods.
async fn pods(platform: &Platform, job: &str) -> String {
    let selector = format!("job-name={job}");
    ok(kubectl(
        platform,
        &[
            "get",
            "pods",
            "-n",
            "equipe-vision",
            "-l",
            &selector,
            "-o",
            "name",
        ],
    ))
    .await
    .trim()
    .to_owned()
}

fn kubectl(platform: &Platform, args: &[&str]) -> exec::Cmd {
    platform.kubectl(ENV, args)
}
