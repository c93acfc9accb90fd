//! What follows for workloads placed by topology when a node fails, and for pods that still wait for it (kueue-reference.md, section 4.14,
//! "Node failures" and 4.14.1, "Node-failure details").
//!
//! Takes what the API says about the node, its pods and workloads; gives what to write into them. Whether there is another node is the
//! scheduler's business.

mod pods;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1 as core;
use kueue_api::conditions::{self, workload as types};
use kueue_api::v1beta2 as api;
use kueue_api::workload::pods::workload_of;
use scheduler::{FlavorName, Taint, WorkloadKey};

use crate::{Cache, convert, messages, topology::decode};
use pods::{is_stranded, is_working};

/// How long a node may be not ready before its pods are given up.
const DELAY: SignedDuration = SignedDuration::from_secs(30);

/// What is known about a node when it, or a pod of it, changed.
#[derive(Clone, Copy, Debug)]
pub struct NodeNews<'a> {
    /// Its name.
    pub name: &'a str,
    /// The node, if it is still there.
    pub node: Option<&'a core::Node>,
    /// The workloads; those that have nothing to do with the node do not matter.
    pub workloads: &'a [&'a api::Workload],
    /// The pods that run on the node, and those that were told to.
    pub pods: &'a [&'a core::Pod],
}

/// What to write into a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The node is unhealthy and to be replaced.
    Replace,
    /// It is healthy again.
    Recovered,
    /// Another node of it failed before: it has to leave, with this message.
    Evict(String),
}

/// What to do about a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies {
    /// By workload.
    pub workloads: BTreeMap<WorkloadKey, Remedy>,
    /// Namespace and name of pods that can never run there and fail.
    pub pods: Vec<(String, String)>,
    /// When to look again although nothing changes.
    pub again_after: Option<SignedDuration>,
}

/// How one workload is on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// It may stay, or its pods have to end first.
    Good,
    /// It needs another node.
    Bad,
}

impl Cache {
    /// What follows from the news of a node. The workloads' pods are those whose annotation names them.
    #[must_use]
    pub fn remedies(&self, news: &NodeNews<'_>, now: Timestamp) -> Remedies {
        let gates = &self.options.features;
        let mut remedies = Remedies::default();
        let ready = news.node.and_then(ready_condition);
        let left = ready.and_then(|condition| left(condition, now));
        let expired = left.is_some_and(|left| left <= SignedDuration::ZERO);
        if left.is_some() && !expired && !gates.tas_replace_on_pod_termination {
            remedies.again_after = left;
            return remedies;
        }
        let placed = |workload: &&&api::Workload| stays(workload) && uses(workload, news.name);
        let mut concerned = news.concerned(placed);
        let node = news.node.filter(|_| ready.is_some());
        let given_up = gates.tas_replace_when_not_ready && expired;
        if node.is_none() || given_up {
            let failed = concerned.iter();
            remedies.workloads = failed
                .filter_map(|(key, workload)| fail(key, workload, news.name))
                .collect();
        }
        let Some(node) = node else {
            return remedies;
        };
        concerned.retain(|key, _| !remedies.evicts(key));
        // Pods may have been bound to the node before their workload was given another one.
        concerned.extend(news.concerned(|workload| stays(workload) && news.binds(workload)));
        for (key, workload) in &concerned {
            let (health, stranded) = self.health(news, node, workload);
            match health {
                Health::Bad => remedies.workloads.extend(fail(key, workload, news.name)),
                Health::Good if given_up => {}
                Health::Good => {
                    if unhealthy(workload).contains(&news.name) {
                        let recovered = Remedy::Recovered;
                        remedies.workloads.insert(key.clone(), recovered);
                    }
                }
            }
            if !remedies.evicts(key) {
                remedies.pods.extend(stranded);
            }
        }
        remedies
    }

    /// Whether a workload is well on a node, and which of its pods can never run there, by namespace and name.
    #[must_use]
    pub fn health(
        &self,
        news: &NodeNews<'_>,
        node: &core::Node,
        workload: &api::Workload,
    ) -> (Health, Vec<(String, String)>) {
        let gates = &self.options.features;
        let key = key(workload);
        let own = |pod: &&&core::Pod| is_of(pod, &key);
        let own: Vec<&core::Pod> = news.pods.iter().filter(own).copied().collect();
        let stranded = || {
            own.iter()
                .filter(|pod| is_stranded(pod, news.name))
                .map(|pod| pods::names(pod))
                .collect()
        };
        let works = own.iter().any(|pod| is_working(pod, news.name));
        if !uses(workload, news.name) {
            return (Health::Good, stranded());
        }
        let waits = |works: bool| if works { Health::Good } else { Health::Bad };
        if ready_condition(node).is_none_or(|condition| condition.status != "True") {
            return if gates.tas_replace_on_pod_termination {
                (waits(works), stranded())
            } else {
                (Health::Bad, Vec::new())
            };
        }
        if !gates.tas_replace_on_taints {
            return (Health::Good, Vec::new());
        }
        match self.tolerated(workload, node, news.name) {
            Tolerated::Always => (Health::Good, Vec::new()),
            Tolerated::ForSomeTime => (waits(works), stranded()),
            Tolerated::Never if gates.tas_replace_on_pod_termination => (waits(works), stranded()),
            Tolerated::Never => (Health::Bad, Vec::new()),
        }
    }

    /// How the pods of a workload on a node take its taints.
    fn tolerated(&self, workload: &api::Workload, node: &core::Node, name: &str) -> Tolerated {
        let taints = node
            .spec
            .iter()
            .flat_map(|spec| spec.taints.iter().flatten());
        let taints: Vec<Taint> = taints
            .filter_map(convert::taint)
            .filter(|taint| taint.effect.forbids())
            .collect();
        let admission = workload
            .status
            .as_ref()
            .and_then(|status| status.admission.as_ref());
        let assigned = admission
            .iter()
            .flat_map(|admission| &admission.pod_set_assignments);
        let here = assigned.filter(|assigned| places(assigned, name));
        let pod_sets: Vec<_> = here
            .map(|assigned| self.tolerations(workload, assigned))
            .collect();
        let never = |taint: &&Taint| {
            !pod_sets
                .iter()
                .all(|all| all.iter().any(|(one, _)| one.tolerates(taint)))
        };
        let not_always = |taint: &&Taint| {
            !pod_sets.iter().all(|all| {
                all.iter()
                    .any(|(one, always)| *always && one.tolerates(taint))
            })
        };
        if taints.iter().any(|taint| never(&taint)) {
            Tolerated::Never
        } else if taints.iter().any(|taint| not_always(&taint)) {
            Tolerated::ForSomeTime
        } else {
            Tolerated::Always
        }
    }

    /// What the pods of a set tolerate as they run, and whether for ever.
    fn tolerations(
        &self,
        workload: &api::Workload,
        assigned: &api::PodSetAssignment,
    ) -> Vec<(scheduler::Toleration, bool)> {
        let mut pod_sets = workload.spec.pod_sets.iter();
        let pod_set = pod_sets.find(|pod_set| pod_set.name == assigned.name);
        let spec = pod_set.and_then(|pod_set| pod_set.template.spec.as_ref());
        let own = spec
            .iter()
            .flat_map(|spec| spec.tolerations.iter().flatten());
        let checks = workload
            .status
            .iter()
            .flat_map(|status| &status.admission_checks);
        let updates = checks
            .flat_map(|check| &check.pod_set_updates)
            .filter(|update| update.name == assigned.name);
        let added = updates.flat_map(|update| &update.tolerations);
        let read = |one: &core::Toleration| {
            let read = convert::toleration(one)?;
            Some((read, one.toleration_seconds.is_none()))
        };
        let flavors = assigned
            .flavors
            .values()
            .map(|name| FlavorName::from(name.as_str()));
        let flavors = flavors.filter_map(|name| self.flavors.get(&name));
        let given =
            flavors.flat_map(|flavor| flavor.tolerations.iter().map(|one| (one.clone(), true)));
        own.chain(added).filter_map(read).chain(given).collect()
    }
}

/// How taints are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tolerated {
    Always,
    ForSomeTime,
    Never,
}

impl<'a> NodeNews<'a> {
    fn concerned(
        &self,
        which: impl Fn(&&&'a api::Workload) -> bool,
    ) -> BTreeMap<WorkloadKey, &'a api::Workload> {
        let all = self.workloads.iter().filter(which);
        all.map(|workload| (key(workload), *workload)).collect()
    }

    /// Whether pods of the workload were told to run here.
    fn binds(&self, workload: &api::Workload) -> bool {
        let key = key(workload);
        let mut pods = self.pods.iter();
        pods.any(|pod| pods::is_bound(pod, self.name) && is_of(pod, &key))
    }
}

/// Whether a pod says that it is of this workload.
fn is_of(pod: &core::Pod, key: &WorkloadKey) -> bool {
    let same = pod.metadata.namespace.as_deref() == Some(key.namespace.as_str());
    same && workload_of(pod) == Some(key.name.as_ref())
}

impl Remedies {
    fn evicts(&self, key: &WorkloadKey) -> bool {
        matches!(self.workloads.get(key), Some(Remedy::Evict(_)))
    }
}

/// How long a node that is not ready may still come back; `None` if it is ready.
fn left(ready: &core::NodeCondition, now: Timestamp) -> Option<SignedDuration> {
    let since = ready.last_transition_time.as_ref();
    let passed = since.map_or(DELAY, |since| now.duration_since(since.0));
    (ready.status != "True").then(|| DELAY - passed)
}

fn key(workload: &api::Workload) -> WorkloadKey {
    WorkloadKey::new(workload.namespace(), workload.name())
}

/// Neither finished nor leaving.
fn stays(workload: &api::Workload) -> bool {
    !workload.is_finished() && !conditions::is_true(workload.conditions(), types::EVICTED)
}

fn places(assigned: &api::PodSetAssignment, node: &str) -> bool {
    let place = assigned.topology_assignment.as_ref().and_then(decode);
    place.is_some_and(|place| place.uses_node(node))
}

fn uses(workload: &api::Workload, node: &str) -> bool {
    let admission = workload
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    let mut assigned = admission
        .iter()
        .flat_map(|admission| &admission.pod_set_assignments);
    assigned.any(|assigned| places(assigned, node))
}

fn unhealthy(workload: &api::Workload) -> Vec<&str> {
    let nodes = workload
        .status
        .iter()
        .flat_map(|status| &status.unhealthy_nodes);
    nodes.map(|node| node.name.as_str()).collect()
}

/// What to do about a workload whose node failed; nothing if that is known.
fn fail(key: &WorkloadKey, workload: &api::Workload, node: &str) -> Option<(WorkloadKey, Remedy)> {
    let mut failed = unhealthy(workload);
    if failed.contains(&node) {
        return None;
    }
    if failed.is_empty() {
        return Some((key.clone(), Remedy::Replace));
    }
    failed.push(node);
    Some((
        key.clone(),
        Remedy::Evict(messages::several_nodes_failed(&failed)),
    ))
}

fn ready_condition(node: &core::Node) -> Option<&core::NodeCondition> {
    let conditions = node.status.as_ref()?.conditions.as_ref()?;
    conditions
        .iter()
        .find(|condition| condition.type_ == "Ready")
}
