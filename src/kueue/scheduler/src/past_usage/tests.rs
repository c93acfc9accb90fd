use std::time::Duration;

use jiff::Timestamp;
use quantity::ResourceName;

use super::{AdmissionFairSharing, Ledger, Quantities};
use crate::names::{LocalQueueKey, WorkloadKey};

fn cpu(text: &str) -> Quantities {
    [(ResourceName::from("cpu"), text.parse().unwrap())].into()
}

fn rules(half_life: u64, interval: u64) -> AdmissionFairSharing {
    AdmissionFairSharing {
        half_life: Duration::from_secs(half_life),
        sampling_interval: Duration::from_secs(interval),
        ..AdmissionFairSharing::default()
    }
}

fn second(number: i64) -> Timestamp {
    Timestamp::from_second(number).unwrap()
}

fn queue() -> LocalQueueKey {
    LocalQueueKey::new("ns", "team")
}

fn workload(name: &str) -> WorkloadKey {
    WorkloadKey::new("ns", name)
}

fn consumed(ledger: &Ledger) -> String {
    let consumed = ledger.account(&queue()).unwrap().consumed();
    consumed
        .get("cpu")
        .map_or_else(|| "nothing".to_owned(), ToString::to_string)
}

#[test]
fn half_is_forgotten_after_the_half_life_and_half_of_what_is_used_is_learned() {
    let rules = rules(10, 5);
    let decayed = |before: &str, now: &str, seconds: u64| {
        let elapsed = Duration::from_secs(seconds);
        rules.decayed(&cpu(before), &cpu(now), elapsed)["cpu"].to_string()
    };
    assert_eq!(decayed("8", "0", 10), "4");
    assert_eq!(decayed("0", "8", 10), "4");
    assert_eq!(decayed("8", "8", 30), "8");
    assert_eq!(decayed("8", "0", 0), "8");
    assert_eq!(decayed("8", "16", 20), "14");
}

#[test]
fn without_a_half_life_nothing_is_remembered_and_nobody_is_charged() {
    let rules = rules(0, 5);
    assert!(rules.penalty(&cpu("8"))["cpu"].is_zero());
    let mut ledger = Ledger::default();
    ledger.recall(&queue(), &cpu("8"), second(0));
    let again = ledger.sample(&queue(), &cpu("3"), second(9), &rules).again;
    assert_eq!(again, Duration::from_secs(5));
    assert_eq!(consumed(&ledger), "nothing");
}

#[test]
fn weights_of_resources_and_of_the_queue_count() {
    let mut rules = rules(10, 5);
    rules.weights.insert("cpu".into(), 2.0);
    let mut used = cpu("3");
    used.insert("gpu".into(), "4".parse().unwrap());
    let nothing = Quantities::new();
    let close = |left: f64, right: f64| assert!((left - right).abs() < 1e-9, "{left} {right}");
    close(rules.weighed(&used, &nothing, 1.0), 10.0);
    close(rules.weighed(&used, &cpu("1"), 4.0), 3.0);
    assert_eq!(rules.weighed(&nothing, &nothing, 0.0), f64::INFINITY);
}

#[test]
fn a_penalty_is_charged_once_and_taken_back_as_it_was() {
    let mut ledger = Ledger::default();
    let pending = |ledger: &Ledger| {
        let account = ledger.account(&queue()).unwrap();
        account.pending().get("cpu").map(ToString::to_string)
    };
    ledger.charge(&queue(), &workload("a"), cpu("2"), second(1));
    ledger.charge(&queue(), &workload("a"), cpu("3"), second(2));
    ledger.charge(&queue(), &workload("b"), cpu("1500m"), second(3));
    assert_eq!(pending(&ledger).as_deref(), Some("4500m"));
    ledger.refund(&queue(), &workload("a"));
    ledger.refund(&queue(), &workload("a"));
    assert_eq!(pending(&ledger).as_deref(), Some("1500m"));
    ledger.refund(&queue(), &workload("b"));
    assert_eq!(pending(&ledger), None);
    assert!(!ledger.account(&queue()).unwrap().has_pending());
    ledger.refund(&LocalQueueKey::new("ns", "nobody"), &workload("a"));
    assert!(
        ledger
            .account(&LocalQueueKey::new("ns", "nobody"))
            .is_none()
    );
}

#[test]
fn what_begins_is_moved_from_the_penalties_into_the_usage() {
    let rules = rules(10, 10);
    let mut ledger = Ledger::default();
    ledger.recall(&queue(), &cpu("8"), second(0));
    let penalty = rules.penalty(&cpu("4"));
    ledger.charge(&queue(), &workload("a"), penalty, second(10));
    ledger.settle(&queue(), &workload("a"), &cpu("4"), second(10), &rules);
    assert_eq!(consumed(&ledger), "8", "8/2 + 4/2 + a penalty of 2");
    ledger.settle(&queue(), &workload("a"), &cpu("4"), second(10), &rules);
    assert_eq!(
        consumed(&ledger),
        "8",
        "no time has passed, nothing is charged twice"
    );
    assert!(!ledger.account(&queue()).unwrap().has_pending());
}

#[test]
fn samples_are_taken_at_their_interval_and_time_never_runs_backwards() {
    let rules = rules(10, 5);
    let mut ledger = Ledger::default();
    ledger.recall(&queue(), &cpu("8"), second(20));
    let sample = |ledger: &mut Ledger, at: i64| {
        ledger
            .sample(&queue(), &cpu("0"), second(at), &rules)
            .again
            .as_secs()
    };
    assert_eq!(sample(&mut ledger, 22), 3, "too early");
    assert_eq!(consumed(&ledger), "8");
    assert_eq!(sample(&mut ledger, 30), 5);
    assert_eq!(consumed(&ledger), "4");
    ledger.settle(&queue(), &workload("a"), &cpu("0"), second(25), &rules);
    assert_eq!(consumed(&ledger), "4");
    assert_eq!(ledger.account(&queue()).unwrap().at(), second(30));
}

#[test]
fn what_was_written_down_is_recalled_once() {
    let mut ledger = Ledger::default();
    ledger.charge(&queue(), &workload("a"), cpu("1"), second(1));
    ledger.recall(&queue(), &cpu("8"), second(2));
    ledger.recall(&queue(), &cpu("8"), second(3));
    assert_eq!(consumed(&ledger), "8");
    ledger.close(&queue());
    assert!(ledger.account(&queue()).is_none());
}
