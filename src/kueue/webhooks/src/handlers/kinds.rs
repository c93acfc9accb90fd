//! The Kueue kinds: finalizers and defaults on creation, rules on creation and change.

use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, jsonptr::PointerBuf};
use kueue_api::field::FieldError;
use kueue_api::names::RESOURCE_IN_USE_FINALIZER;
use kueue_api::v1beta2::{ClusterQueue, Cohort, ResourceFlavor, Workload};
use kueue_api::validation;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Context, Named, object, settle, verdict};
use crate::review::{Request, Verdict};

pub(crate) fn keep_cluster_queue(request: &Request, _: &Context) -> Verdict {
    settle(object::<ClusterQueue>(&request.object).map(|_| keep(request)))
}

pub(crate) fn keep_resource_flavor(request: &Request, _: &Context) -> Verdict {
    settle(object::<ResourceFlavor>(&request.object).map(|_| keep(request)))
}

/// Patches are made on the object as it was sent: a typed round trip would drop fields that newer clients know.
fn keep(request: &Request) -> Verdict {
    if !request.creates() {
        return Verdict::Allow;
    }
    let finalizers = request.object["metadata"]["finalizers"].as_array();
    let there = finalizers
        .into_iter()
        .flatten()
        .any(|name| name == RESOURCE_IN_USE_FINALIZER);
    match finalizers {
        _ if there => Verdict::Allow,
        Some(_) => Verdict::Change(Patch(vec![add(
            &["metadata", "finalizers", "-"],
            json!(RESOURCE_IN_USE_FINALIZER),
        )])),
        None => Verdict::Change(Patch(vec![add(
            &["metadata", "finalizers"],
            json!([RESOURCE_IN_USE_FINALIZER]),
        )])),
    }
}

fn add(path: &[&str], value: Value) -> PatchOperation {
    PatchOperation::Add(AddOperation {
        path: PointerBuf::from_tokens(path.iter().copied()),
        value,
    })
}

pub(crate) fn default_workload(request: &Request, context: &Context) -> Verdict {
    settle(object::<Workload>(&request.object).map(|mut workload| {
        let before: Vec<_> = workload
            .spec
            .pod_sets
            .iter()
            .map(|set| set.min_count.is_some())
            .collect();
        if !request.creates() || !validation::default_workload(&mut workload, &context.features) {
            return Verdict::Allow;
        }
        let with = before.iter().enumerate().filter(|(_, had)| **had);
        let remove = |i: usize| {
            let path =
                PointerBuf::from_tokens(["spec", "podSets", i.to_string().as_str(), "minCount"]);
            PatchOperation::Remove(RemoveOperation { path })
        };
        Verdict::Change(Patch(with.map(|(i, _)| remove(i)).collect()))
    }))
}

/// Rules of a kind: for an object alone, and for a change.
fn check<T: DeserializeOwned + Named>(
    request: &Request,
    create: impl FnOnce(&T) -> Vec<FieldError>,
    update: impl FnOnce(&T, &T) -> Vec<FieldError>,
) -> Verdict {
    settle(object::<T>(&request.object).and_then(|new| {
        if request.updates() {
            let old = object::<T>(&request.old_object)?;
            return Ok(verdict(&update(&old, &new)));
        }
        Ok(verdict(&create(&new)))
    }))
}

pub(crate) fn check_cluster_queue(request: &Request, context: &Context) -> Verdict {
    check::<ClusterQueue>(
        request,
        |new| validation::cluster_queue(new, &context.features),
        |old, new| validation::cluster_queue_update(old, new, &context.features),
    )
}

pub(crate) fn check_cohort(request: &Request, _: &Context) -> Verdict {
    check::<Cohort>(request, validation::cohort, |_, new| {
        validation::cohort(new)
    })
}

pub(crate) fn check_resource_flavor(request: &Request, _: &Context) -> Verdict {
    check::<ResourceFlavor>(request, validation::resource_flavor, |_, new| {
        validation::resource_flavor(new)
    })
}

pub(crate) fn check_workload(request: &Request, context: &Context) -> Verdict {
    check::<Workload>(
        request,
        |new| validation::workload(new, &context.features),
        |old, new| validation::workload_update(old, new, &context.features),
    )
}
