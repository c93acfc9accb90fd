//! Statuses of ClusterQueues and LocalQueues as they should be, and why a workload stands in no queue.

use std::collections::BTreeSet;

use jiff::Timestamp;
use kueue_api::Condition;
use kueue_api::conditions::{self, queue, reasons};
use kueue_api::v1beta2::{
    self as api, FlavorUsage, LocalQueueFlavorUsage, LocalQueueResourceUsage, ResourceUsage,
};
use quantity::{Amount, ResourceName};
use scheduler::{
    ClusterQueue, ClusterQueueName, CohortName, FlavorName, FlavorResource, Holder, LocalQueueKey,
    NodeId, Refusal, Share, Usage, WorkloadKey,
};

use crate::cache::{LocalQueueState, Observed};
use crate::holdings::Holdings;
use crate::workloads::WorkloadState;
use crate::{Cache, messages};

/// Why a workload that nobody has tried yet is pending: reason and message of QuotaReserved=False.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingReason {
    /// The reason.
    pub reason: &'static str,
    /// The message.
    pub message: String,
}

/// What keeps a pending workload from being tried, in the order in which it is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obstacles {
    /// None of it counts: quota is reserved for it, which its object does not say yet.
    pub assumed: bool,
    /// Its queue is missing or stopped.
    pub queue: Option<PendingReason>,
    /// It breaks a rule itself.
    pub own: Option<PendingReason>,
    /// An equal one was just found not to fit.
    pub equal: Option<PendingReason>,
}

/// Whether a LocalQueue lets workloads through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    Stopped,
    LeadsNowhere,
    LeadsToInactive,
}

/// Why a pending workload is not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// An equal one was just found not to fit.
    Bypassed(scheduler::PendingReason),
    NoLocalQueue(String),
    LocalQueueStopped(String),
    NoClusterQueue(String),
    ClusterQueueInactive(String),
}

impl Cache {
    /// The status of a ClusterQueue; `None` if there is none of that name.
    #[must_use]
    pub fn cluster_queue_status(
        &self,
        name: &ClusterQueueName,
        now: Timestamp,
    ) -> Option<api::ClusterQueueStatus> {
        let state = self.queues.get(name)?;
        let spec = self.specs.get(name)?;
        let readiness = self.readiness(name)?;
        let nothing = Holdings::default();
        let held = self.held.get(name).unwrap_or(&nothing);
        Some(api::ClusterQueueStatus {
            conditions: active(
                &state.observed,
                readiness.active,
                readiness.reason,
                &readiness.message,
                now,
            ),
            flavors_reservation: usage_of(spec, &held.reserved),
            flavors_usage: usage_of(spec, &held.used),
            pending_workloads: count(state.pending.len()),
            reserving_workloads: held.reserving,
            admitted_workloads: held.admitted,
            fair_sharing: self.share(name),
        })
    }

    /// How much more than its own it uses; nothing where fair sharing is not configured.
    fn share(&self, name: &ClusterQueueName) -> Option<api::FairSharingStatus> {
        self.share_of(self.tree.cluster_queue(name)?)
    }

    /// The same of a cohort.
    pub fn cohort_share(&mut self, name: &CohortName) -> Option<api::FairSharingStatus> {
        self.fresh_tree();
        self.share_of(self.tree.cohort(name)?)
    }

    /// The cohorts above these ClusterQueues, whose shares change with theirs; none where fair sharing is not configured.
    pub fn sharing_cohorts<'a>(
        &mut self,
        queues: impl IntoIterator<Item = &'a ClusterQueueName>,
    ) -> BTreeSet<CohortName> {
        if self.options.fair_sharing.is_none() {
            return BTreeSet::new();
        }
        self.fresh_tree();
        let ids = queues
            .into_iter()
            .filter(|name| !self.tree.in_cycle(name))
            .filter_map(|name| self.tree.cluster_queue(name));
        let above = ids.flat_map(|id| self.tree.path_up(id));
        let cohort = |id| match self.tree.holder(id) {
            Holder::Cohort(name) => Some(name.clone()),
            Holder::ClusterQueue(_) => None,
        };
        above.filter_map(cohort).collect()
    }

    fn share_of(&self, id: NodeId) -> Option<api::FairSharingStatus> {
        self.options.fair_sharing.as_ref()?;
        let share = Share::of(&self.tree, id, &Usage::new());
        Some(api::FairSharingStatus {
            weighted_share: share.rounded(),
            admission_fair_sharing_status: None,
        })
    }

    /// The status of a LocalQueue; `None` if there is none of that name.
    #[must_use]
    pub fn local_queue_status(
        &self,
        key: &LocalQueueKey,
        now: Timestamp,
    ) -> Option<api::LocalQueueStatus> {
        let state = self.local_queues.get(key)?;
        let (active_now, reason, message) = messages::door(self.state_of(state));
        let nothing = Holdings::default();
        let held = self.held_locally.get(key).unwrap_or(&nothing);
        let spec = state
            .cluster_queue
            .as_ref()
            .and_then(|name| self.specs.get(name));
        Some(api::LocalQueueStatus {
            conditions: active(&state.observed, active_now, reason, message, now),
            pending_workloads: count(self.standing.get(key).copied().unwrap_or(0)),
            reserving_workloads: held.reserving,
            admitted_workloads: held.admitted,
            flavors_reservation: spec
                .map(|spec| local_usage_of(spec, &held.reserved))
                .unwrap_or_default(),
            flavors_usage: spec
                .map(|spec| local_usage_of(spec, &held.used))
                .unwrap_or_default(),
            fair_sharing: self.written_usage(key),
        })
    }

    fn state_of(&self, state: &LocalQueueState) -> Door {
        if state.stopped {
            return Door::Stopped;
        }
        let target = state.cluster_queue.as_ref();
        match target.and_then(|name| self.specs.get(name)) {
            None => Door::LeadsNowhere,
            Some(queue) if !queue.active => Door::LeadsToInactive,
            Some(_) => Door::Open,
        }
    }

    /// Whether a ClusterQueue mentions a flavor, so that its finalizer has to stay.
    #[must_use]
    pub fn resource_flavor_in_use(&self, flavor: &FlavorName) -> bool {
        self.specs.values().any(|queue| {
            queue
                .groups
                .iter()
                .any(|group| group.flavors.contains(flavor))
        })
    }

    /// What keeps a pending workload from being tried; nothing at all if nobody knows it.
    #[must_use]
    pub fn obstacles_of(&self, key: &WorkloadKey) -> Obstacles {
        let Some(state) = self.workloads.get(key) else {
            return Obstacles::default();
        };
        Obstacles {
            assumed: state.holding.is_some(),
            queue: self.hold(state).as_ref().map(messages::held),
            own: self.faulty(state),
            equal: self
                .bypassed(state)
                .map(|why| messages::held(&Hold::Bypassed(why))),
        }
    }

    /// Why a pending workload waits without being tried: its queue is missing or stopped, it breaks a rule of the namespace, or an equal
    /// workload just failed. `None` if it stands in a queue and its turn will come, or if it does not wait at all.
    #[must_use]
    pub fn pending_reason(&self, key: &WorkloadKey) -> Option<PendingReason> {
        self.workloads
            .get(key)
            .filter(|state| state.eligible && state.holding.is_none())?;
        let Obstacles {
            queue, own, equal, ..
        } = self.obstacles_of(key);
        queue.or(own).or(equal)
    }

    /// What is wrong with a workload itself, as far as its ClusterQueue is concerned.
    fn faulty(&self, state: &WorkloadState) -> Option<PendingReason> {
        let name = self.behind(&state.info.local_queue)?;
        let namespace = &state.info.key.namespace;
        let misconfigured = |message| PendingReason {
            reason: reasons::MISCONFIGURED,
            message,
        };
        let Some(labels) = self.namespaces.get(namespace) else {
            return Some(misconfigured(messages::unknown_namespace(namespace)));
        };
        let selector = self.specs.get(name)?.namespaces.as_ref();
        let refusal = if selector.is_some_and(|selector| selector.matches(labels)) {
            state.info.defect.as_ref()?.refusal()?
        } else {
            Refusal::NamespaceMismatch
        };
        scheduler::messages::refused(&refusal, name).map(misconfigured)
    }

    fn hold(&self, state: &WorkloadState) -> Option<Hold> {
        let name = state.info.local_queue.name.to_string();
        let Some(door) = self.local_queues.get(&state.info.local_queue) else {
            return Some(Hold::NoLocalQueue(name));
        };
        let target = door.cluster_queue.as_ref().map(ToString::to_string);
        let target = target.unwrap_or_default();
        match self.state_of(door) {
            Door::Open if self.is_below_a_circle(door.cluster_queue.as_ref()) => {
                Some(Hold::ClusterQueueInactive(target))
            }
            Door::Open => None,
            Door::Stopped => Some(Hold::LocalQueueStopped(name)),
            Door::LeadsNowhere => Some(Hold::NoClusterQueue(target)),
            Door::LeadsToInactive => Some(Hold::ClusterQueueInactive(target)),
        }
    }

    /// Whether the cohorts above a ClusterQueue form a circle: it says that it is active, and nothing can be decided in it. Reference section 4.6.
    fn is_below_a_circle(&self, queue: Option<&ClusterQueueName>) -> bool {
        let spec = queue.and_then(|name| self.specs.get(name));
        let mut current = spec.and_then(|spec| spec.cohort.as_ref());
        let mut seen = BTreeSet::new();
        while let Some(name) = current {
            if !seen.insert(name) {
                return true;
            }
            let cohort = self.cohorts.get(name);
            current = cohort.and_then(|cohort| cohort.parent.as_ref());
        }
        false
    }
}

fn active(
    observed: &Observed,
    active: bool,
    reason: &str,
    message: &str,
    now: Timestamp,
) -> Vec<Condition> {
    let mut stated = observed.conditions.clone();
    conditions::set(
        &mut stated,
        conditions::condition(
            queue::ACTIVE,
            active,
            reason,
            message,
            observed.generation,
            now,
        ),
    );
    stated
}

fn count(number: usize) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

fn text(amount: Amount, resource: &ResourceName) -> kueue_api::Quantity {
    kueue_api::Quantity(amount.to_quantity(resource).to_string())
}

/// The quotas of a ClusterQueue in the order of the object: flavor by flavor, resource by resource.
fn by_flavor(spec: &ClusterQueue) -> impl Iterator<Item = (&FlavorName, Vec<FlavorResource>)> {
    let of = |flavor: &FlavorName, resource: &ResourceName| FlavorResource {
        flavor: flavor.clone(),
        resource: resource.clone(),
    };
    spec.groups.iter().flat_map(move |group| {
        group.flavors.iter().map(move |flavor| {
            (
                flavor,
                group
                    .covered
                    .iter()
                    .map(|resource| of(flavor, resource))
                    .collect(),
            )
        })
    })
}

fn usage_of(spec: &ClusterQueue, usage: &Usage) -> Vec<FlavorUsage> {
    let resource = |of: &FlavorResource| {
        let total = usage.get(of).copied().unwrap_or_default();
        let over = (total - spec.quota(of).nominal).floor_zero();
        let borrowed = if spec.cohort.is_some() {
            over
        } else {
            Amount::ZERO
        };
        ResourceUsage {
            name: of.resource.to_string(),
            total: Some(text(total, &of.resource)),
            borrowed: Some(text(borrowed, &of.resource)),
        }
    };
    let flavor = |(name, all): (&FlavorName, Vec<FlavorResource>)| FlavorUsage {
        name: name.to_string(),
        resources: all.iter().map(resource).collect(),
    };
    by_flavor(spec).map(flavor).collect()
}

fn local_usage_of(spec: &ClusterQueue, usage: &Usage) -> Vec<LocalQueueFlavorUsage> {
    let resource = |of: &FlavorResource| LocalQueueResourceUsage {
        name: of.resource.to_string(),
        total: Some(text(
            usage.get(of).copied().unwrap_or_default(),
            &of.resource,
        )),
    };
    let flavor = |(name, all): (&FlavorName, Vec<FlavorResource>)| LocalQueueFlavorUsage {
        name: name.to_string(),
        resources: all.iter().map(resource).collect(),
    };
    by_flavor(spec).map(flavor).collect()
}
