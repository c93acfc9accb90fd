//! What is reconciled: a single pod, or a group. In work queues a group is the key `group/NAMESPACE` / NAME, as in the reference.

use k8s_openapi::api::core::v1::Pod;
use kueue_api::v1beta2::Workload;

use crate::key::Key;

const GROUP: &str = "group/";

/// The key of a group.
#[must_use]
pub fn of_group(namespace: &str, name: &str) -> Key {
    Key::new(&format!("{GROUP}{namespace}"), name)
}

/// The key under which a pod is looked at.
#[must_use]
pub fn of_pod(pod: &Pod, annotated: bool) -> Key {
    let own = Key::of(&pod.metadata);
    match jobs::pods::group_name(pod, annotated) {
        Some(group) => of_group(&own.namespace, group),
        None => own,
    }
}

/// The namespace of a key, if it is that of a group.
#[must_use]
pub fn group_namespace(key: &Key) -> Option<&str> {
    key.namespace.strip_prefix(GROUP)
}

/// The pods to look at after a Workload changed or went.
#[must_use]
pub fn of_workload(workload: &Workload, gone: bool, checks_owner: bool) -> Vec<Key> {
    let owners = workload.metadata.owner_references.as_deref();
    let owners = owners.unwrap_or_default();
    let mut keys = Vec::new();
    let ours = jobs::pods::is_of_group(workload);
    // Whatever had the name of the group stands in its way no more.
    if gone && checks_owner && !ours {
        keys.push(of_group(workload.namespace(), workload.name()));
    }
    if owners.is_empty() {
        return keys;
    }
    if ours {
        keys.push(of_group(workload.namespace(), workload.name()));
    } else if let Some(owner) = single_owner(workload) {
        keys.push(Key::new(workload.namespace(), owner));
    }
    keys
}

/// Name of the single pod that a Workload was made for.
#[must_use]
pub fn single_owner(workload: &Workload) -> Option<&str> {
    let mut owners = workload.metadata.owner_references.iter().flatten();
    let owner = owners.find(|owner| owner.controller == Some(true))?;
    jobs::pods::POD.owns(owner).then_some(owner.name.as_str())
}
