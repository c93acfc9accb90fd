//! Reconciler of `LeaderWorkerSet`s: reads the stores, asks [`decide`] what is to be written, and writes it.

pub mod decide;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jobs::ancestors;
use jobs::serving::leader_worker_set::{LeaderWorkerSet, set_of, workload_name};
use jobs::serving::{LEADER_WORKER_SET, STATEFUL_SET};
use jobs::{JobKind, Priority};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::labels;
use kueue_api::v1beta2::Workload;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::{Normal, Warning};
use crate::job::{named_priority, resource_of};
use crate::key::Key;
use crate::work_queue::Next;

use decide::{Act, View};

const REPORTER: &str = "kueue-leaderworkerset-controller";

/// How soon what a watch has yet to tell is looked for again.
const BEHIND: Duration = Duration::from_secs(1);

/// Brings one `LeaderWorkerSet`, its Workloads and its pods forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let stores = &context.world.stores;
    let set = stores.leader_worker_sets.get(&key);
    if set
        .as_deref()
        .is_some_and(|set| !context.leads(&set.metadata))
    {
        return Ok(Next::OnChange);
    }
    let (makers, pods) = (makers(&context, &key), pods(&context, &key));
    if is_behind(&context, &key, set.as_deref(), &makers, &pods).await? {
        return Ok(Next::After(BEHIND));
    }
    let names = set.as_deref().map(|set| names(&context, set));
    let _right = context.world.locks.hold(names.into_iter().flatten()).await;
    let workloads = set.as_deref().map(|set| workloads(&context, set));
    let workloads = workloads.unwrap_or_default();
    let acts = {
        let priority = set.as_deref().and_then(|set| priority(&context, set));
        decide::pass(&View {
            set: set.as_deref(),
            workloads: &workloads,
            makers: &makers,
            pods: &pods,
            priority: priority.as_ref(),
            rules: &context.settings.jobs,
        })?
    };
    for act in acts {
        carry_out(&context, set.as_deref(), act).await?;
    }
    Ok(Next::OnChange)
}

fn makers(context: &Context, set: &Key) -> Vec<Arc<StatefulSet>> {
    let all = context.world.stores.stateful_sets.list_in(&set.namespace);
    let of_set = |one: &Arc<StatefulSet>| set_of(&one.metadata) == Some(&set.name);
    all.into_iter().filter(of_set).collect()
}

/// The pods of the set that are held back for it, or were.
fn pods(context: &Context, set: &Key) -> Vec<Arc<Pod>> {
    let all = context.world.stores.shelf.list_in(&set.namespace);
    let of_set = |pod: &Arc<Pod>| {
        set_of(&pod.metadata) == Some(&set.name)
            && jobs::pods::parent_framework(pod) == Some(LEADER_WORKER_SET.framework)
    };
    all.into_iter().filter(of_set).collect()
}

/// The Workloads that it may write: those that it has, and those that it wants.
fn names(context: &Context, set: &LeaderWorkerSet) -> Vec<Key> {
    let longest = context.settings.jobs.workloads.longest_name;
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let wanted = (0..set.groups()).map(|group| workload_name(set, &group.to_string(), longest));
    let had = workloads(context, set).into_iter();
    had.map(|workload| Key::of(&workload.metadata))
        .chain(wanted.map(|name| Key::new(namespace, &name)))
        .collect()
}

fn workloads(context: &Context, set: &LeaderWorkerSet) -> Vec<Arc<Workload>> {
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let owned = |workload: &Arc<Workload>| {
        let mut owners = workload.metadata.owner_references.iter().flatten();
        owners.any(|owner| Some(&owner.uid) == set.metadata.uid.as_ref())
    };
    let all = context.world.stores.workloads.list_in(namespace);
    all.into_iter().filter(owned).collect()
}

/// Whether a pod that waits would be let run only because our watches have not told yet of the set, or of the `StatefulSet` that made it.
async fn is_behind(
    context: &Context,
    key: &Key,
    set: Option<&LeaderWorkerSet>,
    makers: &[Arc<StatefulSet>],
    pods: &[Arc<Pod>],
) -> Result<bool, ReconcileError> {
    let waiting = pods.iter().filter(|pod| jobs::pods::is_gated(pod));
    let waiting: Vec<_> = waiting.collect();
    if set.is_none() {
        return Ok(!waiting.is_empty() && is_there(context, &LEADER_WORKER_SET, key).await?);
    }
    let unseen = |name: &&str| {
        let mut makers = makers.iter();
        !makers.any(|one| one.metadata.name.as_deref() == Some(*name))
    };
    let owners = waiting
        .iter()
        .filter_map(|pod| ancestors::controller(&pod.metadata));
    let owners = owners.filter(|owner| STATEFUL_SET.owns(owner));
    let names: BTreeSet<&str> = owners
        .map(|owner| owner.name.as_str())
        .filter(unseen)
        .collect();
    for name in names {
        let key = Key::new(&key.namespace, name);
        if is_there(context, &STATEFUL_SET, &key).await? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Asks the API server.
async fn is_there(context: &Context, kind: &JobKind, key: &Key) -> Result<bool, ReconcileError> {
    let found = context.writer.find_job(&resource_of(kind), key).await?;
    Ok(found.is_some())
}

fn priority(context: &Context, set: &LeaderWorkerSet) -> Option<Priority> {
    let templates = &set.spec.leader_worker_template;
    let templates = templates
        .leader_template
        .iter()
        .chain([&templates.worker_template]);
    let class_of = |template: &k8s_openapi::api::core::v1::PodTemplateSpec| {
        let name = template.spec.as_ref()?.priority_class_name.clone();
        name.filter(|name| !name.is_empty())
    };
    let pods = templates.clone().find_map(class_of);
    let labels = set.metadata.labels.as_ref();
    let own = labels.and_then(|labels| labels.get(labels::PRIORITY_CLASS));
    let own = own.map(String::as_str).filter(|name| !name.is_empty());
    named_priority(own, pods.as_deref(), &context.world.stores)
}

async fn carry_out(
    context: &Arc<Context>,
    set: Option<&LeaderWorkerSet>,
    act: Act,
) -> Result<(), ReconcileError> {
    let (writer, world) = (&context.writer, &context.world);
    match act {
        Act::Tell {
            warning,
            reason,
            note,
        } => {
            let Some(set) = set else { return Ok(()) };
            let kind = if warning { Warning } else { Normal };
            let version = LEADER_WORKER_SET.api_version();
            let about = crate::context::regarding(version, LEADER_WORKER_SET.kind, &set.metadata);
            context.send(about, REPORTER, kind, reason, note);
        }
        Act::Create(workload) => world.saw_workload(writer.create(&workload).await?),
        Act::Change(workload, patch) => {
            world.saw_workload(writer.workload(&workload, patch).await?);
        }
        Act::Delete(workload) => context.delete_workload(&workload).await?,
        Act::Pod(pod, patch) => {
            let written = writer.namespaced(pod.as_ref(), patch, "change pod").await;
            context.wrote_pod(written)?;
        }
    }
    Ok(())
}
