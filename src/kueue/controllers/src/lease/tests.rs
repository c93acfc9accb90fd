//! Who may hold the lease when.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::coordination::v1::Lease;

use super::Options;
use super::decide::{Move, Observed, next, released};

fn options(identity: &str) -> Options {
    Options {
        namespace: "kueue-system".to_owned(),
        name: "lease".to_owned(),
        identity: identity.to_owned(),
        duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
        clock: || Timestamp::UNIX_EPOCH,
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn written(step: Move) -> Lease {
    match step {
        Move::Create(lease) | Move::Replace(lease) => lease,
        Move::Wait => panic!("expected a write"),
    }
}

#[test]
fn a_lease_is_taken_kept_and_inherited() {
    let (a, b) = (options("a"), options("b"));
    let (mut seen_by_a, mut seen_by_b) = (Observed::default(), Observed::default());
    let first = written(next(None, &mut seen_by_a, &a, at(0)));
    assert_eq!(
        next(Some(first.clone()), &mut seen_by_b, &b, at(1)),
        Move::Wait,
        "b sees it held"
    );
    let renewed = written(next(Some(first.clone()), &mut seen_by_a, &a, at(2)));
    let (old, new) = (first.spec.unwrap(), renewed.spec.clone().unwrap());
    assert_eq!(
        (old.acquire_time, new.lease_transitions),
        (new.acquire_time.clone(), Some(0)),
        "a renewal is no change of holder"
    );
    assert_ne!(old.renew_time, new.renew_time);
    assert_eq!(
        next(Some(renewed.clone()), &mut seen_by_b, &b, at(14)),
        Move::Wait,
        "b sees it renewed"
    );
    assert_eq!(
        next(Some(renewed.clone()), &mut seen_by_b, &b, at(29)),
        Move::Wait,
        "not yet expired since b saw the renewal"
    );
    let inherited = written(next(Some(renewed), &mut seen_by_b, &b, at(30)));
    let spec = inherited.spec.unwrap();
    assert_eq!(
        (spec.holder_identity.as_deref(), spec.lease_transitions),
        (Some("b"), Some(1))
    );
}

#[test]
fn a_lease_given_back_is_taken_at_once() {
    let (a, b) = (options("a"), options("b"));
    let held = written(next(None, &mut Observed::default(), &a, at(0)));
    assert_eq!(released(held.clone(), "b", at(1)), None, "not b's to give");
    let free = released(held, "a", at(1)).unwrap();
    let taken = written(next(Some(free), &mut Observed::default(), &b, at(1)));
    assert_eq!(taken.spec.unwrap().holder_identity.as_deref(), Some("b"));
}
