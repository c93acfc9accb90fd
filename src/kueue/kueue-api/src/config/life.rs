//! The parts of the file about the life of Workloads: when pods have to be ready, who is served first by past usage, how long things are
//! kept. Reference section 2.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Configuration;
use super::read::{Reader, path};
use crate::features::gate;
use crate::field::FieldError;
use crate::wire::wire_enum;

wire_enum! {
    /// Which time orders Workloads whose pods were not ready in time.
    RequeuingTimestamp { Eviction, Creation }
}

/// When pods have to be ready, and what becomes of Workloads whose pods are not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitForPodsReady {
    pub timeout: Duration,
    /// Nobody is admitted while the pods of somebody are not ready.
    pub block_admission: bool,
    /// After a pod failed; zero is no limit.
    pub recovery_timeout: Duration,
    pub timestamp: RequeuingTimestamp,
    /// Tries; absent is any number.
    pub backoff_limit_count: Option<i32>,
    pub backoff_base_seconds: i32,
    pub backoff_max_seconds: i32,
}

/// LocalQueues are served by what they used lately.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmissionFairSharing {
    /// After this time half of it is forgotten; zero is at once.
    pub usage_half_life_time: Duration,
    pub usage_sampling_interval: Duration,
    /// What a unit of a resource counts, one if it is not named.
    pub resource_weights: BTreeMap<String, f64>,
}

impl Configuration {
    /// When pods have to be ready; in this version of the file always, unless the gate says that nobody looks.
    #[must_use]
    pub fn pods_ready(&self) -> Option<&WaitForPodsReady> {
        let looks = !self.features.on(gate::DISABLE_WAIT_FOR_PODS_READY);
        looks.then_some(&self.wait_for_pods_ready)
    }
}

pub(super) fn wait_for_pods_ready(r: &mut Reader) -> WaitForPodsReady {
    let timeout = r.duration("waitForPodsReady.timeout", Duration::from_mins(30));
    let strategy = "waitForPodsReady.requeuingStrategy.timestamp";
    WaitForPodsReady {
        timeout,
        block_admission: r.or("waitForPodsReady.blockAdmission", false),
        recovery_timeout: r.duration("waitForPodsReady.recoveryTimeout", timeout),
        timestamp: timestamp(r, strategy),
        backoff_limit_count: r.or("waitForPodsReady.requeuingStrategy.backoffLimitCount", None),
        backoff_base_seconds: r.or("waitForPodsReady.requeuingStrategy.backoffBaseSeconds", 60),
        backoff_max_seconds: r.or("waitForPodsReady.requeuingStrategy.backoffMaxSeconds", 3600),
    }
}

fn timestamp(r: &mut Reader, field: &'static str) -> RequeuingTimestamp {
    match r.or(field, "Eviction".to_owned()).as_str() {
        "Eviction" => RequeuingTimestamp::Eviction,
        "Creation" => RequeuingTimestamp::Creation,
        other => {
            let known = ["Eviction", "Creation"];
            r.fault(FieldError::not_supported(&path(field), other, known));
            RequeuingTimestamp::Eviction
        }
    }
}

pub(super) fn admission_fair_sharing(r: &mut Reader) -> Option<AdmissionFairSharing> {
    let asked = AdmissionFairSharing {
        usage_half_life_time: r.duration("admissionFairSharing.usageHalfLifeTime", Duration::ZERO),
        usage_sampling_interval: r.duration(
            "admissionFairSharing.usageSamplingInterval",
            Duration::from_mins(5),
        ),
        resource_weights: r.or("admissionFairSharing.resourceWeights", BTreeMap::new()),
    };
    r.has("admissionFairSharing").then_some(asked)
}

/// Rules about the values.
pub(super) fn check(
    pods: Option<&WaitForPodsReady>,
    shares: Option<&AdmissionFairSharing>,
) -> Vec<FieldError> {
    let mut errors = pods.map(check_pods).unwrap_or_default();
    errors.extend(shares.into_iter().flat_map(check_shares));
    errors
}

fn check_pods(pods: &WaitForPodsReady) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if pods.timeout.is_zero() {
        let detail = "must be a duration that is not zero";
        errors.push(FieldError::required(
            &path("waitForPodsReady.timeout"),
            detail,
        ));
    }
    let numbers = [
        ("backoffLimitCount", pods.backoff_limit_count.unwrap_or(0)),
        ("backoffBaseSeconds", pods.backoff_base_seconds),
        ("backoffMaxSeconds", pods.backoff_max_seconds),
    ];
    let strategy = path("waitForPodsReady.requeuingStrategy");
    let negative = numbers.into_iter().filter(|(_, number)| *number < 0);
    errors.extend(negative.map(|(name, number)| {
        let detail = "must be greater than or equal to 0";
        FieldError::invalid(&strategy.child(name), number, detail)
    }));
    errors
}

fn check_shares(shares: &AdmissionFairSharing) -> Vec<FieldError> {
    let mut errors = Vec::new();
    if shares.usage_sampling_interval.is_zero() {
        let at = path("admissionFairSharing.usageSamplingInterval");
        errors.push(FieldError::invalid(&at, "0s", "must be greater than 0"));
    }
    let weights = path("admissionFairSharing.resourceWeights");
    let negative = shares
        .resource_weights
        .iter()
        .filter(|(_, weight)| **weight < 0.0);
    errors.extend(negative.map(|(resource, weight)| {
        let detail = "must be greater than or equal to 0";
        FieldError::invalid(&weights.key(resource), *weight, detail)
    }));
    errors
}
