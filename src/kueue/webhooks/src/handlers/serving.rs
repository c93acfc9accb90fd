//! Deployments, `StatefulSet`s and `LeaderWorkerSet`s: their pods are held back, and what was admitted stays as it is. The rules are those of `jobs::serving`.

use jobs::admission::Surroundings;
use jobs::serving::leader_worker_set::{self, LeaderWorkerSet};
use jobs::serving::{LEADER_WORKER_SET, deployment, stateful_set};
use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::{Metadata, Resource};
use kueue_api::ObjectMeta;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::job::around;
use super::{Context, object, settle, verdict};
use crate::review::{Request, Verdict};

/// Defaults of a Deployment.
pub(crate) fn default_deployment(request: &Request, context: &Context) -> Verdict {
    if !context.integrations.on(jobs::serving::DEPLOYMENT.framework) {
        return Verdict::Allow;
    }
    settle(changed(request, context, deployment::default))
}

/// What is wrong with a Deployment.
pub(crate) fn check_deployment(request: &Request, context: &Context) -> Verdict {
    settle(deployment_checked(request, context))
}

fn deployment_checked(request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    if !context.integrations.on(jobs::serving::DEPLOYMENT.framework) {
        return Ok(Verdict::Allow);
    }
    let new: Deployment = object(&request.object)?;
    let errors = if request.updates() {
        let old: Deployment = object(&request.old_object)?;
        deployment::validate_update(&old, &new, &context.features)
    } else {
        deployment::validate_create(&new, &context.features)
    };
    Ok(verdict(&errors))
}

/// Defaults of a `StatefulSet`.
pub(crate) fn default_stateful_set(request: &Request, context: &Context) -> Verdict {
    if !context
        .integrations
        .on(jobs::serving::STATEFUL_SET.framework)
    {
        return Verdict::Allow;
    }
    settle(changed(request, context, stateful_set::default))
}

/// What is wrong with a `StatefulSet`.
pub(crate) fn check_stateful_set(request: &Request, context: &Context) -> Verdict {
    settle(stateful_set_checked(request, context))
}

fn stateful_set_checked(request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    if !context
        .integrations
        .on(jobs::serving::STATEFUL_SET.framework)
    {
        return Ok(Verdict::Allow);
    }
    let new: StatefulSet = object(&request.object)?;
    if !request.updates() {
        let errors = stateful_set::validate_create(&new, &context.features);
        return Ok(verdict(&errors));
    }
    let old: StatefulSet = object(&request.old_object)?;
    let around = around(request, &new.metadata, context)?;
    let longest = jobs::naming::longest(&context.features);
    let names = stateful_set::workload_names(&old, longest);
    let workload = names
        .iter()
        .find_map(|name| context.cluster.workload(&request.namespace, name));
    let (workload, features) = (workload.as_deref(), &context.features);
    let errors = stateful_set::validate_update(&old, &new, around, workload, features);
    Ok(verdict(&errors))
}

/// Defaults of a `LeaderWorkerSet`.
pub(crate) fn default_leader_worker_set(request: &Request, context: &Context) -> Verdict {
    if !context.integrations.on(LEADER_WORKER_SET.framework) {
        return Verdict::Allow;
    }
    settle(changed(request, context, |set, around| {
        leader_worker_set::default(set, around, &context.features);
    }))
}

/// What is wrong with a `LeaderWorkerSet`.
pub(crate) fn check_leader_worker_set(request: &Request, context: &Context) -> Verdict {
    settle(leader_worker_set_checked(request, context))
}

fn leader_worker_set_checked(request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    if !context.integrations.on(LEADER_WORKER_SET.framework) {
        return Ok(Verdict::Allow);
    }
    let features = &context.features;
    let new: LeaderWorkerSet = object(&request.object)?;
    let errors = if request.updates() {
        let old: LeaderWorkerSet = object(&request.old_object)?;
        let around = around(request, &new.metadata, context)?;
        leader_worker_set::validate_update(&old, &new, around, features)
    } else {
        leader_worker_set::validate_create(&new, features)
    };
    Ok(verdict(&errors))
}

/// Applies a rule; the patch holds only what the rule changed: fields that our types do not know stay as they were sent.
fn changed<K>(
    request: &Request,
    context: &Context,
    rule: impl FnOnce(&mut K, Surroundings),
) -> Result<Verdict, Verdict>
where
    K: Resource + Metadata<Ty = ObjectMeta> + DeserializeOwned + Serialize,
{
    let mut new: K = object(&request.object)?;
    let written = |object: &K| {
        serde_json::to_value(object).map_err(|error| Verdict::Malformed(error.to_string()))
    };
    let before = written(&new)?;
    let around = around(request, new.metadata(), context)?;
    rule(&mut new, around);
    let patch = json_patch::diff(&before, &written(&new)?);
    Ok(if patch.is_empty() {
        Verdict::Allow
    } else {
        Verdict::Change(patch)
    })
}
