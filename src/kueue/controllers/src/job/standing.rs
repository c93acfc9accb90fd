//! Whether a job is ours: its namespace, its queue, and the jobs it belongs to. Reads the stores, and asks the API server for parents
//! that are not watched. Reference section 5.1, "Management decision".

use jobs::GenericJob;
use jobs::ancestors::{Ancestor, Astray, Known, Walk};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::workload::slices;

use super::decide::{Parent, Standing};
use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;

/// See the module.
pub(super) async fn of(
    context: &Context,
    job: &dyn GenericJob,
) -> Result<Standing, ReconcileError> {
    if !context.is_managed_namespace(job.namespace()) {
        return Ok(Standing::Foreign);
    }
    let unnamed = context.settings.manage_jobs_without_queue_name;
    Ok(match top(context, job, unnamed).await {
        Ok(Some(ancestor)) => {
            let parent = parent(context, job.namespace(), &ancestor);
            let elastic = context.settings.jobs.workloads.elastic
                && (slices::is_marked(job.meta()) || slices::is_marked(&ancestor.meta));
            Standing::Child(parent.seen_by_child(elastic))
        }
        Ok(None) if unnamed || job.queue_name().is_some() => Standing::Top,
        Ok(None) => Standing::Foreign,
        Err(ReconcileError::Astray(Astray::TooDeep)) => Standing::TooDeep,
        Err(error) => return Err(error),
    })
}

async fn top(
    context: &Context,
    job: &dyn GenericJob,
    unnamed: bool,
) -> Result<Option<Ancestor>, ReconcileError> {
    let known = |owner: &OwnerReference| context.settings.integrations.known(owner);
    let mut walk = Walk::from(job.meta(), unnamed);
    while let Some(owner) = walk.next(known)? {
        let found = look_up(context, job.namespace(), &owner).await?;
        // Of an owner that nobody manages it does not matter what is above it, if nobody may look.
        if found.is_none() && known(&owner) == Known::Passed {
            break;
        }
        if !walk.found(&owner, known(&owner), found)? {
            break;
        }
    }
    Ok(walk.top())
}

async fn look_up(
    context: &Context,
    namespace: &str,
    owner: &OwnerReference,
) -> Result<Option<ObjectMeta>, ReconcileError> {
    let key = Key::new(namespace, &owner.name);
    let watched = context.world.stores.jobs_of(owner);
    if let Some(job) = watched.and_then(|(_, jobs)| jobs.objects.get(&key)) {
        return Ok(Some(job.0.meta().clone()));
    }
    Ok(context.writer.find_owner(owner, &key).await?)
}

/// What became of the newest Workload of an ancestor.
fn parent(context: &Context, namespace: &str, ancestor: &Ancestor) -> Parent {
    let stores = &context.world.stores;
    let key = Key::new(namespace, &ancestor.owner.name);
    let Some((_, jobs)) = stores.jobs_of(&ancestor.owner) else {
        let owned = stores.workloads.list();
        let of_it = owned.iter().filter(|w| {
            let owners = w.metadata.owner_references.iter().flatten();
            w.namespace() == namespace && owners.into_iter().any(|o| o.uid == ancestor.owner.uid)
        });
        return newest(of_it.map(AsRef::as_ref));
    };
    let owned = stores.workloads_of(jobs.kind, &key);
    newest(owned.iter().map(AsRef::as_ref))
}

fn newest<'a>(workloads: impl Iterator<Item = &'a kueue_api::v1beta2::Workload>) -> Parent {
    let open = workloads.filter(|workload| !workload.is_finished());
    let last = open.max_by_key(|workload| workload.metadata.creation_timestamp.clone());
    match last {
        None => Parent::Missing,
        Some(workload) if workload.is_admitted() => Parent::Admitted,
        Some(workload) if workload.is_evicted() => Parent::Leaving,
        Some(_) => Parent::Waiting,
    }
}
