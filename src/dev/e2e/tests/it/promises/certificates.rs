//! The certificate is the controller's own business: damaged, deleted or about to end, it is made anew, and webhooks answer again under
//! it. And while there is no controller, nobody is held up but those who ask for it.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use webhooks::certificates::{Decision, decide};

use super::ground::{Ground, MANAGER, SYSTEM, job};
use crate::commands::{ok, refused};
use crate::patience::until;

const SECRET: &str = "secret/kueue-webhook-server-cert";
const HOOKS: &str = "validatingwebhookconfiguration/kueue-validating-webhook-configuration";

pub(super) async fn hold(ground: Ground) {
    ground.queue(1).await;
    let mut before = authority(&ground).await;
    let garbage = r#"{"data":{"tls.crt":"Z2FyYmFnZQ=="}}"#.to_owned();
    for damage in [garbage, ending_soon()] {
        patch(&ground, &damage).await;
        before = renewed(&ground, &before).await;
    }
    ok(system(&ground, &["delete", SECRET])).await;
    renewed(&ground, &before).await;
    while_nobody_is_there(&ground).await;
}

/// A certificate such as the controller makes, of which a month is left.
#[expect(
    clippy::disallowed_methods,
    reason = "the controller compares it with the real clock"
)]
fn ending_soon() -> String {
    let services = ["kueue-webhook-service", "kueue-visibility-server"].map(str::to_owned);
    let long_ago = Timestamp::now() - SignedDuration::from_hours(24 * 3620);
    let made = decide(&BTreeMap::new(), &services, SYSTEM, long_ago);
    let Ok(Decision::Make { bundle, .. }) = made else {
        panic!("a certificate is made from nothing");
    };
    let text = bundle.into_data().into_iter();
    let text: BTreeMap<String, String> = text
        .map(|(key, value)| (key, String::from_utf8(value).expect("PEM is text")))
        .collect();
    serde_json::json!({ "stringData": text }).to_string()
}

async fn patch(ground: &Ground, patch: &str) {
    ok(system(ground, &["patch", SECRET, "-p", patch])).await;
}

/// Waits for another certificate, and for webhooks that answer in their own words under it.
async fn renewed(ground: &Ground, before: &str) -> String {
    until("another certificate is trusted", async || {
        let now = authority(ground).await;
        let shown = ground
            .get(HOOKS, "{.webhooks[0].clientConfig.caBundle}")
            .await;
        now != before && now == shown
    })
    .await;
    until("webhooks answer", async || {
        let asked = ground.applying(NEGATIVE).output().await;
        asked.is_ok_and(|asked| asked.stderr.contains("nominalQuota"))
    })
    .await;
    authority(ground).await
}

/// Whom clients are to trust, as the Secret says.
async fn authority(ground: &Ground) -> String {
    let path = "jsonpath={.data.ca\\.crt}";
    ok(system(
        ground,
        &["get", SECRET, "--ignore-not-found", "-o", path],
    ))
    .await
}

async fn while_nobody_is_there(ground: &Ground) {
    ok(system(ground, &["scale", MANAGER, "--replicas=0"])).await;
    until("the manager is gone", async || {
        let pods = ["get", "pods", "-o", "name"];
        ok(system(ground, &pods)).await.is_empty()
    })
    .await;
    let free = job("free", 1, 1).replace(", labels: {kueue.x-k8s.io/queue-name: NS}", "");
    let in_system =
        |kind: &str| ["-n", "kube-system", "create", kind, "unrelated"].map(str::to_owned);
    ground.apply(&free).await;
    ground.apply(POD).await;
    ground.kubectl(&["create", "configmap", "unrelated"]).await;
    ground
        .kubectl(&["create", "serviceaccount", "unrelated"])
        .await;
    ground
        .kubectl(&["create", "deployment", "unrelated", "--image=i"])
        .await;
    ok(ground.cluster.kubectl(&[]).args(in_system("configmap"))).await;
    let system_job = free.replace("name: free", "name: free, namespace: kube-system");
    ok(ground
        .cluster
        .kubectl(&["apply", "-f", "-"])
        .stdin(system_job))
    .await;
    ground.wait("job/free", "condition=complete").await;
    // Who names a queue is held up, and told why.
    let message = refused(ground.applying(&job("queued", 1, 1))).await;
    assert!(message.contains("failed calling webhook"), "{message}");
    ok(system(ground, &["scale", MANAGER, "--replicas=1"])).await;
    ground.cluster.manager_is_ready().await;
    until("Jobs are taken in again", async || {
        let apply = ground.applying(&job("queued", 1, 1)).output().await;
        apply.is_ok_and(|apply| apply.code == Some(0))
    })
    .await;
    ground.wait("job/queued", "condition=complete").await;
}

fn system(ground: &Ground, arguments: &[&str]) -> exec::Cmd {
    ground.cluster.kubectl(&["-n", SYSTEM]).args(arguments)
}

const NEGATIVE: &str = "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-x}, spec: {resourceGroups: [{coveredResources: [cpu], flavors: [{name: a, resources: [{name: cpu, nominalQuota: -1}]}]}]}}";
const POD: &str = "{apiVersion: v1, kind: Pod, metadata: {name: unrelated}, spec: {containers: [{name: c, image: i}]}}";
