//! Jobs of every kind: held back and given their queue on creation, checked on creation and change. The rules are those of `jobs`.

use std::collections::BTreeMap;

use jobs::JobKind;
use jobs::admission::{
    Surroundings, default, default_managed_by, validate_create, validate_update,
};
use jobs::ancestors::{self, Astray, Known, Walk};
use jobs::job::GenericJob;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::config::NAMESPACE_NAME_LABEL;
use kueue_api::features::gate;
use kueue_api::names::labels;
use kueue_api::validation::matches_selector;
use serde_json::Value;

use super::{Context, settle, verdict};
use crate::review::{Request, Verdict};

/// Defaults of a job.
pub(crate) fn default_job(kind: &JobKind, request: &Request, context: &Context) -> Verdict {
    settle(defaulted(kind, request, context))
}

/// What is wrong with a job.
pub(crate) fn check_job(kind: &JobKind, request: &Request, context: &Context) -> Verdict {
    settle(checked(kind, request, context))
}

fn defaulted(kind: &JobKind, request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    let mut job = read(kind, &request.object)?;
    if !request.creates() {
        return Ok(Verdict::Allow);
    }
    let before = written(job.as_ref())?;
    let around = around(request, job.meta(), context)?;
    default(job.as_mut(), around);
    default_managed_by(job.as_mut(), &context.features, |queue| {
        context.cluster.leads_elsewhere(&request.namespace, queue)
    });
    job.default_own(&context.features);
    // Only what the rule changed: fields that our types do not know stay as they were sent.
    let patch = json_patch::diff(&before, &written(job.as_ref())?);
    Ok(if patch.is_empty() {
        Verdict::Allow
    } else {
        Verdict::Change(patch)
    })
}

fn checked(kind: &JobKind, request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    let mut job = read(kind, &request.object)?;
    let runtime = job
        .runtime_ref()
        .and_then(|of| context.cluster.runtime(&of));
    if let Some(runtime) = runtime {
        job.set_runtime(runtime);
    }
    let around = around(request, job.meta(), context).unwrap_or_default();
    let errors = if request.updates() {
        let old = read(kind, &request.old_object)?;
        validate_update(old.as_ref(), job.as_ref(), around, &context.features)
    } else {
        validate_create(job.as_ref(), around, &context.features)
    };
    Ok(verdict(&errors))
}

fn read(kind: &JobKind, object: &Value) -> Result<Box<dyn GenericJob>, Verdict> {
    (kind.read)(object.clone()).map_err(|error| Verdict::Malformed(error.to_string()))
}

fn written(job: &dyn GenericJob) -> Result<Value, Verdict> {
    job.to_value()
        .map_err(|error| Verdict::Malformed(error.to_string()))
}

/// What the rules must know about the cluster.
pub(super) fn around(
    request: &Request,
    meta: &ObjectMeta,
    context: &Context,
) -> Result<Surroundings, Verdict> {
    // A job may come right after its namespace, before our watch has seen that. Every namespace carries its name as a label, which
    // is what the usual selectors look at; taking it for unmanaged would let the job start unseen.
    let named = || BTreeMap::from([(NAMESPACE_NAME_LABEL.to_owned(), request.namespace.clone())]);
    let labels = context
        .cluster
        .namespace_labels(&request.namespace)
        .unwrap_or_else(named);
    let owner = ancestors::controller(meta);
    let owner_managed =
        owner.is_some_and(|owner| context.integrations.known(owner) == Known::Managed);
    let defaulting = context
        .features
        .on(gate::WORKLOAD_PRIORITY_CLASS_DEFAULTING);
    let mut around = Surroundings {
        namespace_managed: matches_selector(&context.managed_jobs_namespace_selector, &labels),
        has_default_queue: context.cluster.has_default_local_queue(&request.namespace),
        has_default_priority_class: defaulting && context.cluster.has_default_priority_class(),
        owner_managed,
        ancestor_managed: false,
        manage_without_queue_name: context.manage_jobs_without_queue_name,
    };
    let named = meta.labels.as_ref();
    let queued = named.is_some_and(|labels| labels.contains_key(labels::QUEUE_NAME));
    // Whom nobody would manage need not be asked for its parents: they may be slower to see than it.
    if around.namespace_managed
        && (queued || around.has_default_queue || around.manage_without_queue_name)
    {
        around.ancestor_managed = has_managed_ancestor(request, meta, context)?;
    }
    Ok(around)
}

/// Whether one of the object's ancestors is managed.
fn has_managed_ancestor(
    request: &Request,
    meta: &ObjectMeta,
    context: &Context,
) -> Result<bool, Verdict> {
    let known = |owner: &OwnerReference| context.integrations.known(owner);
    let refused = |error: Astray| Verdict::Deny(error.to_string());
    let mut walk = Walk::from(meta, context.manage_jobs_without_queue_name);
    while let Some(owner) = walk.next(known).map_err(refused)? {
        let found = context.cluster.owner(&request.namespace, &owner);
        // Of a kind that is not managed no objects are watched; what is above it does not matter then.
        if found.is_none() && known(&owner) == Known::Passed {
            break;
        }
        if !walk.found(&owner, known(&owner), found).map_err(refused)? {
            break;
        }
    }
    Ok(walk.top().is_some())
}
