//! Who waits where, in the order of the queue.

use std::fmt::Write as _;

use cache::ClusterQueueName;

use super::{jobs, name};
use crate::world::World;

pub(super) fn queues(world: &World) -> String {
    let mut text = String::new();
    for (queue, object) in &world.queues {
        let key = ClusterQueueName::from(queue.as_str());
        let counts = world.cache.counts(&key).unwrap_or_default();
        let strategy = object.spec.queueing_strategy();
        let waiting = counts.pending_active + counts.pending_inadmissible;
        let _ = writeln!(
            text,
            "queue {queue}: {strategy}, {waiting} waiting, {} admitted",
            counts.admitted
        );
        let readiness = world.cache.readiness(&key).filter(|found| !found.active);
        if let Some(readiness) = readiness {
            let _ = writeln!(text, "  not active: {}", readiness.message);
        }
        for pending in world.cache.pending_workloads(&key).unwrap_or_default() {
            let place = pending.position_in_cluster_queue + 1;
            let priority = pending.priority;
            let why = jobs::state(world, &pending.key);
            let _ = writeln!(
                text,
                "  {place}. {}, priority {priority}: {why}",
                name(&pending.key)
            );
        }
    }
    text
}
