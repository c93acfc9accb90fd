//! The metrics, scraped as Prometheus does: with a token, which must hold the reader's role. Names and labels are the reference's.

use super::bridge::Bridge;
use super::ground::{Ground, SYSTEM};
use crate::commands::{ok, refused};
use crate::patience::until;

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    ground.job("done", 1, 1).await;
    ground.wait("job/done", "condition=complete").await;
    ground.job("runs", 1, 600).await;
    ground.wait("job/runs", "jsonpath={.status.ready}=1").await;
    ground.job("waits", 1, 600).await;
    ground.workload_of("waits").await;

    let scraper = Scraper::new(&ground).await;
    refused(scraper.ask(&ground, "--token=wrong")).await;
    let message = refused(scraper.ask(&ground, &scraper.token)).await;
    assert!(message.contains("orbidden"), "{message}");
    scraper.allow(&ground).await;

    let queue = format!("cluster_queue=\"{}\"", ground.name);
    for (metric, more, value) in WANTED {
        until(&format!("{metric} {more} is {value}"), async || {
            let seen = scraper.scrape(&ground).await;
            has(&seen, metric, &[&queue, more], value)
        })
        .await;
    }
}

/// Name, what its labels hold besides the queue, and value.
const WANTED: &[(&str, &str, &str)] = &[
    ("kueue_pending_workloads", "status=\"inadmissible\"", "1"),
    ("kueue_reserving_active_workloads", "", "1"),
    ("kueue_admitted_active_workloads", "", "1"),
    ("kueue_quota_reserved_workloads_total", "", "2"),
    ("kueue_admitted_workloads_total", "", "2"),
    ("kueue_admission_wait_time_seconds_count", "", "2"),
    ("kueue_cluster_queue_status", "status=\"active\"", "1"),
    ("kueue_cluster_queue_nominal_quota", "resource=\"cpu\"", "1"),
    (
        "kueue_cluster_queue_resource_usage",
        "resource=\"cpu\"",
        "1",
    ),
];

/// Whoever scrapes, and as whom.
pub(super) struct Scraper {
    bridge: Bridge,
    token: String,
}

impl Scraper {
    /// kubectl is told another server, so that what answers is the manager itself.
    pub(super) async fn new(ground: &Ground) -> Self {
        let path = "jsonpath={.items[0].metadata.uid}";
        let label = ["-l", "control-plane=controller-manager", "-o", path];
        let find = ground.cluster.kubectl(&["get", "pods", "-n", SYSTEM]);
        let uid = ok(find.args(label)).await;
        let token = ground.kubectl(&["create", "token", "default"]).await;
        Self {
            bridge: Bridge::open(ground.cluster.relay_of(&uid), 8443).await,
            token: format!("--token={}", token.trim()),
        }
    }

    fn ask(&self, ground: &Ground, token: &str) -> exec::Cmd {
        let stranger = ["--kubeconfig=/dev/null", "--insecure-skip-tls-verify"];
        let server = format!("--server=https://127.0.0.1:{}", self.bridge.port);
        let ask = ground.command(&stranger).args([&server, token]);
        ask.args(["get", "--raw", "/metrics"])
    }

    /// Gives it the reader's role.
    pub(super) async fn allow(&self, ground: &Ground) {
        let name = format!("scraper-{}", ground.name);
        let role = "--clusterrole=kueue-metrics-reader";
        let account = format!("--serviceaccount={}:default", ground.name);
        ground
            .kubectl(&["create", "clusterrolebinding", &name, role, &account])
            .await;
    }

    /// Everything there is, or nothing while it may not be read.
    pub(super) async fn scrape(&self, ground: &Ground) -> String {
        let seen = self.ask(ground, &self.token).output().await;
        seen.map(|seen| seen.stdout).unwrap_or_default()
    }
}

/// Whether a series of this name, with all of these labels, has this value.
pub(super) fn has(text: &str, metric: &str, labels: &[&str], value: &str) -> bool {
    let mut lines = text.lines().filter_map(|line| line.rsplit_once(' '));
    lines.any(|(series, found)| {
        let name = series.split('{').next();
        name == Some(metric)
            && labels.iter().all(|label| series.contains(label))
            && found.parse::<f64>().ok() == value.parse().ok()
    })
}
