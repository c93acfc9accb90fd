//! A snapshot, a workload and an oracle: all that one assignment depends on.

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::{Cache, ClusterQueueName, FairSharing, FlavorName};
use k8s_openapi::api::core::v1::Node;
use kueue_api::v1beta2::{ClusterQueue, Cohort, ResourceFlavor, Topology};
use quantity::{Amount, Requests, ResourceName};
use scheduler::topology::DomainRequests;
use scheduler::{
    Assigner, Assignment, FlavorResource, HeldPodSet, Nomination, Oracle, PodSetName, Policy,
    Possibility, Snapshot, Usage, Workload,
};
use serde_json::{Value, json};

use crate::corpus::{Case, amount, each, flavor_resource, now, parse, read, usage};
use crate::world::{key, options};

/// Answers what the case says, else that preemption would help.
struct Scripted(BTreeMap<FlavorResource, (Possibility, usize)>);

impl Oracle for Scripted {
    fn ask(&self, of: &FlavorResource, _: Amount, _: usize) -> (Possibility, usize) {
        self.0.get(of).copied().unwrap_or((Possibility::Preempt, 0))
    }
}

impl Scripted {
    fn of(value: &Value) -> Self {
        let answer = |(key, answer): (&String, &Value)| {
            let possibility = match answer["preemptionPossiblity"].as_str() {
                Some("NoCandidates") => Possibility::NoCandidates,
                Some("Reclaim") => Possibility::Reclaim,
                _ => Possibility::Preempt,
            };
            let height = answer["borrowingAfterSimulation"].as_u64().unwrap_or(0);
            (
                flavor_resource(key),
                (possibility, usize::try_from(height).unwrap()),
            )
        };
        let all = value.as_object().into_iter().flatten();
        Self(all.map(answer).collect())
    }
}

/// What is asked of the assigner.
pub(super) struct Setup {
    snapshot: Snapshot,
    queue: ClusterQueueName,
    workload: Arc<Workload>,
    policy: Policy,
    replaced: Option<Vec<HeldPodSet>>,
}

/// ClusterQueues with what is used in them; the first one is asked.
pub(super) type Queues<'a> = Vec<(&'a Value, &'a Value)>;

impl Setup {
    pub(super) fn new(
        case: &Case<'_>,
        flavors: &[Value],
        queues: &Queues<'_>,
        cohorts: &[Value],
        workload: &Value,
    ) -> Self {
        let mut cache = Cache::new(options(case));
        for flavor in flavors {
            let _ = cache.apply_resource_flavor(&parse::<ResourceFlavor>(flavor));
        }
        for place in [case.common, case.input, &case.input["setup"]] {
            for topology in each::<Topology>(&place["topologies"]) {
                let _ = cache.apply_topology(&topology);
            }
            for node in each::<Node>(&place["nodes"]) {
                let _ = cache.apply_node(&node);
            }
        }
        let mut names = Vec::new();
        for (queue, _) in queues {
            let queue: ClusterQueue = parse(queue);
            let _ = cache.apply_cluster_queue(&queue, now());
            names.push(ClusterQueueName::from(queue.name()));
        }
        for cohort in cohorts {
            let _ = cache.apply_cohort(&parse::<Cohort>(cohort));
        }
        let workload = parse(workload);
        let _ = cache.apply_workload(&workload, now());
        let mut snapshot = cache.snapshot();
        for (name, (_, used)) in names.iter().zip(queues) {
            snapshot.tree.add(name, &usage(used));
        }
        let fair = case.input["enableFairSharing"] == true;
        Self {
            workload: cache.workload(&key(&workload)).unwrap(),
            snapshot,
            queue: names.remove(0),
            policy: Policy {
                fair_sharing: fair.then(FairSharing::default),
                ..options(case).policy()
            },
            replaced: replaced(&case.input["preemptWorkloadSlice"]),
        }
    }

    /// Assigns flavors, with these answers of the oracle.
    pub(super) fn assign(&self, simulation: &Value) -> Assignment {
        self.run(simulation, None)
    }

    /// The same, bound to these flavors.
    pub(super) fn assign_nominated(
        &self,
        simulation: &Value,
        nomination: &Nomination,
    ) -> Assignment {
        self.run(simulation, Some(nomination))
    }

    /// Somebody takes this from the domains of flavors, without quota.
    pub(super) fn use_places(&mut self, taken: &Value) {
        let domain = |one: &Value| DomainRequests {
            values: read(&one["values"]),
            per_pod: read::<BTreeMap<String, Value>>(&one["singlePodRequests"])
                .iter()
                .map(|(resource, value)| (ResourceName::from(resource.as_str()), amount(value)))
                .collect(),
            count: read(&one["count"]),
        };
        let flavors = taken.as_object().into_iter().flatten();
        let usage = flavors.map(|(flavor, domains)| {
            let domains = domains.as_array().into_iter().flatten();
            (
                FlavorName::from(flavor.as_str()),
                domains.map(domain).collect(),
            )
        });
        self.snapshot.take_places(&usage.collect());
    }

    /// Somebody takes this quota of the ClusterQueue.
    pub(super) fn use_quota(&mut self, taken: &Usage) {
        self.snapshot.tree.add(&self.queue, taken);
    }

    fn run(&self, simulation: &Value, nominated: Option<&Nomination>) -> Assignment {
        let oracle = Scripted::of(simulation);
        let assigner = Assigner {
            tree: &self.snapshot.tree,
            cluster_queue: &self.snapshot.cluster_queues[&self.queue],
            node: self.snapshot.tree.cluster_queue(&self.queue).unwrap(),
            flavors: &self.snapshot.flavors,
            oracle: &oracle,
            policy: &self.policy,
            nominated,
            replaced: self.replaced.as_deref(),
            topologies: &self.snapshot.topologies,
        };
        assigner.assign(&self.workload, None, None)
    }
}

/// A workload that is made of pod sets only.
pub(super) fn workload(pod_sets: &Value, reclaimable: &Value) -> Value {
    json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {"name": "wl", "namespace": "default"},
        "spec": {"podSets": pod_sets},
        "status": {"reclaimablePods": reclaimable.as_array().cloned().unwrap_or_default()},
    })
}

/// A Cohort object without anything in it, for the cohort of a ClusterQueue.
pub(super) fn empty_cohort(queue: &Value) -> Vec<Value> {
    let name = &queue["spec"]["cohortName"];
    let cohort = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Cohort",
        "metadata": {"name": name},
        "spec": {},
    });
    if name.is_null() {
        Vec::new()
    } else {
        vec![cohort]
    }
}

/// Flavors under a key, of the case or of all cases.
pub(super) fn flavors(value: &Value) -> Vec<Value> {
    each(value)
}

/// The slice that a workload grows out of, as the reference's record of it.
fn replaced(record: &Value) -> Option<Vec<HeldPodSet>> {
    let pod_set = |one: &Value| HeldPodSet {
        name: PodSetName::from(one["name"].as_str().unwrap()),
        count: one["count"].as_i64().unwrap_or(0),
        flavors: read::<BTreeMap<String, String>>(&one["flavors"])
            .iter()
            .map(|(resource, flavor)| {
                (
                    ResourceName::from(resource.as_str()),
                    FlavorName::from(flavor.as_str()),
                )
            })
            .collect(),
        requests: read::<BTreeMap<String, Value>>(&one["requests"])
            .iter()
            .map(|(resource, value)| (ResourceName::from(resource.as_str()), amount(value)))
            .collect::<Requests>(),
        place: None,
        delayed: None,
    };
    let all = record["totalRequests"].as_array()?;
    Some(all.iter().map(pod_set).collect())
}
