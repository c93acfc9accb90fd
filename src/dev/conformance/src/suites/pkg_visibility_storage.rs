//! The lists of pending workloads that people are shown.

use cache::{Cache, ClusterQueueName, LocalQueueKey, Options, PendingWorkload};
use kueue_api::v1beta2::{ClusterQueue, LocalQueue, Workload};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world;

pub(super) const FILES: &[File] = &[
    ("TestNewPendingWorkloadPriority", priority),
    ("TestPendingWorkloadsInCQ", in_cluster_queue),
    ("TestPendingWorkloadsInLQ", in_local_queue),
];

fn cache_of(case: &Case<'_>) -> Cache {
    let mut cache = Cache::new(Options::default());
    for queue in each::<ClusterQueue>(&case.input["clusterQueues"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    for queue in each::<LocalQueue>(&case.input["queues"]) {
        let _ = cache.apply_local_queue(&queue, now());
    }
    for workload in each::<Workload>(&case.input["workloads"]) {
        let _ = cache.apply_workload(&workload, now());
    }
    cache
}

fn page(case: &Case<'_>) -> (usize, usize) {
    let parameters = &case.input["req"]["queryParams"];
    let number = |name: &str| usize::try_from(parameters[name].as_i64().unwrap_or(0)).unwrap_or(0);
    (number("offset"), number("limit"))
}

fn compare(case: &Case<'_>, listed: Option<Vec<PendingWorkload>>) -> Verdict {
    let want = &case.want["wantResp"];
    let Some(listed) = listed else {
        return Verdict::equal(
            "not found",
            &json!(true),
            &json!(want["wantErr"].is_string()),
        );
    };
    let shown = |one: &PendingWorkload| {
        json!([
            one.key.to_string(),
            one.local_queue.name.as_ref(),
            one.priority,
            one.position_in_cluster_queue,
            one.position_in_local_queue
        ])
    };
    let wanted = |one: &Value| {
        let meta = &one["metadata"];
        let key = format!(
            "{}/{}",
            meta["namespace"].as_str().unwrap_or_default(),
            meta["name"].as_str().unwrap_or_default()
        );
        json!([
            key,
            one["localQueueName"],
            one["priority"],
            one["positionInClusterQueue"],
            one["positionInLocalQueue"]
        ])
    };
    let got: Vec<Value> = listed.iter().map(shown).collect();
    let want: Vec<Value> = read::<Vec<Value>>(&want["wantPendingWorkloads"])
        .iter()
        .map(wanted)
        .collect();
    Verdict::equal("listed", &got, &want)
}

fn in_cluster_queue(case: Case<'_>) -> Verdict {
    let cache = cache_of(&case);
    let name = ClusterQueueName::new(case.input["req"]["queueName"].as_str().unwrap_or_default());
    let (offset, limit) = page(&case);
    compare(&case, cache.pending_page(&name, offset, limit))
}

fn in_local_queue(case: Case<'_>) -> Verdict {
    let cache = cache_of(&case);
    let request = &case.input["req"];
    let part = |name: &str| request[name].as_str().unwrap_or_default();
    let door = LocalQueueKey::new(part("nsName"), part("queueName"));
    let (offset, limit) = page(&case);
    compare(&case, cache.pending_page_of(&door, offset, limit))
}

fn priority(case: Case<'_>) -> Verdict {
    let workload: Workload = parse(&case.input["wl"]);
    let mut cache = Cache::new(Options::default());
    let _ = cache.apply_workload(&workload, now());
    let got = cache
        .workload(&world::key(&workload))
        .map(|known| known.priority);
    Verdict::equal("priority", &json!(got), &case.want["wantPriority"])
}
