//! What is there and what arrives: thirty queues in six cohorts, three of them below another one, and Jobs that ask for more than there is.

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;
use kube::{Api, Client, Resource};
use kueue_api::v1beta2::{ClusterQueue, Cohort, LocalQueue, ResourceFlavor, WorkloadPriorityClass};
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
const PRIORITIES: &[(&str, i32)] = &[("low", 0), ("middle", 100), ("high", 1000)];

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

/// One more Job. A third of the queues gets most of them.
pub(crate) fn job(number: u64, chance: &mut Chance) -> anyhow::Result<Job> {
    let busy = !chance.once_in(4);
    let queue = chance.below(if busy { QUEUES / 3 } else { QUEUES });
    let (priority, _) = PRIORITIES[chance.below(PRIORITIES.len())];
    let pods = chance.between(1, 3);
    let annotations = BTreeMap::from([
        (RUN, chance.between(2, 24).to_string()),
        (STOP, chance.between(1, 6).to_string()),
    ]);
    let container = json!({
        "name": "c",
        "image": "nowhere",
        "resources": {"requests": {"cpu": chance.between(1, 2).to_string()}},
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
