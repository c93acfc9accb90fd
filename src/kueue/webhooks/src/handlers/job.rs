//! Jobs of every kind: held back and given their queue on creation, checked on creation and change. The rules are those of `jobs`.

use std::collections::BTreeMap;

use jobs::JobKind;
use jobs::admission::{Surroundings, default, validate_create, validate_update};
use jobs::job::GenericJob;
use jobs::kind::of_owner;
use kueue_api::config::NAMESPACE_NAME_LABEL;
use kueue_api::features::gate;
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
    let around = around(request, job.as_ref(), context);
    default(job.as_mut(), around);
    // Only what the rule changed: fields that our types do not know stay as they were sent.
    let patch = json_patch::diff(&before, &written(job.as_ref())?);
    Ok(if patch.is_empty() {
        Verdict::Allow
    } else {
        Verdict::Change(patch)
    })
}

fn checked(kind: &JobKind, request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    let job = read(kind, &request.object)?;
    let errors = if request.updates() {
        let old = read(kind, &request.old_object)?;
        validate_update(
            old.as_ref(),
            job.as_ref(),
            around(request, job.as_ref(), context),
            &context.features,
        )
    } else {
        validate_create(job.as_ref(), &context.features)
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

fn around(request: &Request, job: &dyn GenericJob, context: &Context) -> Surroundings {
    // A job may come right after its namespace, before our watch has seen that. Every namespace carries its name as a label, which
    // is what the usual selectors look at; taking it for unmanaged would let the job start unseen.
    let named = || BTreeMap::from([(NAMESPACE_NAME_LABEL.to_owned(), request.namespace.clone())]);
    let labels = context
        .cluster
        .namespace_labels(&request.namespace)
        .unwrap_or_else(named);
    let owners = job.meta().owner_references.as_deref().unwrap_or_default();
    let defaulting = context
        .features
        .on(gate::WORKLOAD_PRIORITY_CLASS_DEFAULTING);
    Surroundings {
        namespace_managed: matches_selector(&context.managed_jobs_namespace_selector, &labels),
        has_default_queue: context.cluster.has_default_local_queue(&request.namespace),
        has_default_priority_class: defaulting && context.cluster.has_default_priority_class(),
        owner_managed: owners
            .iter()
            .any(|owner| owner.controller == Some(true) && of_owner(owner).is_some()),
        manage_without_queue_name: context.manage_jobs_without_queue_name,
    }
}
