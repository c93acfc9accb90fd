//! Gates before preemption of the copies: only one cluster at a time may preempt for a Workload. Reference section 4.17, number 10.

use std::time::Duration;

use jiff::Timestamp;
use kueue_api::conditions::{find, workload as types};
use kueue_api::names::gates;
use kueue_api::v1beta2::{GatePosition, PreemptionGateState, Workload};

use super::View;

/// How long one cluster may try before the next one may.
const TURN: Duration = Duration::from_mins(5);

/// The cluster whose gate is to be opened now, and when to look again.
pub(super) fn next(view: &View<'_>) -> (Option<String>, Option<Duration>) {
    if !view.rules.gated {
        return (None, None);
    }
    let copies = || {
        view.remotes
            .iter()
            .filter_map(|(name, remote)| Some((name, remote.workload.as_ref()?)))
    };
    let last = copies().filter_map(|(_, copy)| opened(copy)).max();
    if let Some(last) = last
        && let Some(left) = super::left(TURN, last, view.now)
    {
        return (None, Some(left));
    }
    let waiting = copies().filter(|(_, copy)| opened(copy).is_none());
    let blocked = waiting.filter_map(|(name, copy)| Some((blocked_since(copy)?, name)));
    let first = blocked.min().map(|(_, name)| name.clone());
    let wait = first.is_some().then_some(TURN);
    (first, wait)
}

fn gate(copy: &Workload) -> Option<&PreemptionGateState> {
    let mut gates = copy.status.as_ref()?.preemption_gates.iter();
    gates.find(|gate| gate.name == gates::MULTIKUEUE)
}

fn opened(copy: &Workload) -> Option<Timestamp> {
    let gate = gate(copy).filter(|gate| gate.position == GatePosition::Open)?;
    Some(gate.last_transition_time.as_ref()?.0)
}

fn blocked_since(copy: &Workload) -> Option<Timestamp> {
    let condition = find(copy.conditions(), types::BLOCKED_ON_PREEMPTION_GATES)?;
    (condition.status == "True").then_some(condition.last_transition_time.0)
}
