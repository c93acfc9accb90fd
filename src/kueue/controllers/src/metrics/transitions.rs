//! What happened to a Workload between two of its versions, as far as it is counted. Each version is seen once, whoever wrote it, so
//! nothing is counted twice and no writer has to remember to count.

use jiff::Timestamp;
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::Workload;

#[cfg(test)]
mod tests;

/// Something that is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Reserved,
    Admitted,
    Ready,
    Finished,
    Evicted {
        reason: String,
        cause: String,
        /// The first time for that reason and cause.
        first: bool,
    },
    /// It gave its quota back after an eviction.
    Released {
        reason: String,
        evicted: Timestamp,
    },
}

/// Since when a condition holds.
pub(super) fn since(workload: &Workload, type_: &str) -> Option<Timestamp> {
    find(workload.conditions(), type_)
        .filter(|condition| condition.status == "True")
        .map(|condition| condition.last_transition_time.0)
}

/// Everything that happened, in the order in which it happens.
pub(super) fn between(before: &Workload, after: &Workload) -> Vec<Change> {
    let came = |type_: &str| {
        let now = since(after, type_);
        now.is_some() && now != since(before, type_)
    };
    let mut changes = Vec::new();
    if came(types::QUOTA_RESERVED) {
        changes.push(Change::Reserved);
    }
    if came(types::ADMITTED) {
        changes.push(Change::Admitted);
    }
    if came(types::PODS_READY) && since(after, types::ADMITTED).is_some() {
        changes.push(Change::Ready);
    }
    changes.extend(evictions(before, after, came(types::EVICTED)));
    changes.extend(released(before, after));
    if came(types::FINISHED) {
        changes.push(Change::Finished);
    }
    changes
}

/// The statistics know the cause; a status without them has only the condition.
fn evictions(before: &Workload, after: &Workload, told: bool) -> Vec<Change> {
    let counts = |workload: &Workload| -> Vec<(String, String, i32)> {
        let status = workload.status.as_ref();
        let stats = status.and_then(|status| status.scheduling_stats.as_ref());
        let all = stats.into_iter().flat_map(|stats| &stats.evictions);
        all.map(|one| (one.reason.clone(), one.underlying_cause.clone(), one.count))
            .collect()
    };
    let known = counts(before);
    let grown = counts(after)
        .into_iter()
        .filter_map(|(reason, cause, count)| {
            let before = known
                .iter()
                .find(|(r, c, _)| (r, c) == (&reason, &cause))
                .map_or(0, |(.., count)| *count);
            (count > before).then_some(Change::Evicted {
                reason,
                cause,
                first: before == 0,
            })
        });
    let mut changes: Vec<Change> = grown.collect();
    if changes.is_empty()
        && told
        && let Some(evicted) = find(after.conditions(), types::EVICTED)
    {
        let (reason, cause) = split(&evicted.reason);
        changes.push(Change::Evicted {
            reason: reason.to_owned(),
            cause: cause.to_owned(),
            first: since(before, types::EVICTED).is_none(),
        });
    }
    changes
}

/// `DeactivatedDueToX` is the reason `Deactivated` with the cause X.
fn split(reason: &str) -> (&str, &str) {
    match reason.strip_prefix(reasons::DEACTIVATED) {
        Some(rest) => (
            reasons::DEACTIVATED,
            rest.strip_prefix("DueTo").unwrap_or_default(),
        ),
        None => (reason, ""),
    }
}

fn released(before: &Workload, after: &Workload) -> Option<Change> {
    let held = before.has_quota_reservation() && !after.has_quota_reservation();
    let evicted = find(before.conditions(), types::EVICTED)
        .filter(|condition| held && condition.status == "True")?;
    Some(Change::Released {
        reason: split(&evicted.reason).0.to_owned(),
        evicted: evicted.last_transition_time.0,
    })
}

/// Since when a workload waits: its creation, or the last time it was put back.
pub(super) fn queued_since(workload: &Workload) -> Timestamp {
    since(workload, types::REQUEUED)
        .or_else(|| workload.metadata.creation_timestamp.as_ref().map(|t| t.0))
        .unwrap_or(Timestamp::UNIX_EPOCH)
}
