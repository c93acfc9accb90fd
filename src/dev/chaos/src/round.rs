//! A round: some Jobs arrive, one blow is dealt, and then everything has to come to order by itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::bail;
use clusters::tools::Tools;
use k8s_openapi::api::batch::v1::Job;
use kube::Api;
use kube::api::DeleteParams;
use kueue_api::v1beta2::Workload;
use simulator::random::Chance;
use tokio::sync::{mpsc, watch};
use tokio::time::{interval, sleep, timeout};
use trials::plane::Plane;

use crate::actor::{Actor, is_complete};
use crate::blow::{Blow, Targets, is_leaving, millis};
use crate::load::{self, Load, put};
use crate::manager::Manager;
use crate::proxy::Proxy;
use crate::seen::{EVERY, Seen, keep_looking};
use crate::{judge, say};

/// How long everything may take to come to order.
const PATIENCE: Duration = Duration::from_secs(120);
/// With more Jobs than these, a round waits until some are done.
const MOST_JOBS: usize = 60;

/// Everything that a round needs, and what was counted so far.
pub(crate) struct Arena {
    targets: Targets,
    load: Arc<Load>,
    chance: Chance,
    finishing: Arc<AtomicBool>,
    seen: watch::Receiver<Arc<Seen>>,
    found: mpsc::UnboundedReceiver<String>,
    submitted: u64,
    done: u64,
    blows: BTreeMap<Blow, u64>,
    between: u64,
    violations: u64,
}

impl Arena {
    pub(crate) async fn open(
        folder: &Path,
        tools: &Tools,
        manager: &Path,
        crds: &Path,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let mut chance = Chance::new(seed);
        say("starting etcd and the API server");
        let plane = Plane::open(tools, folder).await?;
        let client = plane.client().await?;
        trials::crds::install(&client, crds).await?;
        let load = Arc::new(Load::new(&mut chance)?);
        // A kind takes a moment from its definition to its first object.
        let created = until(|| load.create(&client)).await;
        created?;
        let proxy = Proxy::open(plane.port()).await?;
        say("starting the controller");
        let manager = Manager::start(folder, manager, &plane, proxy.port).await?;
        let finishing = Arc::new(AtomicBool::new(true));
        let actor = Actor::new(&client, finishing.clone());
        let (find, found) = mpsc::unbounded_channel();
        let seen = keep_looking(client.clone(), load.clone(), actor, find);
        Ok(Self {
            targets: Targets {
                plane,
                client,
                manager,
                proxy,
            },
            load,
            chance,
            finishing,
            seen,
            found,
            submitted: 0,
            done: 0,
            blows: BTreeMap::new(),
            between: 0,
            violations: 0,
        })
    }

    pub(crate) async fn round(&mut self, number: u64) -> anyhow::Result<()> {
        for _ in 0..self.chance.between(4, 9) {
            self.submit().await?;
        }
        sleep(millis(&mut self.chance, 0, 1_200)).await;
        if self.targets.manager.has_ended().await {
            self.violation("the controller ended by itself");
            self.targets.manager.revive()?;
        }
        let blow = Blow::any(&mut self.chance);
        if blow == Blow::KillControllerBetweenTwoWrites {
            self.provoke().await?;
        }
        let hit = self
            .targets
            .deal(blow, &mut self.chance, &mut self.seen)
            .await?;
        self.between += u64::from(hit);
        *self.blows.entry(blow).or_default() += 1;
        self.finishing.store(false, Ordering::Relaxed);
        self.comes_to_order().await;
        self.finishing.store(true, Ordering::Relaxed);
        self.clear().await;
        let (submitted, done, wrong) = (self.submitted, self.done, self.violations);
        say(&format!(
            "round {number}: {blow:?}, {done} of {submitted} Jobs done, {wrong} violations"
        ));
        let few = self
            .seen
            .wait_for(|seen| seen.jobs.iter().filter(|job| !is_complete(job)).count() < MOST_JOBS);
        if timeout(PATIENCE, few).await.is_err() {
            self.violation("Jobs do not get done");
        }
        Ok(())
    }

    async fn submit(&mut self) -> anyhow::Result<()> {
        let job = load::job(self.submitted + 1, &self.load, &mut self.chance)?;
        self.create(job).await
    }

    /// Sees to it that somebody is evicted.
    async fn provoke(&mut self) -> anyhow::Result<()> {
        let seen = self.seen.borrow().clone();
        let number = self.submitted + 1;
        let job = load::urgent(number, &self.load, &seen.workloads, &mut self.chance)?;
        match job {
            Some(job) => self.create(job).await,
            None => Ok(()),
        }
    }

    async fn create(&mut self, job: Job) -> anyhow::Result<()> {
        self.submitted += 1;
        let jobs: Api<Job> = Api::namespaced(self.targets.client.clone(), "default");
        until(|| put(&jobs, &job)).await
    }

    /// Waits until nothing is left to do but to let Jobs run.
    async fn comes_to_order(&mut self) {
        let (load, client) = (self.load.clone(), self.targets.client.clone());
        let mut last = Vec::new();
        let quiet = async {
            let mut ticks = interval(EVERY);
            loop {
                ticks.tick().await;
                match judge::unrest(&load, &client).await {
                    Ok(unrest) if unrest.is_empty() => return,
                    Ok(unrest) => last = unrest,
                    Err(error) => last = vec![error.to_string()],
                }
            }
        };
        if timeout(PATIENCE, quiet).await.is_err() {
            for what in last {
                self.violation(&what);
            }
        }
        while let Ok(what) = self.found.try_recv() {
            self.violation(&what);
        }
    }

    /// Removes what is done, so that readings stay small.
    async fn clear(&mut self) {
        let client = &self.targets.client;
        let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
        let workloads: Api<Workload> = Api::namespaced(client.clone(), "default");
        let seen = self.seen.borrow().clone();
        for job in seen.jobs.iter().filter(|job| is_complete(job)) {
            let owned = |workload: &&Workload| {
                let owners = workload.metadata.owner_references.iter().flatten();
                workload.is_finished()
                    && owners
                        .into_iter()
                        .any(|owner| Some(&owner.uid) == job.metadata.uid.as_ref())
            };
            let Some(workload) = seen.workloads.iter().find(owned) else {
                continue;
            };
            let names = workload
                .metadata
                .name
                .as_deref()
                .zip(job.metadata.name.as_deref());
            let Some((workload, job)) = names else {
                continue;
            };
            let now = DeleteParams::background();
            if jobs.delete(job, &now).await.is_ok() {
                self.done += 1;
                let _ = workloads.delete(workload, &now).await;
            }
        }
    }

    fn violation(&mut self, what: &str) {
        self.violations += 1;
        say(&format!("VIOLATION: {what}"));
    }

    /// Waits for the last Jobs and tells what was counted. Returns whether nothing was ever wrong.
    pub(crate) async fn finish(mut self) -> anyhow::Result<bool> {
        let all = self.seen.wait_for(|seen| seen.jobs.iter().all(is_complete));
        let all = timeout(PATIENCE * 2, all).await.is_ok();
        self.comes_to_order().await;
        self.clear().await;
        let left = self.submitted - self.done;
        if !all || left > 0 {
            let jobs = self.seen.borrow().jobs.clone();
            let names = jobs.iter().filter_map(|job| job.metadata.name.as_deref());
            let names: Vec<&str> = names.collect();
            self.violation(&format!("{left} Jobs are not done: {}", names.join(" ")));
        }
        let leaving = self
            .seen
            .borrow()
            .workloads
            .iter()
            .filter(|one| is_leaving(one))
            .count();
        if leaving > 0 {
            self.violation(&format!("{leaving} Workloads are still leaving"));
        }
        for (blow, number) in &self.blows {
            say(&format!("{blow:?}: {number}"));
        }
        say(&format!(
            "killed between the two writes of an eviction: {}",
            self.between
        ));
        say(&format!(
            "{} Jobs, {} done, {} violations",
            self.submitted, self.done, self.violations
        ));
        Ok(self.violations == 0)
    }
}

/// Tries until it works.
async fn until<F>(mut act: impl FnMut() -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let mut ticks = interval(Duration::from_millis(300));
    let mut last = None;
    for _ in 0..400 {
        ticks.tick().await;
        match act().await {
            Ok(()) => return Ok(()),
            Err(error) => last = Some(error),
        }
    }
    match last {
        Some(error) => Err(error),
        None => bail!("nothing was tried"),
    }
}
