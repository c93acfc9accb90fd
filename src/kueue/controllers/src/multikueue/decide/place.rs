//! Which clusters a Workload is offered to, and what is said once one of them took it. Reference section 4.17, numbers 9, 11 and 12.

use std::time::Duration;

use jiff::Timestamp;
use kueue_api::names::{gates, labels};
use kueue_api::v1beta2::{CheckState, DelayedTopologyRequestState, PreemptionGate, Workload};

use super::{Act, Answer, Dispatcher, Plan, Rules, Siblings, Tone, Trouble, View, names};

/// The words of the check before the cluster's name.
const ADMITTED_ON: &str = "The workload was admitted on";

/// How long the incremental dispatcher waits for the clusters that it proposed.
const ROUND: Duration = Duration::from_mins(5);

/// What the check says when a cluster has admitted the Workload. One that is on its way out says no more; none that runs somewhere moves.
pub(super) fn admitted(view: &View<'_>, cluster: &str) -> (Option<Answer>, Option<Trouble>) {
    let remote = view.remotes.get(cluster);
    let copy = remote.and_then(|remote| remote.workload.as_ref());
    let placed = waits_for_places(view.workload) && copy.is_some_and(has_places);
    let mut answer = Answer {
        state: view.check.state,
        message: view.check.message.clone(),
        cluster: None,
        placed,
        event: None,
    };
    if matches!(view.check.state, CheckState::Retry | CheckState::Rejected) {
        return (placed.then_some(answer), None);
    }
    let status = view.workload.status.as_ref();
    let known = status.and_then(|status| status.cluster_name.as_deref());
    if let Some(from) = known.filter(|known| *known != cluster) {
        let (from, to) = (from.to_owned(), cluster.to_owned());
        return (None, Some(Trouble::OtherCluster { from, to }));
    }
    answer.state = CheckState::Ready;
    answer.message = format!("{ADMITTED_ON} {cluster:?}");
    answer.cluster = Some(cluster.to_owned());
    answer.event = Some(Tone::Normal);
    (Some(answer), None)
}

fn waits_for_places(workload: &Workload) -> bool {
    let status = workload.status.as_ref();
    status.is_some_and(kueue_api::workload::phase::waits_for_topology)
}

fn has_places(remote: &Workload) -> bool {
    let status = remote.status.as_ref();
    let admission = status.and_then(|status| status.admission.as_ref());
    let mut sets = admission.iter().flat_map(|one| &one.pod_set_assignments);
    sets.any(|set| {
        set.topology_assignment.is_some()
            || set.delayed_topology_request == Some(DelayedTopologyRequestState::Ready)
    })
}

/// Offers the Workload to the clusters that are nominated, and takes it back from the others.
#[must_use]
pub fn offer(view: &View<'_>) -> Plan {
    let status = view.workload.status.as_ref();
    let mut checks = status.iter().flat_map(|status| &status.admission_checks);
    if checks.any(|check| check.name != view.check.name && check.state != CheckState::Ready) {
        return Plan::default();
    }
    let named = status.map_or(&[][..], |status| &status.nominated_cluster_names);
    if let Some(siblings) = &view.siblings {
        let beside = siblings.clusters.first().filter(|_| siblings.complete);
        match beside {
            Some(cluster) => return together_with(view, siblings, cluster, named),
            None if !siblings.complete || !siblings.first => return Plan::default(),
            None => {}
        }
    }
    let (wanted, mut plan) = match view.rules.dispatcher {
        Dispatcher::AllAtOnce => all(view, named),
        Dispatcher::Incremental { step, config_order } => some(view, named, step, config_order),
        Dispatcher::External => (named.to_vec(), Plan::default()),
    };
    for (cluster, remote) in &view.remotes {
        match (wanted.contains(cluster), remote.workload.is_some()) {
            (true, false) => {
                let copy = Box::new(copy(view.workload, view.rules));
                plan.acts.push(Act::Offer(cluster.clone(), copy));
            }
            (false, true) => plan.acts.push(Act::Remove(cluster.clone())),
            _ => {}
        }
    }
    // What can be done is done; then this is tried again.
    let stranger = wanted
        .into_iter()
        .find(|name| !view.remotes.contains_key(name));
    plan.trouble = plan.trouble.or(stranger.map(Trouble::NoClient));
    plan
}

/// Its siblings run in a cluster: there it goes, and nowhere else. No gate holds it back from preemption, the choice is made.
fn together_with(view: &View<'_>, siblings: &Siblings, cluster: &str, named: &[String]) -> Plan {
    let trouble = |trouble| Plan {
        trouble: Some(trouble),
        ..Plan::default()
    };
    if siblings.clusters.len() > 1 {
        return trouble(Trouble::ApartFromEachOther(siblings.clusters.clone()));
    }
    if !view.remotes.contains_key(cluster) {
        return trouble(Trouble::Unavailable(cluster.to_owned()));
    }
    let mut acts = Vec::new();
    if !named.iter().any(|name| name == cluster) {
        acts.push(Act::Nominate(vec![cluster.to_owned()]));
    }
    for (name, remote) in &view.remotes {
        match (name == cluster, remote.workload.is_some()) {
            (true, false) => {
                let rules = Rules {
                    gated: false,
                    ..view.rules.clone()
                };
                let copy = Box::new(copy(view.workload, &rules));
                acts.push(Act::Offer(name.clone(), copy));
            }
            (false, true) => acts.push(Act::Remove(name.clone())),
            _ => {}
        }
    }
    Plan::of(acts)
}

fn all(view: &View<'_>, named: &[String]) -> (Vec<String>, Plan) {
    let wanted: Vec<String> = view.remotes.keys().cloned().collect();
    let told = names(named) == names(&wanted);
    let acts = (!told).then(|| Act::Nominate(wanted.clone()));
    (wanted, Plan::of(acts.into_iter().collect()))
}

fn some(view: &View<'_>, named: &[String], step: usize, in_order: bool) -> (Vec<String>, Plan) {
    match next_round(view.round, view.now, named, view.order, step, in_order) {
        Round::Wait(left) => (named.to_vec(), Plan::default().after(left)),
        Round::Nobody => {
            let trouble = Some(Trouble::NoMoreWorkers);
            let plan = Plan {
                trouble,
                ..Plan::default()
            };
            (named.to_vec(), plan)
        }
        Round::More(wanted) => {
            let acts = vec![Act::Nominate(wanted.clone()), Act::Round];
            (wanted, Plan::of(acts).after(ROUND))
        }
    }
}

/// What the incremental dispatcher does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Round {
    /// The clusters that were proposed have this long to admit.
    Wait(Duration),
    /// These are the clusters that are proposed from now on.
    More(Vec<String>),
    /// All of them are proposed already.
    Nobody,
}

/// The next round of the incremental dispatcher: some more of `clusters`, by name unless their own order counts, once those that are `named`
/// had their time since the last round was `begun`.
#[must_use]
pub fn next_round(
    begun: Option<Timestamp>,
    now: Timestamp,
    named: &[String],
    clusters: &[String],
    step: usize,
    in_order: bool,
) -> Round {
    if let Some(left) = begun.and_then(|begun| super::left(ROUND, begun, now)) {
        return Round::Wait(left);
    }
    let mut rest: Vec<&String> = clusters.iter().filter(|one| !named.contains(one)).collect();
    if !in_order {
        rest.sort();
    }
    if rest.is_empty() {
        return Round::Nobody;
    }
    let more = rest.into_iter().take(step).cloned();
    Round::More(named.iter().cloned().chain(more).collect())
}

/// What a cluster is given: the Workload as it is here, marked as ours.
fn copy(workload: &Workload, rules: &Rules) -> Workload {
    let meta = &workload.metadata;
    let mut marks = meta.labels.clone().unwrap_or_default();
    marks.remove(labels::JOB_UID);
    marks.insert(labels::MULTIKUEUE_ORIGIN.to_owned(), rules.origin.clone());
    let gate = || PreemptionGate {
        name: gates::MULTIKUEUE.to_owned(),
    };
    let mut spec = workload.spec.clone();
    spec.preemption_gates = rules.gated.then(gate).into_iter().collect();
    Workload {
        metadata: kueue_api::ObjectMeta {
            name: meta.name.clone(),
            namespace: meta.namespace.clone(),
            labels: Some(marks),
            annotations: meta.annotations.clone(),
            ..kueue_api::ObjectMeta::default()
        },
        spec,
        status: None,
    }
}
