//! Waiting until a controller has nothing left to do: no object has changed for a while.
//!
//! A second is also what creation times need to differ, so that order never depends on chance.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::cluster::{Cluster, place};
use super::tasks;

const QUIET: Duration = Duration::from_millis(1_200);
const LOOK: Duration = Duration::from_millis(150);
const PATIENCE: Duration = Duration::from_secs(60);

/// Objects change without end.
#[derive(Debug, thiserror::Error)]
#[error("never quiet: objects still change after {} s", PATIENCE.as_secs())]
pub(super) struct NeverQuiet;

/// Completes when nothing has changed for a while. Meanwhile it stops evicted Workloads that no job controller would stop.
pub(super) async fn settle(cluster: &Cluster) -> anyhow::Result<()> {
    let began = tokio::time::Instant::now();
    let mut since = began;
    let mut before = BTreeMap::new();
    loop {
        let objects = cluster.everything().await?;
        for (_, object) in objects.iter().filter(|(kind, _)| *kind == "Workload") {
            tasks::stop_if_evicted(cluster, object).await?;
        }
        let now: BTreeMap<_, _> = objects.iter().map(version).collect();
        if now != before {
            (before, since) = (now, tokio::time::Instant::now());
        }
        if since.elapsed() >= QUIET {
            return Ok(());
        }
        if began.elapsed() >= PATIENCE {
            return Err(NeverQuiet.into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn version((kind, object): &(&'static str, Value)) -> (String, String) {
    let (namespace, name) = place(object);
    let version = object.pointer("/metadata/resourceVersion");
    let version = version.and_then(Value::as_str).unwrap_or_default();
    (format!("{kind} {namespace}/{name}"), version.to_owned())
}
