//! Reconciler of `StatefulSet`s: reads the stores, asks [`decide`] what is to be written, and writes it.

pub mod decide;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use jobs::Priority;
use jobs::serving::STATEFUL_SET;
use jobs::serving::stateful_set::{is_foreign, workload_names};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;

use crate::context::Context;
use crate::error::ReconcileError;
use crate::events::Kind::{Normal, Warning};
use crate::job::named_priority;
use crate::key::Key;
use crate::work_queue::Next;

use decide::{Act, View};

const REPORTER: &str = "kueue-statefulset-controller";

/// Brings one `StatefulSet`, its Workload and its pods forward.
pub async fn reconcile(context: Arc<Context>, key: Key) -> Result<Next, ReconcileError> {
    let Some(set) = context.world.stores.stateful_sets.get(&key) else {
        return Ok(Next::OnChange);
    };
    if !is_ours(&context, &set) {
        return Ok(Next::OnChange);
    }
    let longest = context.settings.jobs.workloads.longest_name;
    let names = workload_names(&set, longest).map(|name| Key::new(&key.namespace, &name));
    let _right = context.world.locks.hold(names.iter().cloned()).await;
    let workloads = &context.world.stores.workloads;
    let workload = names.iter().find_map(|name| workloads.get(name));
    let acts = {
        let pods = pods(&context, &set, workload.as_deref());
        let priority = priority(&context, &set);
        let view = View {
            set: &set,
            workload: workload.as_ref(),
            pods: &pods,
            priority: priority.as_ref(),
            unnamed: context.settings.manage_jobs_without_queue_name,
            rules: &context.settings.jobs,
            now: (context.clock)(),
        };
        decide::pass(&view)?
    };
    for act in acts {
        carry_out(&context, &set, act).await?;
    }
    Ok(Next::OnChange)
}

/// They may be watched only because of what makes them.
fn is_ours(context: &Context, set: &StatefulSet) -> bool {
    context.settings.integrations.on(STATEFUL_SET.framework)
        && !is_foreign(set)
        && context.leads(&set.metadata)
}

/// The pods that it controls, and those that name its Workload as their group.
fn pods(context: &Context, set: &StatefulSet, workload: Option<&Workload>) -> Vec<Arc<Pod>> {
    let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
    let annotated = context.settings.jobs.annotated_names;
    let all = context.world.stores.shelf.list_in(namespace);
    let its = |pod: &Arc<Pod>| {
        let owner = jobs::ancestors::controller(&pod.metadata);
        let owned = owner.is_some_and(|owner| Some(&owner.uid) == set.metadata.uid.as_ref());
        let group = jobs::pods::group_name(pod, annotated);
        owned || group.is_some() && group == workload.map(Workload::name)
    };
    all.into_iter().filter(its).collect()
}

fn priority(context: &Context, set: &StatefulSet) -> Option<Priority> {
    let labels = set.metadata.labels.as_ref();
    let class = labels.and_then(|labels| labels.get(kueue_api::names::labels::PRIORITY_CLASS));
    let class = class.map(String::as_str).filter(|name| !name.is_empty());
    let spec = set.spec.template.spec.as_ref();
    let pods = spec.and_then(|spec| spec.priority_class_name.as_deref());
    let pods = pods.filter(|name| !name.is_empty());
    named_priority(class, pods, &context.world.stores)
}

async fn carry_out(
    context: &Arc<Context>,
    set: &StatefulSet,
    act: Act,
) -> Result<(), ReconcileError> {
    let (writer, world) = (&context.writer, &context.world);
    match act {
        Act::Tell {
            warning,
            reason,
            note,
        } => {
            let kind = if warning { Warning } else { Normal };
            let version = STATEFUL_SET.api_version();
            let of = (version.as_str(), STATEFUL_SET.kind);
            let about = crate::context::regarding(of.0.to_owned(), of.1, &set.metadata);
            context.send(about, REPORTER, kind, reason, note);
        }
        Act::Create(workload) => world.saw_workload(writer.create(&workload).await?),
        Act::Change(workload, patch) => {
            world.saw_workload(writer.workload(&workload, patch).await?);
        }
        Act::Status(workload, status) => {
            // What came before in the same pass may have changed it.
            let key = Key::of(&workload.metadata);
            let now = world.stores.workloads.get(&key).unwrap_or(workload);
            world.saw_workload(writer.status(&now, &status).await?);
        }
        Act::Pod(pod, patch) => {
            let written = writer.namespaced(pod.as_ref(), patch, "change pod").await;
            context.wrote_pod(written)?;
        }
    }
    Ok(())
}
