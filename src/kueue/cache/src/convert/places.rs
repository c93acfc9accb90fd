//! How a pod set asks to be placed, and what it was given, from the fields of a Workload (kueue-reference.md, section 4.14).

use kueue_api::conditions::{self, workload as types};
use kueue_api::v1beta2::{self as api, CheckState, DelayedTopologyRequestState};
use scheduler::topology::{DomainRequests, SliceConstraint, TopologyRequest, TopologyUsage};
use scheduler::{Delayed, FlavorName, HeldPodSet, PodSetAdditions, Reservation};

use super::selectors::toleration;
use super::workload::{PodSetHolding, held_by_pod_set};
use super::{Unreadable, pods};
use crate::topology::decode;
use crate::{Options, Surroundings};

/// What a pod set says about its place.
pub(super) fn topology_request(request: &api::PodSetTopologyRequest) -> TopologyRequest {
    let slices = slices(request);
    // A size without a level asks for a topology and names none.
    let half = slices.is_empty() && request.pod_set_slice_size.is_some();
    TopologyRequest {
        required: request.required.clone(),
        preferred: request.preferred.clone(),
        unconstrained: request.unconstrained.or(half.then_some(false)),
        slices,
        group: request.pod_set_group_name.clone(),
    }
}

fn slices(request: &api::PodSetTopologyRequest) -> Vec<SliceConstraint> {
    let layers = &request.podset_slice_required_topology_constraints;
    if !layers.is_empty() {
        let layers = layers.iter().map(|layer| SliceConstraint {
            level: layer.topology.clone(),
            size: i64::from(layer.size),
        });
        return layers.collect();
    }
    let level = request.pod_set_slice_required_topology.iter();
    let one = level.map(|level| SliceConstraint {
        level: level.clone(),
        size: request.pod_set_slice_size.map_or(0, i64::from),
    });
    one.collect()
}

/// What admission checks that are ready add to the pods of a set; where two disagree on a label, the first one counts.
pub(super) fn additions(object: &api::Workload, pod_set: &str) -> PodSetAdditions {
    let checks = object
        .status
        .iter()
        .flat_map(|status| &status.admission_checks);
    let updates = checks
        .filter(|check| check.state == CheckState::Ready)
        .flat_map(|check| &check.pod_set_updates)
        .filter(|update| update.name == pod_set);
    let mut added = PodSetAdditions::default();
    for update in updates {
        for (key, value) in &update.node_selector {
            let entry = added.selector.entry(key.clone());
            entry.or_insert_with(|| value.clone());
        }
        let tolerations = update.tolerations.iter().filter_map(toleration);
        added.tolerations.extend(tolerations);
    }
    added
}

/// What a workload holds that may grow, or that has to be tried once more: because all its checks answered and its place is still to be found, or because a
/// node under it failed (section 4.15).
pub(super) fn reservation(
    object: &api::Workload,
    elastic: bool,
    options: &Options,
) -> Option<Reservation> {
    let status = object.status.as_ref()?;
    let stated = &status.conditions;
    let is = |type_: &str| conditions::is_true(stated, type_);
    let admission = status.admission.as_ref()?;
    if object.is_finished() || is(types::EVICTED) || !is(types::QUOTA_RESERVED) {
        return None;
    }
    let held = held_by_pod_set(object, admission, options).ok()?;
    let assigned = admission.pod_set_assignments.iter();
    let held: Option<Vec<HeldPodSet>> = assigned
        .zip(held)
        .map(|(assigned, held)| held_pod_set(assigned, held))
        .collect();
    let nodes = status.unhealthy_nodes.iter().map(|node| node.name.clone());
    let mut reservation = Reservation {
        pod_sets: held?,
        admitted: object.is_admitted(),
        unhealthy_nodes: nodes.collect(),
        again: false,
    };
    let checked = !status.admission_checks.is_empty()
        && status
            .admission_checks
            .iter()
            .all(|check| check.state == CheckState::Ready);
    let delayed = checked && !reservation.admitted && has_pending_places(admission);
    reservation.again = delayed || reservation.needs_replacement();
    (reservation.again || elastic).then_some(reservation)
}

/// Whether some pod set still waits for its place.
fn has_pending_places(admission: &api::Admission) -> bool {
    let pending = |assigned: &api::PodSetAssignment| {
        assigned.topology_assignment.is_none()
            && assigned.delayed_topology_request == Some(DelayedTopologyRequestState::Pending)
    };
    admission.pod_set_assignments.iter().any(pending)
}

fn held_pod_set(assigned: &api::PodSetAssignment, held: PodSetHolding) -> Option<HeldPodSet> {
    let place = assigned.topology_assignment.as_ref();
    let state = assigned.delayed_topology_request.as_ref();
    Some(HeldPodSet {
        name: held.name,
        count: held.count,
        flavors: held.flavors,
        requests: held.requests,
        place: place.map_or(Some(None), |place| decode(place).map(Some))?,
        delayed: state.map(|state| match state {
            DelayedTopologyRequestState::Ready => Delayed::Ready,
            DelayedTopologyRequestState::Pending => Delayed::Pending,
        }),
    })
}

/// What an admitted workload takes from the domains of its flavors. An assignment that cannot be read takes nothing.
pub(crate) fn places_held(
    object: &api::Workload,
    admission: &api::Admission,
    around: &Surroundings,
) -> Result<TopologyUsage, Unreadable> {
    let mut usage = TopologyUsage::new();
    for assigned in &admission.pod_set_assignments {
        let Some(places) = assigned.topology_assignment.as_ref().and_then(decode) else {
            continue;
        };
        let pod_set = object.spec.pod_sets.iter();
        let spec = pod_set
            .filter(|pod_set| pod_set.name == assigned.name)
            .find_map(|pod_set| pod_set.template.spec.clone());
        let per_pod = spec.map(|mut spec| {
            around.adjust(object.namespace(), &mut spec);
            pods::of_template(&spec)
        });
        let per_pod = per_pod.transpose()?.unwrap_or_default();
        let mut flavors: Vec<_> = assigned.flavors.values().collect();
        flavors.sort_unstable();
        flavors.dedup();
        for flavor in flavors {
            let taken = places.domains.iter().map(|domain| DomainRequests {
                values: domain.values.clone(),
                per_pod: per_pod.clone(),
                count: domain.count,
            });
            let held = usage.entry(FlavorName::from(flavor.as_str())).or_default();
            held.extend(taken);
        }
    }
    Ok(usage)
}
