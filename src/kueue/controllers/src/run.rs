//! Puts the parts together: watches, reconcilers, scheduling loop, leader election. What a process has besides (probes,
//! webhooks, options) is the business of `kueue-manager`.

mod watches;

use std::future::Future;
use std::sync::Arc;

use jiff::Timestamp;
use jobs::JobKind;
use kube::Client;
use telemetry::health::Readiness;
use telemetry::metrics::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::context::{ClientHandle, Context, Settings};
use crate::metrics::{self, Metrics};
use crate::multikueue::{self, links::Links};
use crate::provisioning;
use crate::role::{CurrentRole, Role};
use crate::work_queue::{Next, WorkQueue};
use crate::world::{PodGroups, World};
use crate::write::Writer;
use crate::{
    cluster_queue, cohort, error::ReconcileError, events, flavor, job, keepers, leader_worker_set,
    lease, local_queue, nodes, places, pods, recovery, scheduling, slices, stateful_set, workload,
};
use watches::watches;

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
            .with_slices(settings.jobs.workloads.elastic)
            .recovering(settings.recovers)
            .handing_over(settings.multikueue.is_some())
            .and_watches(usize::from(watches_sets(&settings)))
            .and_watches(usize::from(watches_groups(&settings)))
            .and_watches(if watches_runtimes(&kinds) {
                jobs::train_job::RUNTIMES.len()
            } else {
                0
            })
            .and_watches(if settings.multikueue.is_some() { 2 } else { 0 });
        // It is new, so nobody else was faster.
        let _ = world.metrics.set(metrics.clone());
        let _ = world.events.set(sink.clone());
        let context = Context {
            writer: Writer::new(client.clone()),
            world,
            events: sink,
            metrics,
            settings,
            links: Links::default(),
            stop: CancellationToken::new(),
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
        let _links = context.stop.clone().drop_guard();
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

/// `StatefulSet`s make the pods of `LeaderWorkerSet`s, too.
fn watches_sets(settings: &Settings) -> bool {
    let on = |kind: &JobKind| settings.integrations.on(kind.framework);
    on(&jobs::serving::STATEFUL_SET) || watches_groups(settings)
}

fn watches_groups(settings: &Settings) -> bool {
    let kind = &jobs::serving::LEADER_WORKER_SET;
    settings.integrations.on(kind.framework)
}

fn watches_runtimes(kinds: &[&'static JobKind]) -> bool {
    let framework = jobs::train_job::TRAIN_JOB.framework;
    kinds.iter().any(|kind| kind.framework == framework)
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
    start.small();
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
    start.queue(&queues.slices, ("Pod", 5), slices::reconcile);
    start.queue(&queues.pods, ("Pod", 5), pods::reconcile);
    start.queue(&queues.ending, ("Pod", 5), recovery::reconcile);
    start.queue(
        &queues.stateful_sets,
        ("StatefulSet.apps", 5),
        stateful_set::reconcile,
    );
    start.queue(
        &queues.leader_worker_sets,
        ("LeaderWorkerSet.leaderworkerset.x-k8s.io", 5),
        leader_worker_set::reconcile,
    );
    start.queue(&queues.nodes, ("Node", 1), nodes::reconcile);
    start.queue(
        &queues.clusters,
        ("MultiKueueCluster.kueue.x-k8s.io", 2),
        multikueue::clusters::reconcile,
    );
    start.queue(
        &queues.provisioned,
        ("Workload.kueue.x-k8s.io", 10),
        provisioning::reconcile,
    );
    start.queue(
        &queues.handed,
        ("Workload.kueue.x-k8s.io", 10),
        multikueue::reconcile,
    );
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
    /// The kinds of which there are few.
    fn small(&mut self) {
        let queues = &self.context.world.queues;
        self.queue(
            &queues.flavors,
            ("ResourceFlavor.kueue.x-k8s.io", 1),
            flavor::reconcile,
        );
        self.queue(
            &queues.topologies,
            ("Topology.kueue.x-k8s.io", 1),
            keepers::topology,
        );
        self.queue(
            &queues.checks,
            ("AdmissionCheck.kueue.x-k8s.io", 1),
            keepers::check,
        );
        self.queue(
            &queues.cohorts,
            ("Cohort.kueue.x-k8s.io", 1),
            cohort::reconcile,
        );
    }

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
