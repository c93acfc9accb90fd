//! What to do about a lease, given what was read and when it was seen to change.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use super::Options;

/// The last change seen of somebody else's lease. Its own times are not trusted: clocks of machines differ.
#[derive(Debug, Default)]
pub(super) struct Observed {
    record: Option<LeaseSpec>,
    at: Option<Timestamp>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Move {
    /// Somebody else holds it.
    Wait,
    Create(Lease),
    Replace(Lease),
}

pub(super) fn next(
    current: Option<Lease>,
    observed: &mut Observed,
    options: &Options,
    now: Timestamp,
) -> Move {
    let Some(mut lease) = current else {
        let metadata = ObjectMeta {
            name: Some(options.name.clone()),
            namespace: Some(options.namespace.clone()),
            ..ObjectMeta::default()
        };
        return Move::Create(Lease {
            metadata,
            spec: Some(taken(None, options, now)),
        });
    };
    let spec = lease.spec.clone().unwrap_or_default();
    if observed.record.as_ref() != Some(&spec) {
        observed.record = Some(spec.clone());
        observed.at = Some(now);
    }
    let holder = spec.holder_identity.as_deref().unwrap_or_default();
    if holder != options.identity && !holder.is_empty() && !expired(&spec, observed, options, now) {
        return Move::Wait;
    }
    lease.spec = Some(taken(Some(&spec), options, now));
    Move::Replace(lease)
}

fn expired(spec: &LeaseSpec, observed: &Observed, options: &Options, now: Timestamp) -> bool {
    let own = i64::try_from(options.duration.as_secs()).unwrap_or(i64::MAX);
    let seconds = spec.lease_duration_seconds.map_or(own, i64::from);
    observed
        .at
        .is_some_and(|at| now.duration_since(at) > SignedDuration::from_secs(seconds))
}

/// The lease in our name, keeping the time of acquisition if it is ours already.
fn taken(before: Option<&LeaseSpec>, options: &Options, now: Timestamp) -> LeaseSpec {
    let ours =
        before.is_some_and(|spec| spec.holder_identity.as_deref() == Some(&options.identity));
    let transitions = before
        .and_then(|spec| spec.lease_transitions)
        .unwrap_or_default();
    let acquired = before
        .and_then(|spec| spec.acquire_time.clone())
        .filter(|_| ours);
    LeaseSpec {
        holder_identity: Some(options.identity.clone()),
        lease_duration_seconds: Some(i32::try_from(options.duration.as_secs()).unwrap_or(i32::MAX)),
        acquire_time: Some(acquired.unwrap_or(MicroTime(now))),
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(if ours || before.is_none() {
            transitions
        } else {
            transitions + 1
        }),
        ..LeaseSpec::default()
    }
}

/// The lease without a holder, if it is ours to give.
pub(super) fn released(mut lease: Lease, identity: &str, now: Timestamp) -> Option<Lease> {
    let spec = lease
        .spec
        .as_mut()
        .filter(|spec| spec.holder_identity.as_deref() == Some(identity))?;
    spec.holder_identity = Some(String::new());
    spec.lease_duration_seconds = Some(1);
    spec.renew_time = Some(MicroTime(now));
    spec.acquire_time = Some(MicroTime(now));
    Some(lease)
}
