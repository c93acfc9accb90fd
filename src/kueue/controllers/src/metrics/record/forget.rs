//! Forgetting: the series of objects that are gone disappear with them, for ClusterQueues, LocalQueues and cohorts. A name
//! that comes back begins at nothing.

use super::super::Metrics;

impl Metrics {
    /// Forgets a ClusterQueue that is gone.
    pub fn forget_cluster_queue(&self, name: &str) {
        let labels = [("cluster_queue", name)];
        for pair in self.counts.all() {
            pair.cluster.forget(&labels);
        }
        for pair in self.waits.all() {
            pair.cluster.forget(&labels);
        }
        self.evicted_once.forget(&labels);
        self.eviction_latency.forget(&labels);
        self.ready_to_evicted.forget(&labels);
        self.gate_seconds.forget(&labels);
        self.recomputed.forget(&labels);
        self.preempted.forget(&[("preempting_cluster_queue", name)]);
    }

    /// Forgets a LocalQueue that is gone.
    pub fn forget_local_queue(&self, namespace: &str, name: &str) {
        let labels = [("namespace", namespace), ("name", name)];
        for counters in self
            .counts
            .all()
            .iter()
            .filter_map(|pair| pair.local.as_ref())
        {
            counters.forget(&labels);
        }
        for histograms in self
            .waits
            .all()
            .iter()
            .filter_map(|pair| pair.local.as_ref())
        {
            histograms.forget(&labels);
        }
    }

    /// Forgets a cohort that nobody belongs to any more.
    pub fn forget_cohort(&self, name: &str) {
        if let Some(counters) = &self.admitted_below {
            counters.forget(&[("cohort", name)]);
        }
    }
}
