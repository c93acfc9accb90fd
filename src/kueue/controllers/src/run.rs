//! Puts the parts together: watches, reconcilers, scheduling loop, leader election. What a process has besides (probes,
//! webhooks, options) is the business of `kueue-manager`.

use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use jobs::JobKind;
use kube::Client;
use kube::api::{Api, DynamicObject};
use kube::core::DeserializeGuard;
use serde::de::DeserializeOwned;
use telemetry::health::Readiness;
use telemetry::metrics::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::context::{ClientHandle, Context, Settings};
use crate::metrics::{self, Metrics};
use crate::role::{CurrentRole, Role};
use crate::watch::{Need, Seen, Synced, follow};
use crate::work_queue::{Next, WorkQueue};
use crate::world::{PodGroups, World};
use crate::write::Writer;
use crate::{
    cluster_queue, cohort, error::ReconcileError, events, flavor, job, keepers, lease, local_queue,
    nodes, places, pods, scheduling, stateful_set, workload,
};

/// What the controllers are started with.
#[derive(Debug)]
pub struct Options {
    pub settings: Settings,
    pub cache: cache::Options,
    pub metrics: metrics::Options,
    /// Kinds of jobs that are managed.
    pub kinds: Vec<&'static JobKind>,
    /// Leader election; none for the only replica.
    pub lease: Option<lease::Options>,
    /// Name of this process in events.
    pub instance: String,
    pub clock: fn() -> Timestamp,
}

/// Controllers that are not running yet.
pub struct Controllers {
    context: Arc<Context>,
    kinds: Vec<&'static JobKind>,
    lease: Option<lease::Options>,
    event_writer: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl std::fmt::Debug for Controllers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controllers")
            .field("kinds", &self.kinds.len())
            .finish_non_exhaustive()
    }
}

impl Controllers {
    /// Builds everything; nothing talks to the API server yet.
    #[must_use]
    pub fn new(client: Client, options: Options, registry: &mut Registry) -> Self {
        let Options {
            settings,
            cache,
            metrics,
            kinds,
            lease,
            instance,
            clock,
        } = options;
        let role = CurrentRole::new(if lease.is_some() {
            Role::Follower
        } else {
            Role::Standalone
        });
        let (sink, writer) = events::channel(client.clone(), instance, clock);
        let metrics = Metrics::register(registry, role.clone(), metrics);
        let world = World::new(cache, &kinds, clock)
            .with_pods(pod_groups(&settings))
            .and_watches(usize::from(watches_sets(&settings)));
        // It is new, so nobody else was faster.
        let _ = world.metrics.set(metrics.clone());
        let context = Context {
            writer: Writer::new(client.clone()),
            world,
            events: sink,
            metrics,
            settings,
            role,
            clock,
            client: ClientHandle(client),
        };
        Self {
            context: Arc::new(context),
            kinds,
            lease,
            event_writer: Box::pin(writer),
        }
    }

    /// What the controllers share; webhooks and metrics read it.
    #[must_use]
    pub fn context(&self) -> Arc<Context> {
        self.context.clone()
    }

    /// Runs until `stop`, or until the lease is lost.
    pub async fn run(
        self,
        readiness: &Readiness,
        stop: CancellationToken,
    ) -> Result<(), lease::Lost> {
        let Self {
            context,
            kinds,
            lease,
            event_writer,
        } = self;
        let events = tokio::spawn(event_writer);
        let mut tasks = JoinSet::new();
        watches(&context, &kinds, readiness, &stop, &mut tasks);
        let election = CancellationToken::new();
        let elected = elect(context.clone(), lease, election.clone());
        let working = work(context, &kinds, stop.clone());
        tokio::pin!(elected, working);
        let lost = tokio::select! {
            result = &mut elected => {
                stop.cancel();
                working.await;
                result
            }
            () = &mut working => {
                // What was begun is written; only now may another replica lead.
                election.cancel();
                elected.await
            }
        };
        while tasks.join_next().await.is_some() {}
        // The last events; the sink is gone with the context.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(2), events).await;
        lost
    }
}

fn watches_sets(settings: &Settings) -> bool {
    settings
        .integrations
        .on(jobs::serving::STATEFUL_SET.framework)
}

fn pod_groups(settings: &Settings) -> Option<PodGroups> {
    settings.pods.as_ref().map(|rules| PodGroups {
        annotated: rules.switches.annotated,
        checks_owner: rules.switches.checks_owner,
    })
}

async fn elect(
    context: Arc<Context>,
    lease: Option<lease::Options>,
    stop: CancellationToken,
) -> Result<(), lease::Lost> {
    let (client, role) = (context.client.0.clone(), context.role.clone());
    match lease {
        Some(options) => lease::run(client, options, role, stop).await,
        None => {
            stop.cancelled().await;
            Ok(())
        }
    }
}

/// Starts a watch of each kind.
fn watches(
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
    if watches_sets(&context.settings) {
        start.kind("StatefulSet", World::on_stateful_set);
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
        let api: Api<DeserializeGuard<K>> = Api::all(self.context.client.0.clone());
        let (context, synced, stop) = (self.context.clone(), self.synced(kind), self.stop.clone());
        self.tasks.spawn(async move {
            let tell = |seen| tell(&context.world, seen);
            follow((kind, Need::Required), api, synced, tell, stop).await;
        });
    }

    fn jobs(&mut self, index: usize, kind: &'static JobKind) {
        let resource = job::resource_of(kind);
        let need = if kind.is_built_in() {
            Need::Required
        } else {
            Need::Optional
        };
        let api: Api<DeserializeGuard<DynamicObject>> =
            Api::all_with(self.context.client.0.clone(), &resource);
        let (context, synced, stop) = (
            self.context.clone(),
            self.synced(kind.kind),
            self.stop.clone(),
        );
        self.tasks.spawn(async move {
            follow(
                (kind.kind, need),
                api,
                synced,
                |seen| context.world.on_job(index, seen),
                stop,
            )
            .await;
        });
    }
}

/// Waits until everything is known and this replica may write, then works until `stop`.
async fn work(context: Arc<Context>, kinds: &[&'static JobKind], stop: CancellationToken) {
    let mut unseen = context.world.unseen.subscribe();
    let ready = async {
        // The sender is held by the context, so waiting cannot fail.
        let _ = unseen.wait_for(|left| *left == 0).await;
        context.role.wait_to_write().await;
    };
    tokio::select! {
        () = ready => {}
        () = stop.cancelled() => return,
    }
    tracing::info!(
        role = context.role.get().as_str(),
        "everything is known, starting to decide"
    );
    let mut workers = JoinSet::new();
    let queues = &context.world.queues;
    let mut start = Workers {
        context: &context,
        stop: &stop,
        workers: &mut workers,
    };
    start.queue(
        &queues.flavors,
        ("ResourceFlavor.kueue.x-k8s.io", 1),
        flavor::reconcile,
    );
    start.queue(
        &queues.topologies,
        ("Topology.kueue.x-k8s.io", 1),
        keepers::topology,
    );
    start.queue(
        &queues.checks,
        ("AdmissionCheck.kueue.x-k8s.io", 1),
        keepers::check,
    );
    start.queue(
        &queues.cohorts,
        ("Cohort.kueue.x-k8s.io", 1),
        cohort::reconcile,
    );
    start.queue(
        &queues.cluster_queues,
        ("ClusterQueue.kueue.x-k8s.io", 5),
        cluster_queue::reconcile,
    );
    start.queue(
        &queues.local_queues,
        ("LocalQueue.kueue.x-k8s.io", 5),
        local_queue::reconcile,
    );
    start.queue(
        &queues.workloads,
        ("Workload.kueue.x-k8s.io", 10),
        workload::reconcile,
    );
    start.queue(&queues.places, ("Pod", 5), places::reconcile);
    start.queue(&queues.pods, ("Pod", 5), pods::reconcile);
    start.queue(
        &queues.stateful_sets,
        ("StatefulSet.apps", 5),
        stateful_set::reconcile,
    );
    start.queue(&queues.nodes, ("Node", 1), nodes::reconcile);
    for (index, (kind, queue)) in kinds.iter().zip(&queues.jobs).enumerate() {
        let name = format!("{}.{}", kind.kind, kind.group);
        start.queue(queue, (&name, 5), move |context, key| {
            job::reconcile(context, index, key)
        });
    }
    workers.spawn(scheduling::run(context.clone(), stop.clone()));
    while workers.join_next().await.is_some() {}
}

struct Workers<'a> {
    context: &'a Arc<Context>,
    stop: &'a CancellationToken,
    workers: &'a mut JoinSet<()>,
}

impl Workers<'_> {
    fn queue<F, W>(&mut self, queue: &Arc<WorkQueue>, (name, default): (&str, usize), reconcile: F)
    where
        F: Fn(Arc<Context>, crate::key::Key) -> W + Send + Sync + 'static,
        W: Future<Output = Result<Next, ReconcileError>> + Send + 'static,
    {
        let tasks = self.context.settings.tasks(name, default);
        let (queue, context, stop) = (queue.clone(), self.context.clone(), self.stop.clone());
        self.workers.spawn(async move {
            queue
                .run(tasks, |key| reconcile(context.clone(), key), stop)
                .await;
        });
    }
}
