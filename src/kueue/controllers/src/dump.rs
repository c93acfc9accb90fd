//! Writes what this process believes into the log, as the reference does on a signal: every queue with those who wait and those who hold
//! quota, every quota with what is used of it. One line a ClusterQueue, one a cohort, one a LocalQueue.

use cache::{Cache, ClusterQueueName};
use scheduler::{Holder, NodeId, QuotaTree, Usage};

use crate::context::Context;

/// Writes all of it.
pub fn write(context: &Context) {
    let role = context.role.get().as_str();
    let complete = context.world.is_complete();
    tracing::info!(role, complete, "dump begins");
    let mut cache = context.world.cache.lock();
    let tree = cache.snapshot().tree;
    let names: Vec<ClusterQueueName> = cache.cluster_queues().cloned().collect();
    for name in &names {
        cluster_queue(&cache, &tree, name, context);
    }
    for (id, holder) in tree.nodes() {
        if let Holder::Cohort(name) = holder {
            let above = tree.parent(id).map(|parent| holder_name(&tree, parent));
            tracing::info!(cohort = %name, parent = above, quota = amounts(tree.subtree_quotas(id)), used = amounts(tree.usage_of(id)), "dump");
        }
    }
    for queue in context.world.stores.local_queues.list() {
        let key = crate::key::Key::of(&queue.metadata);
        let door = cache::LocalQueueKey::new(key.namespace.as_str(), key.name.as_str());
        let Some(status) = cache.local_queue_status(&door, context.world.now()) else {
            continue;
        };
        tracing::info!(
            local_queue = %key,
            cluster_queue = queue.spec.cluster_queue(),
            pending = status.pending_workloads,
            reserving = status.reserving_workloads,
            admitted = status.admitted_workloads,
            "dump"
        );
    }
    tracing::info!("dump ends");
}

fn cluster_queue(cache: &Cache, tree: &QuotaTree, name: &ClusterQueueName, context: &Context) {
    let keys = |aside: bool| joined(cache.waiting(name, aside).iter());
    let readiness = cache.readiness(name);
    let holding = context.world.stores.workloads.list();
    let holding = holding.iter().filter(|workload| {
        let status = workload.status.as_ref();
        let admission = status.and_then(|status| status.admission.as_ref());
        !workload.is_finished()
            && admission.is_some_and(|admission| admission.cluster_queue == name.as_str())
    });
    let holding = holding.map(|workload| crate::key::Key::of(&workload.metadata));
    let id = tree.cluster_queue(name);
    tracing::info!(
        cluster_queue = %name,
        active = readiness.as_ref().map(|readiness| readiness.active),
        reason = readiness.as_ref().map(|readiness| readiness.reason),
        turn_may_come = keys(false),
        set_aside = keys(true),
        holding = joined(holding),
        quota = id.map(|id| amounts(tree.subtree_quotas(id))),
        used = id.map(|id| amounts(tree.usage_of(id))),
        "dump"
    );
}

fn joined<T: ToString>(all: impl Iterator<Item = T>) -> String {
    all.map(|one| one.to_string()).collect::<Vec<_>>().join(" ")
}

fn holder_name(tree: &QuotaTree, id: NodeId) -> String {
    match tree.holder(id) {
        Holder::Cohort(name) => name.to_string(),
        Holder::ClusterQueue(name) => name.to_string(),
    }
}

fn amounts(all: &Usage) -> String {
    joined(all.iter().map(|(of, amount)| {
        let amount = amount.to_quantity(&of.resource);
        format!("{}/{}={amount}", of.flavor, of.resource)
    }))
}
