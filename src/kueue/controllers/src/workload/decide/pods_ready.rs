//! Workloads whose pods are not ready in time leave, wait, and are tried again, until they were tried often enough. Reference section 4.13.

use std::time::Duration;

use cache::Eviction;
use jiff::{SignedDuration, Timestamp};
use kueue_api::conditions::{find, reasons, workload as types};
use kueue_api::v1beta2::Workload;

use super::{PodsReady, Step, View, draft, evict, remaining, write};

/// What an admitted Workload waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Its pods were never ready.
    Start,
    /// A pod failed after all were ready.
    Recovery,
}

impl Cause {
    /// Its name in statuses and metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => reasons::WAIT_FOR_START,
            Self::Recovery => reasons::WAIT_FOR_RECOVERY,
        }
    }
}

/// An admitted Workload whose pods are not ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    pub cause: Cause,
    /// How long it may still wait; nothing when its time is up.
    pub left: Option<Duration>,
}

/// Whether a Workload waits for its pods within a limit.
#[must_use]
pub fn late(workload: &Workload, rules: &PodsReady, now: Timestamp) -> Option<Late> {
    let admitted = find(workload.conditions(), types::ADMITTED)?;
    let admitted = Some(admitted).filter(|condition| condition.status == "True")?;
    let ready = find(workload.conditions(), types::PODS_READY);
    let (cause, limit, since) = match ready {
        Some(ready) if ready.status == "True" => return None,
        Some(ready) if ready.reason == reasons::WAIT_FOR_RECOVERY => {
            (Cause::Recovery, rules.recovery_timeout?, ready)
        }
        // "PodsReady" was the only reason once, and is kept by Workloads of those times.
        Some(ready) if !matches!(&*ready.reason, reasons::WAIT_FOR_START | "PodsReady") => {
            return None;
        }
        _ => (Cause::Start, rules.timeout, admitted),
    };
    let left = remaining(limit, since.last_transition_time.0, now);
    Some(Late { cause, left })
}

/// How long it may still wait for its pods, or the end of that.
pub(super) fn timeout(view: &View<'_>) -> Result<Option<Duration>, Step> {
    let Some(rules) = &view.rules.pods_ready else {
        return Ok(None);
    };
    if !view.workload.is_active() || view.workload.is_evicted() {
        return Ok(None);
    }
    match late(view.workload, rules, view.now) {
        None => Ok(None),
        Some(Late {
            left: Some(left), ..
        }) => Ok(Some(left)),
        Some(Late { cause, left: None }) => Err(too_late(view, rules, cause)),
    }
}

fn too_late(view: &View<'_>, rules: &PodsReady, cause: Cause) -> Step {
    let status = view.workload.status.as_ref();
    let known = status.and_then(|status| status.requeue_state.as_ref());
    let tries = known.and_then(|state| state.count).unwrap_or_default();
    let next = tries.saturating_add(1);
    if rules.limit.is_some_and(|limit| next > limit) {
        let text = "exceeding the maximum number of re-queuing retries";
        let status = draft(view).targeted(reasons::REQUEUING_LIMIT_EXCEEDED, text);
        return write(status.done(), Vec::new());
    }
    let message = format!("Exceeded the PodsReady timeout {}", view.workload.key());
    let eviction = Eviction {
        cause: cause.name().to_owned(),
        ..Eviction::new(reasons::PODS_READY_TIMEOUT, &message)
    };
    let pause = SignedDuration::try_from(pause(rules, next, chance(view))).unwrap_or_default();
    let at = view.now.saturating_add(pause).unwrap_or(view.now);
    evict(eviction, draft(view).not_before(at, true))
}

/// The wait before the n-th try: doubled each time, with some jitter, never longer than the longest.
fn pause(rules: &PodsReady, tries: i32, chance: f64) -> Duration {
    let doublings = tries.saturating_sub(1).clamp(0, 62);
    let base = rules.base.as_secs_f64() * f64::powi(2.0, doublings);
    let longest = rules.longest.as_secs_f64();
    if longest > 0.0 && base >= longest {
        return rules.longest;
    }
    let jittered = base * (1.0 + rules.jitter * chance);
    Duration::try_from_secs_f64(jittered).unwrap_or(rules.longest)
}

/// A number between nought and one that differs from Workload to Workload and is the same whenever it is asked for.
fn chance(view: &View<'_>) -> f64 {
    let key = view.workload.key();
    let mixed = key.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    f64::from(u32::try_from(mixed >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}
