//! The watches: one of each kind, with what hears of it.

use std::sync::Arc;

use jobs::JobKind;
use jobs::serving::LEADER_WORKER_SET;
use jobs::train_job::{RUNTIMES, TRAIN_JOB};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, DynamicObject};
use kube::core::ApiResource;
use serde::de::DeserializeOwned;
use telemetry::health::Readiness;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::job;
use crate::provisioning::request;
use crate::watch::{Need, Seen, Synced, Unread, follow};
use crate::world::World;

/// Starts a watch of each kind.
pub(super) fn watches(
    context: &Arc<Context>,
    kinds: &[&'static JobKind],
    readiness: &Readiness,
    stop: &CancellationToken,
    tasks: &mut JoinSet<()>,
) {
    let mut start = Watches {
        context,
        readiness,
        stop,
        tasks,
    };
    start.kind("Namespace", World::on_namespace);
    start.kind("LimitRange", World::on_limit_range);
    start.kind("RuntimeClass", World::on_runtime_class);
    start.kind("PriorityClass", World::on_priority_class);
    start.kind("ResourceFlavor", World::on_flavor);
    start.kind("AdmissionCheck", World::on_check);
    start.kind("Cohort", World::on_cohort);
    start.kind("ClusterQueue", World::on_cluster_queue);
    start.kind("LocalQueue", World::on_local_queue);
    start.kind("WorkloadPriorityClass", World::on_class);
    start.kind("Workload", World::on_workload);
    start.kind("Topology", World::on_topology);
    start.kind("Node", World::on_node);
    start.kind("Pod", World::on_pod);
    if super::watches_sets(&context.settings) {
        start.kind("StatefulSet", World::on_stateful_set);
    }
    if super::watches_groups(&context.settings) {
        let kind = (LEADER_WORKER_SET.kind, Need::Optional);
        start.needed(kind, World::on_leader_worker_set);
    }
    if context.settings.multikueue.is_some() {
        start.kind("MultiKueueConfig", World::on_multikueue_config);
        start.kind("MultiKueueCluster", World::on_multikueue_cluster);
    }
    start.kind("ProvisioningRequestConfig", World::on_provisioning_config);
    start.requests();
    if super::watches_runtimes(kinds) {
        start.runtimes();
    }
    for (index, kind) in kinds.iter().enumerate() {
        start.jobs(index, kind);
    }
}

struct Watches<'a> {
    context: &'a Arc<Context>,
    readiness: &'a Readiness,
    stop: &'a CancellationToken,
    tasks: &'a mut JoinSet<()>,
}

impl Watches<'_> {
    fn synced(&self, kind: &str) -> Synced {
        Synced {
            check: self.readiness.check(&format!("watch of {kind}")),
            unseen: self.context.world.unseen.clone(),
        }
    }

    fn kind<K>(&mut self, kind: &'static str, tell: fn(&World, Seen<K>))
    where
        K: kube::Resource<DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Send
            + 'static,
    {
        self.needed((kind, Need::Required), tell);
    }

    fn needed<K>(&mut self, (kind, need): (&'static str, Need), tell: fn(&World, Seen<K>))
    where
        K: kube::Resource<DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned
            + Send
            + 'static,
    {
        let api: Api<Unread<K>> = Api::all(self.context.client.0.clone());
        let (context, synced, stop) = (self.context.clone(), self.synced(kind), self.stop.clone());
        self.tasks.spawn(async move {
            let world = &context.world;
            let hear = (
                |seen| tell(world, seen),
                |meta: &ObjectMeta| world.is_news(kind, meta),
            );
            follow((kind, need), api, synced, hear, stop).await;
        });
    }

    /// What autoscalers are asked for, once there is such a kind.
    fn requests(&mut self) {
        let api: Api<Unread<DynamicObject>> =
            Api::all_with(self.context.client.0.clone(), &request::resource());
        let (context, stop) = (self.context.clone(), self.stop.clone());
        let synced = self.synced(request::KIND);
        self.tasks.spawn(async move {
            let world = &context.world;
            let hear = (|seen| world.on_request(seen), |_: &ObjectMeta| true);
            let kind = (request::KIND, Need::Optional);
            follow(kind, api, synced, hear, stop).await;
        });
    }

    /// What describes the pods of jobs of a kind, once there are such kinds.
    fn runtimes(&mut self) {
        for (kind, plural) in RUNTIMES {
            let resource = ApiResource {
                kind: kind.to_owned(),
                plural: plural.to_owned(),
                ..job::resource_of(&TRAIN_JOB)
            };
            let api: Api<Unread<DynamicObject>> =
                Api::all_with(self.context.client.0.clone(), &resource);
            let (context, stop) = (self.context.clone(), self.stop.clone());
            let synced = self.synced(kind);
            self.tasks.spawn(async move {
                let world = &context.world;
                let hear = (|seen| world.on_runtime(kind, seen), |_: &ObjectMeta| true);
                follow((kind, Need::Optional), api, synced, hear, stop).await;
            });
        }
    }

    fn jobs(&mut self, index: usize, kind: &'static JobKind) {
        let resource = job::resource_of(kind);
        let need = if kind.is_built_in() {
            Need::Required
        } else {
            Need::Optional
        };
        let api: Api<Unread<DynamicObject>> =
            Api::all_with(self.context.client.0.clone(), &resource);
        let (context, synced, stop) = (
            self.context.clone(),
            self.synced(kind.kind),
            self.stop.clone(),
        );
        self.tasks.spawn(async move {
            let world = &context.world;
            let hear = (
                |seen| world.on_job(index, seen),
                |meta: &ObjectMeta| world.is_news_of_job(index, meta),
            );
            follow((kind.kind, need), api, synced, hear, stop).await;
        });
    }
}
