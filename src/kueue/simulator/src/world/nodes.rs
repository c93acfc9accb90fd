//! What follows for jobs when a node comes, goes or breaks, done as the controllers do it: the job notes the node, so that a second turn finds
//! another one for it, or it has to leave. There are no pods here; those of a broken node are taken to be gone.

use cache::{Eviction, NodeNews, Remedy, WorkloadKey};
use kueue_api::conditions::reasons;
use kueue_api::v1beta2::UnhealthyNode;

use super::World;
use super::jobs::Happening;

impl World {
    /// A node is not what it was.
    pub(super) fn node_changed(&mut self, name: &str) -> Vec<Happening> {
        let workloads: Vec<_> = self.jobs.values().map(|job| &job.object).collect();
        let news = NodeNews {
            name,
            node: self.nodes.get(name),
            workloads: &workloads,
            pods: &[],
        };
        let remedies = self.cache.remedies(&news, self.now);
        let all = remedies.workloads.iter();
        all.flat_map(|(key, remedy)| self.remedy(key, name, remedy))
            .collect()
    }

    fn remedy(&mut self, key: &WorkloadKey, node: &str, remedy: &Remedy) -> Vec<Happening> {
        if let Remedy::Evict(message) = remedy {
            let eviction = Eviction::new(reasons::NODE_FAILURES, message);
            return self.evict(key, &eviction);
        }
        let status = self.jobs.get_mut(key).map(|job| &mut job.object.status);
        if let Some(status) = status {
            let unhealthy = &mut status.get_or_insert_default().unhealthy_nodes;
            unhealthy.retain(|known| known.name != node);
            if *remedy == Remedy::Replace {
                let name = node.to_owned();
                unhealthy.push(UnhealthyNode { name });
            }
            self.tell(key);
        }
        Vec::new()
    }
}
