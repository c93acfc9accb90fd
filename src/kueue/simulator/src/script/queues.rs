//! `cohort`, `queue` and `local`: who has how much, shares with whom, and may do what.

use kueue_api::v1beta2::{
    self as api, AdmissionMode, BorrowWithinCohortPolicy, FairSharing, FlavorFungibilityPolicy,
    FlavorFungibilityPreference, QueueingStrategy, ReclaimWithinCohort, StopPolicy,
    WithinClusterQueue,
};
use kueue_api::{LabelSelector, Quantity};

use super::objects::{Object, named_in};
use super::words::{Words, resource};
use super::{Clause, Problem};

const IN_A_QUEUE: &str = "cohort, quota, strict, best-effort, preempt, fungibility, namespaces, weight, usage-based, hold or drain";

pub(super) fn cohort(name: &str, settings: &[Clause]) -> Result<Object, Problem> {
    let mut cohort = api::Cohort::named(name);
    let spec = &mut cohort.spec;
    for clause in settings {
        let mut words = Words::of(clause);
        match words.word("under, quota or weight")? {
            "under" => spec.parent_name = Some(words.word("a cohort")?.to_owned()),
            "quota" => put(&mut spec.resource_groups, quota(&mut words)?),
            "weight" => spec.fair_sharing = Some(weight(&mut words)?),
            other => {
                return Err(
                    words.problem(format!("expected under, quota or weight, found `{other}`"))
                );
            }
        }
        words.end()?;
    }
    Ok(Object::Cohort(Box::new(cohort)))
}

pub(super) fn queue(name: &str, settings: &[Clause]) -> Result<Object, Problem> {
    let mut queue = api::ClusterQueue::named(name);
    let spec = &mut queue.spec;
    spec.namespace_selector = Some(LabelSelector::default());
    for clause in settings {
        let mut words = Words::of(clause);
        match words.word(IN_A_QUEUE)? {
            "cohort" => spec.cohort_name = Some(words.word("a cohort")?.to_owned()),
            "quota" => put(&mut spec.resource_groups, quota(&mut words)?),
            "strict" => spec.queueing_strategy = Some(QueueingStrategy::StrictFIFO),
            "best-effort" => spec.queueing_strategy = Some(QueueingStrategy::BestEffortFIFO),
            "preempt" => preempt(spec.preemption.get_or_insert_default(), &mut words)?,
            "fungibility" => {
                fungibility(spec.flavor_fungibility.get_or_insert_default(), &mut words)?;
            }
            "namespaces" => {
                let labels = &mut spec.namespace_selector.get_or_insert_default().match_labels;
                labels
                    .get_or_insert_default()
                    .extend([words.pair("a label")?]);
            }
            "weight" => spec.fair_sharing = Some(weight(&mut words)?),
            "usage-based" => {
                spec.admission_scope = Some(api::AdmissionScope {
                    admission_mode: AdmissionMode::UsageBasedAdmissionFairSharing,
                });
            }
            "hold" => spec.stop_policy = Some(StopPolicy::Hold),
            "drain" => spec.stop_policy = Some(StopPolicy::HoldAndDrain),
            other => return Err(words.problem(format!("expected {IN_A_QUEUE}, found `{other}`"))),
        }
        words.end()?;
    }
    Ok(Object::ClusterQueue(Box::new(queue)))
}

/// `local [NAMESPACE/]NAME of QUEUE`.
pub(super) fn local(
    name: &str,
    words: &mut Words<'_>,
    settings: &[Clause],
) -> Result<Object, Problem> {
    words.expect("of")?;
    let target = words.word("a queue")?;
    words.end()?;
    let mut local = door(name, target);
    for clause in settings {
        let mut words = Words::of(clause);
        match words.word("weight, hold or drain")? {
            "weight" => local.spec.fair_sharing = Some(weight(&mut words)?),
            "hold" => local.spec.stop_policy = Some(StopPolicy::Hold),
            "drain" => local.spec.stop_policy = Some(StopPolicy::HoldAndDrain),
            other => {
                return Err(
                    words.problem(format!("expected weight, hold or drain, found `{other}`"))
                );
            }
        }
        words.end()?;
    }
    Ok(Object::LocalQueue(Box::new(local)))
}

/// The LocalQueue of this name, `namespace/name` or a name alone, that leads to `target`.
pub(crate) fn door(name: &str, target: &str) -> api::LocalQueue {
    let (namespace, name) = name.split_once('/').unwrap_or(("default", name));
    let mut local = api::LocalQueue::named(name);
    local.metadata = named_in(namespace, name);
    local.spec.cluster_queue = Some(target.to_owned());
    local
}

/// `FLAVOR RESOURCE AMOUNT [borrow AMOUNT] [lend AMOUNT] …`.
pub(super) fn quota(words: &mut Words<'_>) -> Result<api::FlavorQuotas, Problem> {
    let name = words.word("a flavor")?.to_owned();
    let mut resources = Vec::new();
    let mut next = words.word("a resource such as gpu or cpu")?;
    loop {
        let mut quota = api::ResourceQuota {
            name: resource(next),
            nominal_quota: words.quantity("an amount")?,
            ..api::ResourceQuota::default()
        };
        if words.accept("borrow") {
            quota.borrowing_limit = Some(words.quantity("an amount")?);
        }
        if words.accept("lend") {
            quota.lending_limit = Some(words.quantity("an amount")?);
        }
        resources.push(quota);
        match words.next() {
            Some(word) => next = word,
            None => return Ok(api::FlavorQuotas { name, resources }),
        }
    }
}

/// Into the group that covers the same resources, or a new one. The same flavor again is replaced.
pub(crate) fn put(groups: &mut Vec<api::ResourceGroup>, quotas: api::FlavorQuotas) {
    let covered: Vec<_> = quotas.resources.iter().map(|of| of.name.clone()).collect();
    let Some(group) = groups
        .iter_mut()
        .find(|group| group.covered_resources == covered)
    else {
        groups.push(api::ResourceGroup {
            covered_resources: covered,
            flavors: vec![quotas],
        });
        return;
    };
    match group
        .flavors
        .iter_mut()
        .find(|flavor| flavor.name == quotas.name)
    {
        Some(known) => *known = quotas,
        None => group.flavors.push(quotas),
    }
}

fn preempt(
    preemption: &mut api::ClusterQueuePreemption,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    match words.word("own, reclaim or borrowing")? {
        "own" => {
            preemption.within_cluster_queue = Some(words.one_of(&[
                ("never", WithinClusterQueue::Never),
                ("lower", WithinClusterQueue::LowerPriority),
                (
                    "lower-or-newer",
                    WithinClusterQueue::LowerOrNewerEqualPriority,
                ),
            ])?);
        }
        "reclaim" => {
            preemption.reclaim_within_cohort = Some(words.one_of(&[
                ("never", ReclaimWithinCohort::Never),
                ("lower", ReclaimWithinCohort::LowerPriority),
                ("any", ReclaimWithinCohort::Any),
            ])?);
        }
        "borrowing" => {
            let policy = words.one_of(&[
                ("never", BorrowWithinCohortPolicy::Never),
                ("lower", BorrowWithinCohortPolicy::LowerPriority),
            ])?;
            let limited = words.accept("up-to");
            preemption.borrow_within_cohort = Some(api::BorrowWithinCohort {
                policy: Some(policy),
                max_priority_threshold: limited.then(|| words.read("a priority")).transpose()?,
            });
        }
        other => {
            return Err(words.problem(format!(
                "expected own, reclaim or borrowing, found `{other}`"
            )));
        }
    }
    Ok(())
}

fn fungibility(
    fungibility: &mut api::FlavorFungibility,
    words: &mut Words<'_>,
) -> Result<(), Problem> {
    const WHEN: &[(&str, FlavorFungibilityPolicy)] = &[
        ("stop", FlavorFungibilityPolicy::MayStopSearch),
        ("try-next", FlavorFungibilityPolicy::TryNextFlavor),
    ];
    match words.word("borrow, preempt or prefer")? {
        "borrow" => fungibility.when_can_borrow = Some(words.one_of(WHEN)?),
        "preempt" => fungibility.when_can_preempt = Some(words.one_of(WHEN)?),
        "prefer" => {
            fungibility.preference = Some(words.one_of(&[
                (
                    "borrowing",
                    FlavorFungibilityPreference::BorrowingOverPreemption,
                ),
                (
                    "preemption",
                    FlavorFungibilityPreference::PreemptionOverBorrowing,
                ),
            ])?);
        }
        other => {
            return Err(words.problem(format!(
                "expected borrow, preempt or prefer, found `{other}`"
            )));
        }
    }
    Ok(())
}

fn weight(words: &mut Words<'_>) -> Result<FairSharing, Problem> {
    let weight: Quantity = words.quantity("a weight")?;
    Ok(FairSharing {
        weight: Some(weight),
    })
}
