//! The objects that quota is described with: flavors, admission checks, cohorts, ClusterQueues and LocalQueues. Each goes
//! into the cache, and whoever is concerned by what changed is looked at again.

use cache::{ClusterQueueName, CohortName, FlavorName, LocalQueueKey};
use kueue_api::v1beta2::{
    AdmissionCheck, ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Workload,
};

use super::super::World;
use super::News;
use crate::keepers;
use crate::key::Key;
use crate::watch::Seen;

impl World {
    pub fn on_flavor(&self, seen: Seen<ResourceFlavor>) {
        match self.keep(&self.stores.flavors, seen) {
            Some(News::Object(flavor, _)) => {
                self.change(|cache, _| cache.apply_resource_flavor(&flavor));
                self.queues.flavors.add(Key::cluster(flavor.name()));
            }
            Some(News::Gone(key, _)) => {
                let name = FlavorName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_resource_flavor(&name));
                self.ask_leaving();
            }
            None => {}
        }
    }

    pub fn on_check(&self, seen: Seen<AdmissionCheck>) {
        match self.keep(&self.stores.checks, seen) {
            Some(News::Object(check, _)) => {
                self.change(|cache, _| cache.apply_admission_check(&check));
                self.queues.checks.add(Key::of(&check.metadata));
            }
            Some(News::Gone(key, _)) => {
                self.change(|cache, _| cache.delete_admission_check(&key.name));
            }
            None => {}
        }
    }

    pub fn on_cohort(&self, seen: Seen<Cohort>) {
        match self.keep(&self.stores.cohorts, seen) {
            Some(News::Object(cohort, _)) => {
                self.change(|cache, _| cache.apply_cohort(&cohort));
                self.queues.cohorts.add(Key::cluster(cohort.name()));
            }
            Some(News::Gone(key, _)) => {
                let name = CohortName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_cohort(&name));
                self.queues.cohorts.add(key);
            }
            None => {}
        }
    }

    pub fn on_cluster_queue(&self, seen: Seen<ClusterQueue>) {
        self.took_cluster_queue(seen);
        self.ask_leaving();
    }

    fn took_cluster_queue(&self, seen: Seen<ClusterQueue>) {
        let (queue, before) = match self.keep(&self.stores.cluster_queues, seen) {
            Some(News::Object(queue, before)) => {
                self.change(|cache, now| cache.apply_cluster_queue(&queue, now));
                (queue, before)
            }
            Some(News::Gone(key, last)) => {
                let name = ClusterQueueName::new(key.name.as_str());
                self.change(|cache, _| cache.delete_cluster_queue(&name));
                (last, None)
            }
            None => return,
        };
        self.queues.cluster_queues.add(Key::cluster(queue.name()));
        // Cohorts that it belonged to may have lost their last member.
        for queue in before.iter().chain([&queue]) {
            if let Some(cohort) = &queue.spec.cohort_name {
                self.queues.cohorts.add(Key::cluster(cohort));
            }
        }
        let same = before.as_ref().is_some_and(|old| {
            old.spec == queue.spec
                && old.metadata.deletion_timestamp == queue.metadata.deletion_timestamp
        });
        if same {
            return;
        }
        for group in before
            .iter()
            .flat_map(|old| &old.spec.resource_groups)
            .chain(&queue.spec.resource_groups)
        {
            for flavor in &group.flavors {
                self.queues.flavors.add(Key::cluster(&flavor.name));
            }
        }
        self.ask_workloads_of(|workload, local| {
            local.is_some_and(|local| local.spec.cluster_queue() == queue.name())
                || workload
                    .status
                    .as_ref()
                    .and_then(|s| s.admission.as_ref())
                    .is_some_and(|a| a.cluster_queue == queue.name())
        });
    }

    pub fn on_local_queue(&self, seen: Seen<LocalQueue>) {
        let (queue, before) = match self.keep(&self.stores.local_queues, seen) {
            Some(News::Object(queue, before)) => {
                self.change(|cache, now| cache.apply_local_queue(&queue, now));
                (queue, before)
            }
            Some(News::Gone(key, last)) => {
                let name = LocalQueueKey::new(key.namespace.as_str(), key.name.as_str());
                self.change(|cache, now| cache.delete_local_queue(&name, now));
                (last, None)
            }
            None => return,
        };
        let key = Key::of(&queue.metadata);
        self.queues.local_queues.add(key.clone());
        if before.is_none_or(|old| {
            old.spec != queue.spec
                || old.metadata.deletion_timestamp != queue.metadata.deletion_timestamp
        }) {
            self.ask_workloads_of(|workload, _| {
                workload.namespace() == key.namespace && workload.spec.queue_name() == key.name
            });
        }
    }

    /// Queues the Workloads that a test holds for, given with their LocalQueue.
    fn ask_workloads_of(&self, concerned: impl Fn(&Workload, Option<&LocalQueue>) -> bool) {
        for workload in self
            .stores
            .workloads
            .list()
            .iter()
            .filter(|w| !w.is_finished())
        {
            let local = self
                .stores
                .local_queues
                .get(&Key::new(workload.namespace(), workload.spec.queue_name()));
            if concerned(workload, local.as_deref()) {
                self.queues.workloads.add(Key::of(&workload.metadata));
            }
        }
    }
    /// Objects that could not go because others named them.
    fn ask_leaving(&self) {
        let (topologies, checks) = keepers::leaving(&self.stores);
        topologies
            .into_iter()
            .for_each(|key| self.queues.topologies.add(key));
        checks
            .into_iter()
            .for_each(|key| self.queues.checks.add(key));
    }
}
