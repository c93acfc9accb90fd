//! What is there and what arrives: thirty queues in six cohorts, three of them below another one, and Jobs that ask for more than there is.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;
use kube::{Api, Client, Resource};
use kueue_api::Quantity;
use kueue_api::v1beta2::{
    ClusterQueue, Cohort, LocalQueue, ResourceFlavor, ResourceQuota, WithinClusterQueue, Workload,
    WorkloadPriorityClass,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, json};
use simulator::random::Chance;

/// How long a Job runs, in readings.
pub(crate) const RUN: &str = "chaos/run";
/// How long it takes to stop.
pub(crate) const STOP: &str = "chaos/stop";

const QUEUES: usize = 30;
const COHORTS: usize = 6;
const HIGH: i32 = 1000;
const PRIORITIES: &[(&str, i32)] = &[("low", 0), ("middle", 100), ("high", HIGH)];

/// What is there all the time.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) flavor: ResourceFlavor,
    pub(crate) cohorts: Vec<Cohort>,
    pub(crate) queues: Vec<ClusterQueue>,
    pub(crate) locals: Vec<LocalQueue>,
}

impl Load {
    pub(crate) fn new(chance: &mut Chance) -> anyhow::Result<Self> {
        let flavor = json!({"metadata": {"name": "default"}, "spec": {}});
        let cohort = |at: usize| {
            let parent = (at % 2 == 1).then_some("organisation");
            from_value(
                json!({"metadata": {"name": format!("cohort-{at}")}, "spec": {"parentName": parent}}),
            )
        };
        let queues: Vec<ClusterQueue> = (0..QUEUES)
            .map(|at| from_value(queue(at, chance)))
            .collect::<Result<_, _>>()?;
        let local = |at: usize| {
            let name = format!("queue-{at}");
            from_value(
                json!({"metadata": {"name": name, "namespace": "default"}, "spec": {"clusterQueue": name}}),
            )
        };
        Ok(Self {
            flavor: from_value(flavor)?,
            cohorts: (0..COHORTS).map(cohort).collect::<Result<_, _>>()?,
            queues,
            locals: (0..QUEUES).map(local).collect::<Result<_, _>>()?,
        })
    }

    /// The most cpu that a Job of a queue may ask for so that it can run once nobody else does: what the queue owns, and what
    /// it may borrow of what its neighbours lend.
    fn room(&self, at: usize) -> usize {
        let Some(queue) = self.queues.get(at) else {
            return 0;
        };
        let others = self.queues.iter().filter(|other| {
            other.spec.cohort_name == queue.spec.cohort_name
                && other.metadata.name != queue.metadata.name
        });
        let lent = others
            .filter_map(quota_of)
            .map(|quota| quota.lending_limit.unwrap_or(quota.nominal_quota))
            .map(|lent| cpus(&lent));
        let Some(own) = quota_of(queue) else {
            return 0;
        };
        let lent = lent.sum();
        let borrowed = own
            .borrowing_limit
            .map_or(lent, |limit| cpus(&limit).min(lent));
        cpus(&own.nominal_quota) + borrowed
    }

    /// Creates all of it.
    pub(crate) async fn create(&self, client: &Client) -> anyhow::Result<()> {
        let all = Api::all(client.clone());
        put::<Namespace>(
            &all,
            &from_value(json!({"metadata": {"name": "kueue-system"}}))?,
        )
        .await?;
        put(&Api::all(client.clone()), &self.flavor).await?;
        for (name, value) in PRIORITIES {
            let class = json!({"metadata": {"name": name}, "value": value});
            let class: WorkloadPriorityClass = from_value(class)?;
            put(&Api::all(client.clone()), &class).await?;
        }
        for cohort in &self.cohorts {
            put(&Api::all(client.clone()), cohort).await?;
        }
        for queue in &self.queues {
            put(&Api::all(client.clone()), queue).await?;
        }
        for local in &self.locals {
            put(&Api::namespaced(client.clone(), "default"), local).await?;
        }
        Ok(())
    }
}

/// Creates an object unless it is there.
pub(crate) async fn put<K>(api: &Api<K>, object: &K) -> anyhow::Result<()>
where
    K: Resource + Clone + Serialize + DeserializeOwned + std::fmt::Debug,
{
    match api.create(&PostParams::default(), object).await {
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
        other => Ok(other.map(|_| ())?),
    }
}

fn queue(at: usize, chance: &mut Chance) -> Value {
    let reclaim = chance.one(&["Any", "LowerPriority"]);
    let own = chance.one(&["LowerPriority", "LowerOrNewerEqualPriority", "Never"]);
    let strategy = chance.one(&["BestEffortFIFO", "StrictFIFO"]);
    let mut quota = json!({"name": "cpu", "nominalQuota": chance.between(1, 4).to_string()});
    if chance.once_in(3) {
        quota["borrowingLimit"] = json!(chance.between(1, 3).to_string());
    }
    if chance.once_in(3) {
        quota["lendingLimit"] = json!("1");
    }
    json!({
        "metadata": {"name": format!("queue-{at}")},
        "spec": {
            "namespaceSelector": {},
            "cohortName": format!("cohort-{}", at % COHORTS),
            "queueingStrategy": strategy,
            "preemption": {
                "withinClusterQueue": own,
                "reclaimWithinCohort": reclaim,
                "borrowWithinCohort": {"policy": "Never"},
            },
            "resourceGroups": [{
                "coveredResources": ["cpu"],
                "flavors": [{"name": "default", "resources": [quota]}],
            }],
        },
    })
}

/// The one quota of a queue.
fn quota_of(queue: &ClusterQueue) -> Option<ResourceQuota> {
    let flavor = queue.spec.resource_groups.first()?.flavors.first()?;
    flavor.resources.first().cloned()
}

/// Quotas here are whole numbers.
fn cpus(quantity: &Quantity) -> usize {
    quantity.0.parse().unwrap_or_default()
}

/// A Job that somebody has to leave for: it matters more than all others, and asks for all that its queue owns. `None` while nobody runs
/// who would have to.
pub(crate) fn urgent(
    number: u64,
    load: &Load,
    workloads: &[Workload],
    chance: &mut Chance,
) -> anyhow::Result<Option<Job>> {
    let evicts = |at: usize| {
        let queue = load.queues.get(at);
        let preemption = queue.and_then(|queue| queue.spec.preemption.as_ref());
        preemption.is_some_and(|own| own.within_cluster_queue() != WithinClusterQueue::Never)
    };
    let occupied: Vec<usize> = (0..QUEUES)
        .filter(|at| evicts(*at) && workloads.iter().any(|one| could_leave(one, *at)))
        .collect();
    if occupied.is_empty() {
        return Ok(None);
    }
    let queue = occupied[chance.below(occupied.len())];
    let own = load.queues.get(queue).and_then(quota_of);
    let pods = own.map_or(1, |quota| cpus(&quota.nominal_quota));
    made(number, queue, "high", (pods, 1), chance).map(Some)
}

/// Runs in a queue, and is less important than some.
fn could_leave(workload: &Workload, queue: usize) -> bool {
    workload.is_admitted()
        && !workload.is_finished()
        && !workload.is_evicted()
        && workload.priority() < HIGH
        && workload.spec.queue_name() == format!("queue-{queue}")
}

/// One more Job. A third of the queues gets most of them. It always asks for something that can be had.
pub(crate) fn job(number: u64, load: &Load, chance: &mut Chance) -> anyhow::Result<Job> {
    let busy = !chance.once_in(4);
    let queue = chance.below(if busy { QUEUES / 3 } else { QUEUES });
    let (priority, _) = PRIORITIES[chance.below(PRIORITIES.len())];
    let (pods, cpu) = (chance.between(1, 3), chance.between(1, 2));
    let pods = pods.min(load.room(queue) / cpu);
    let (pods, cpu) = if pods == 0 { (1, 1) } else { (pods, cpu) };
    made(number, queue, priority, (pods, cpu), chance)
}

fn made(
    number: u64,
    queue: usize,
    priority: &str,
    (pods, cpu): (usize, usize),
    chance: &mut Chance,
) -> anyhow::Result<Job> {
    let annotations = BTreeMap::from([
        (RUN, chance.between(2, 24).to_string()),
        (STOP, chance.between(1, 6).to_string()),
    ]);
    let container = json!({
        "name": "c",
        "image": "nowhere",
        "resources": {"requests": {"cpu": cpu.to_string()}},
    });
    Ok(from_value(json!({
        "metadata": {
            "name": format!("job-{number}"),
            "namespace": "default",
            "annotations": annotations,
            "labels": {
                "kueue.x-k8s.io/queue-name": format!("queue-{queue}"),
                "kueue.x-k8s.io/priority-class": priority,
            },
        },
        "spec": {
            "suspend": true,
            "parallelism": pods,
            "completions": pods,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }))?)
}
