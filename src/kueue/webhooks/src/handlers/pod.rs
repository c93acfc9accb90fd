//! Pods: those to be managed are held back on creation, groups are checked then and on changes. The rules are those of `jobs::pods`. Where pods
//! are not looked after, everything passes.

use std::sync::Arc;

use jiff::Timestamp;
use jobs::admission::{validate_create, validate_update};
use jobs::pods::{POD, Pods, admission, parent_framework};
use k8s_openapi::api::core::v1::Pod;
use kueue_api::names::labels;
use serde_json::Value;

use super::job::around;
use super::{Context, object, settle, verdict};
use crate::review::{Request, Verdict};

/// Defaults of a pod.
pub(crate) fn default_pod(request: &Request, context: &Context) -> Verdict {
    if context.integrations.on(POD.framework) && request.creates() {
        settle(defaulted(request, context))
    } else {
        Verdict::Allow
    }
}

/// What is wrong with a pod.
pub(crate) fn check_pod(request: &Request, context: &Context) -> Verdict {
    if context.integrations.on(POD.framework) {
        settle(checked(request, context))
    } else {
        Verdict::Allow
    }
}

fn read(value: &Value, request: &Request) -> Result<Pod, Verdict> {
    let mut pod: Pod = object(value)?;
    // The API server leaves it out until the pod is stored.
    let namespace = &mut pod.metadata.namespace;
    namespace.get_or_insert_with(|| request.namespace.clone());
    Ok(pod)
}

fn job(pod: Pod, context: &Context) -> Pods {
    // Nothing that is asked here depends on the time.
    Pods::single(
        Arc::new(pod),
        (&context.features).into(),
        Timestamp::default(),
    )
}

fn defaulted(request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    let mut pod = read(&request.object, request)?;
    let written = |pod: &Pod| {
        serde_json::to_value(pod).map_err(|error| Verdict::Malformed(error.to_string()))
    };
    let before = written(&pod)?;
    let around = if parent_framework(&pod).is_some() {
        jobs::admission::Surroundings::default()
    } else {
        around(request, &pod.metadata, context)?
    };
    if !admission::default(&mut pod, around, &(&context.features).into()) {
        return Ok(Verdict::Allow);
    }
    // Only what the rule changed: fields that our types do not know stay as they were sent.
    let patch = json_patch::diff(&before, &written(&pod)?);
    Ok(if patch.is_empty() {
        Verdict::Allow
    } else {
        Verdict::Change(patch)
    })
}

fn checked(request: &Request, context: &Context) -> Result<Verdict, Verdict> {
    let pod = read(&request.object, request)?;
    let warning = warned(&pod, request, context);
    let (meta, new) = (pod.metadata.clone(), job(pod, context));
    let around = around(request, &meta, context).unwrap_or_default();
    let errors = if request.updates() {
        let old = job(read(&request.old_object, request)?, context);
        validate_update(&old, &new, around, &context.features)
    } else {
        validate_create(&new, around, &context.features)
    };
    Ok(match (verdict(&errors), warning) {
        (Verdict::Allow, Some(text)) => Verdict::Warn(text),
        (other, _) => other,
    })
}

/// What its owner should know: two would look after the pod.
fn warned(pod: &Pod, request: &Request, context: &Context) -> Option<String> {
    let by_parent = request.updates() && parent_framework(pod).is_some();
    let labelled = pod.metadata.labels.as_ref()?.contains_key(labels::MANAGED);
    let owners = pod.metadata.owner_references.iter().flatten();
    let managed = owners
        .filter(|owner| owner.controller == Some(true))
        .any(|owner| context.integrations.known(owner) == jobs::ancestors::Known::Managed);
    (labelled && !by_parent)
        .then(|| admission::warning(pod, managed))
        .flatten()
}
