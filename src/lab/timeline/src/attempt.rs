//! One life of a job, from its creation to its deletion, as the sequence of what happened to it.

use crate::{place::Place, silence::Gap, timeline::Timeline};
use course::{FactName, Filter, JobMoment, JobResult, StateName};
use serde::Serialize;
use std::collections::BTreeMap;

/// A job's name with its kind and namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct JobName {
    pub kind: String,
    pub namespace: String,
    pub name: String,
}

/// A job object with one uid. A job that was deleted and created again has two attempts.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    pub job: JobName,
    pub uid: String,
    pub facts: Vec<JobFact>,
    /// Names of the Workloads that were made for it, in order.
    pub workloads: Vec<String>,
    /// Uids of those Workloads.
    #[serde(skip)]
    pub(crate) workload_uids: Vec<String>,
    /// The gaps (their entries) after which listing showed that something had happened to it.
    #[serde(skip)]
    pub(crate) touched: Vec<u64>,
}

/// One thing that happened to a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobFact {
    pub name: FactName,
    pub place: Place,
    pub details: Details,
    /// Concluded from counters after a gap, not seen.
    pub inferred: bool,
}

/// What is known about a fact; empty where it does not apply.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Details {
    pub reason: Option<String>,
    pub message: Option<String>,
    pub cluster_queue: Option<String>,
    pub local_queue: Option<String>,
    pub flavors: Vec<String>,
    pub node: Option<String>,
    pub result: Option<JobResult>,
    pub workload: Option<String>,
    /// `flavor/resource` → how much of the reservation came from the cohort.
    pub borrowed: BTreeMap<String, f64>,
    /// Uids (Workload, job) named as the cause of a preemption.
    pub by: Vec<String>,
}

/// A stretch of time in a state. No end: still in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span<'a> {
    pub(crate) begin: &'a JobFact,
    pub(crate) end: Option<&'a JobFact>,
}

impl Attempt {
    /// The first fact of that name.
    pub fn first(&self, name: FactName) -> Option<&JobFact> {
        self.facts.iter().find(|fact| fact.name == name)
    }

    /// The latest fact of that name.
    pub fn latest(&self, name: FactName) -> Option<&JobFact> {
        self.facts.iter().rev().find(|fact| fact.name == name)
    }

    pub fn has(&self, name: FactName) -> bool {
        self.first(name).is_some()
    }

    /// Where it begins.
    pub(crate) fn begin(&self) -> Option<Place> {
        self.facts.first().map(|fact| fact.place)
    }

    /// Whether something may have happened to it in that gap. An object whose resourceVersion was the same before and after
    /// has no entry found by listing, and so was not touched.
    pub(crate) fn touched(&self, gap: &Gap) -> bool {
        self.touched.contains(&gap.seq)
    }

    /// Deleted or finished: nothing more will happen.
    pub(crate) fn over(&self) -> bool {
        self.has(FactName::Finished) || self.has(FactName::Deleted)
    }

    /// Waiting for admission, with what Kueue last said about it.
    pub(crate) fn waiting_for(&self) -> Option<&JobFact> {
        let last = self.facts.iter().rev().find(|fact| {
            matches!(
                fact.name,
                FactName::Queued
                    | FactName::QuotaReserved
                    | FactName::Finished
                    | FactName::Deleted
                    | FactName::Deactivated
            )
        })?;
        (last.name == FactName::Queued).then_some(last)
    }

    /// The facts that a moment speaks of, after `floor`.
    pub(crate) fn hits<'a>(
        &'a self,
        moment: &'a JobMoment,
        floor: Option<Place>,
        timeline: &'a Timeline,
    ) -> impl Iterator<Item = &'a JobFact> {
        self.facts.iter().filter(move |fact| {
            fact.name == moment.becomes
                && floor.is_none_or(|floor| floor.before(&fact.place))
                && passes(fact, &moment.filter, timeline)
        })
    }

    /// The stretches in which it was in a state.
    pub(crate) fn spans<'a>(
        &'a self,
        state: StateName,
        filter: &Filter,
        timeline: &Timeline,
    ) -> Vec<Span<'a>> {
        let mut spans: Vec<Span<'a>> = Vec::new();
        let mut open: Option<&'a JobFact> = None;
        for fact in &self.facts {
            let begins = begins(state, filter, fact);
            if open.is_some() && ends(state, filter, fact) {
                spans.extend(open.take().map(|begin| Span {
                    begin,
                    end: Some(fact),
                }));
            }
            if open.is_none() && begins && passes_state(fact, state, filter, timeline) {
                open = Some(fact);
            }
        }
        spans.extend(open.map(|begin| Span { begin, end: None }));
        spans
    }
}

/// Facts that begin a state. `queued` with a reason begins when Kueue gives that reason.
fn begins(state: StateName, filter: &Filter, fact: &JobFact) -> bool {
    use FactName as F;
    match state {
        StateName::Submitted => fact.name == F::Submitted,
        StateName::Queued if says_why(filter) => fact.name == F::Queued,
        StateName::Queued => matches!(fact.name, F::Managed | F::Requeued | F::Queued),
        StateName::Waiting => matches!(fact.name, F::Submitted | F::Evicted),
        StateName::QuotaReserved => fact.name == F::QuotaReserved,
        StateName::Admitted => fact.name == F::Admitted,
        StateName::Running => fact.name == F::Running,
        StateName::Evicted => fact.name == F::Evicted,
        StateName::Finished => fact.name == F::Finished,
    }
}

fn ends(state: StateName, filter: &Filter, fact: &JobFact) -> bool {
    use FactName as F;
    let gone = matches!(fact.name, F::Deleted);
    let over = gone || matches!(fact.name, F::Finished);
    match state {
        StateName::Submitted => over || matches!(fact.name, F::Managed | F::Started),
        StateName::Queued => {
            let other = says_why(filter) && fact.name == F::Queued && !matches_why(fact, filter);
            over || other || matches!(fact.name, F::QuotaReserved | F::Deactivated)
        }
        StateName::Waiting => over || fact.name == F::Admitted,
        StateName::QuotaReserved => over || fact.name == F::Requeued,
        StateName::Admitted | StateName::Running => {
            over || matches!(fact.name, F::Evicted | F::Requeued)
        }
        StateName::Evicted => over || fact.name == F::QuotaReserved,
        StateName::Finished => gone,
    }
}

fn says_why(filter: &Filter) -> bool {
    !filter.reason.is_empty() || filter.message.is_some()
}

fn matches_why(fact: &JobFact, filter: &Filter) -> bool {
    one_of(&filter.reason, fact.details.reason.as_deref())
        && filter.message.as_ref().is_none_or(|part| {
            fact.details
                .message
                .as_deref()
                .is_some_and(|message| message.contains(part.as_str()))
        })
}

fn passes_state(fact: &JobFact, state: StateName, filter: &Filter, timeline: &Timeline) -> bool {
    // A filter on the reason says nothing about facts that carry none, when the state does not begin with a reason.
    state == StateName::Waiting || passes(fact, filter, timeline)
}

fn one_of(wanted: &[String], found: Option<&str>) -> bool {
    wanted.is_empty() || found.is_some_and(|found| wanted.iter().any(|word| word == found))
}

/// Whether a fact is one that the filter lets through.
fn passes(fact: &JobFact, filter: &Filter, timeline: &Timeline) -> bool {
    // Destructured in full: a new filter that is forgotten here would silently match everything.
    let Filter {
        reason: _,
        message: _,
        flavor,
        cluster_queue,
        local_queue,
        node,
        by,
        result,
        borrows,
    } = filter;
    let details = &fact.details;
    matches_why(fact, filter)
        && (flavor.is_empty() || details.flavors.iter().any(|found| flavor.contains(found)))
        && one_of(cluster_queue, details.cluster_queue.as_deref())
        && one_of(local_queue, details.local_queue.as_deref())
        && node.as_ref().is_none_or(|pattern| {
            details
                .node
                .as_deref()
                .is_some_and(|name| pattern.matches(name))
        })
        && result.is_none_or(|wanted| details.result == Some(wanted))
        && borrows.is_none_or(|wanted| wanted != details.borrowed.is_empty())
        && by.as_ref().is_none_or(|jobs| {
            timeline
                .preemptor(fact)
                .is_some_and(|job| jobs.contains(&job.kind, &job.namespace, &job.name))
        })
}
