//! Workloads that other clusters run (MultiKueue, reference section 4.17). This cluster is the manager: it reserves quota, offers the Workload
//! to its worker clusters, and keeps to the one that admits it. `decide` decides, this gathers what that rests on from here and from the
//! workers, and carries it out; [`clusters`] keeps the connections.

pub mod check;
pub mod clusters;
pub mod connection;
pub mod decide;
pub mod kubeconfig;
pub mod links;
mod pass;
mod worker;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jobs::multikueue::Adapter;
use jobs::serving::leader_worker_set::group_of;
use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::{AdmissionCheckState, CheckState, Workload};
use kueue_api::workload::checks::of_controller;
use serde_json::Value;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::work_queue::Next;

use decide::{Remote, Siblings, View, owner, plan, refuse};
use pass::Pass;
use worker::Worker;

/// Choices of the operator.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rules: decide::Rules,
    /// Time between two looks for what is left over in worker clusters; zero is never.
    pub gc_interval: Duration,
    /// Where the Secrets with kubeconfigs are.
    pub namespace: String,
    /// Kubeconfigs in files have to be below [`kubeconfig::FOLDER`] (gate `MultiKueueKubeConfigPathValidation`).
    pub checked_paths: bool,
}

/// Whether what a worker cluster holds has nothing here that it belongs to.
#[must_use]
pub fn stray(own: Option<&Workload>) -> bool {
    own.is_none_or(|own| own.metadata.deletion_timestamp.is_some())
}

/// Brings one Workload and its copies forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(settings) = &context.settings.multikueue else {
        return Ok(Next::OnChange);
    };
    let there = context.world.stores.workloads.get(&key);
    let gone = || context.world.handed.gone(&key);
    let (workload, leaving) = match there {
        Some(workload) => {
            let leaving = workload.metadata.deletion_timestamp.is_some();
            (workload, leaving)
        }
        None => match gone() {
            Some(workload) => (workload, true),
            None => return Ok(Next::OnChange),
        },
    };
    let Some(check) = own_check(&context, &workload) else {
        context.world.handed.forget(&key);
        return Ok(Next::OnChange);
    };
    let pass = Pass {
        context: &context,
        settings,
        workload: &workload,
        check: &check,
    };
    let (adapter, job) = match owner(&workload, &settings.rules.kinds) {
        Ok(found) => found,
        Err(_) if leaving => return Ok(Next::OnChange),
        Err(why) => {
            pass.carry_out(refuse(&check, &why).acts, None).await?;
            return Ok(Next::OnChange);
        }
    };
    let next = handle(&pass, adapter, job, leaving).await?;
    if leaving {
        context.world.handed.forget(&key);
    }
    Ok(next)
}

/// The state of the check that sends a Workload elsewhere, unless it was said already that this cannot be.
fn own_check(context: &Context, workload: &Workload) -> Option<AdmissionCheckState> {
    let checks = context.world.stores.checks.list();
    let states = &workload.status.as_ref()?.admission_checks;
    let mut own = of_controller(states, &checks, MULTIKUEUE_CONTROLLER);
    let state = own.next()?;
    (state.state != CheckState::Rejected).then(|| state.clone())
}

async fn handle(
    pass: &Pass<'_>,
    adapter: &'static Adapter,
    job: &str,
    leaving: bool,
) -> Result<Next, ReconcileError> {
    let Pass {
        context, settings, ..
    } = pass;
    let order = clusters_of(context, &pass.check.name)?;
    let jobs = if leaving {
        Vec::new()
    } else {
        jobs_here(context, adapter, pass.workload.namespace(), job).await?
    };
    let (mut workers, mut remotes, mut lost) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for name in &order {
        match context.links.client(name) {
            Ok(client) => {
                let worker = Worker::new(client, settings, adapter, pass.workload, job);
                remotes.insert(name.clone(), read(name, &worker).await?);
                workers.insert(name.clone(), worker);
            }
            Err(since) => {
                lost.insert(name.clone(), since);
            }
        }
    }
    let key = Key::of(&pass.workload.metadata);
    let siblings = siblings(pass, adapter, jobs.first())?;
    let decided = plan(View {
        workload: pass.workload,
        check: pass.check,
        leaving,
        adapter,
        jobs: &jobs,
        remotes,
        lost: &lost,
        order: &order,
        round: context.world.handed.round(&key),
        siblings,
        rules: &settings.rules,
        now: (context.clock)(),
    });
    pass.carry_out(decided.acts, Some(&workers)).await?;
    match decided.trouble {
        Some(trouble) => Err(trouble.into()),
        None => Ok(decided.after.map_or(Next::OnChange, Next::After)),
    }
}

/// What the other Workloads of a job say, where it has several.
fn siblings(
    pass: &Pass<'_>,
    adapter: &Adapter,
    job: Option<&Value>,
) -> Result<Option<Siblings>, ReconcileError> {
    let wanted = job.map(|job| adapter.workloads_wanted(job)).transpose();
    let wanted = wanted.map_err(|error| ReconcileError::Check(error.to_string()))?;
    let Some(wanted) = wanted.flatten() else {
        return Ok(None);
    };
    let own = pass.workload;
    let all = pass.context.world.siblings(own);
    let others = all.iter().filter(|other| other.name() != own.name());
    let cluster = |other: &Arc<Workload>| other.status.as_ref()?.cluster_name.clone();
    let first = group_of(own).is_some_and(|group| {
        let mut groups = others.clone().filter_map(|other| group_of(other));
        groups.all(|other| other > group)
    });
    Ok(Some(Siblings {
        complete: usize::try_from(wanted).is_ok_and(|wanted| all.len() >= wanted),
        first,
        clusters: others.filter_map(cluster).collect(),
    }))
}

async fn read(name: &str, worker: &Worker) -> Result<Remote, ReconcileError> {
    let read = worker.read().await;
    read.map_err(|source| ReconcileError::Cluster {
        cluster: name.to_owned(),
        source,
    })
}

/// The clusters that a check may send Workloads to.
fn clusters_of(context: &Context, check: &str) -> Result<Vec<String>, ReconcileError> {
    let stores = &context.world.stores;
    let config = stores
        .checks
        .get(&Key::cluster(check))
        .ok_or_else(|| format!("there is no AdmissionCheck {check:?}"))
        .and_then(|check| {
            check::configuration(&check, |name| stores.configs.get(&Key::cluster(name)))
        });
    match config {
        Ok(config) => Ok(config.spec.clusters.clone()),
        Err(why) => Err(ReconcileError::Check(format!(
            "admission check {check:?}: {why}"
        ))),
    }
}

/// The job here, or all pods of its group, as they are in the API.
async fn jobs_here(
    context: &Context,
    adapter: &Adapter,
    namespace: &str,
    job: &str,
) -> Result<Vec<Value>, ReconcileError> {
    let resource = worker::resource(adapter);
    let mut names = vec![Key::new(namespace, job)];
    if adapter.is_pods() {
        names = context.world.stores.shelf.beside(
            &Key::new(namespace, job),
            context.settings.annotated_groups(),
        );
    }
    let mut found = Vec::new();
    for key in names {
        if let Some(object) = context.writer.find_job(&resource, &key).await? {
            found.push(serde_json::to_value(object).map_err(ReconcileError::Json)?);
        }
    }
    Ok(found)
}

/// Workloads that are handed over, as far as this process has to remember them.
#[derive(Debug, Default)]
pub struct Handed {
    on: bool,
    gone: parking_lot::Mutex<BTreeMap<Key, Arc<Workload>>>,
    rounds: parking_lot::Mutex<BTreeMap<Key, Timestamp>>,
}

impl Handed {
    /// Remembers, if anything is handed over at all.
    #[must_use]
    pub fn new(on: bool) -> Self {
        Self {
            on,
            ..Self::default()
        }
    }

    /// Whether anything is handed over at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether a Workload may be one of those.
    #[must_use]
    pub fn concerns(&self, workload: &Workload) -> bool {
        let status = workload.status.as_ref();
        self.on && status.is_some_and(|status| !status.admission_checks.is_empty())
    }

    /// A Workload is gone; its copies are not yet.
    pub fn lost(&self, key: &Key, workload: Arc<Workload>) {
        self.gone.lock().insert(key.clone(), workload);
    }

    fn gone(&self, key: &Key) -> Option<Arc<Workload>> {
        self.gone.lock().get(key).cloned()
    }

    fn forget(&self, key: &Key) {
        self.gone.lock().remove(key);
        self.rounds.lock().remove(key);
    }

    fn round(&self, key: &Key) -> Option<Timestamp> {
        self.rounds.lock().get(key).copied()
    }

    fn began(&self, key: Key, at: Timestamp) {
        self.rounds.lock().insert(key, at);
    }
}
