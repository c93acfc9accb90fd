//! Every text that people read about a decision, and nothing else. Equal to the reference's, word for word.

mod preemption;
mod topology;

pub use preemption::{
    evicted, preempted, preempted_event, preemption, preemption_reason, preemptor_event,
    recomputation, replaced,
};
pub use topology::{unplaceable, unplaced};

use std::fmt::Write as _;

use quantity::Amount;

use crate::assign::{Assignment, Attempt, Blocker, Mode, NoFitReason, PodSetAssignment};
use crate::labels::Taint;
use crate::names::{ClusterQueueName, FlavorName, FlavorResource};
use crate::objects::{OutOfBounds, Rule};
use crate::plan::Admission;
use crate::preemption::Possibility;
use crate::report::{Entry, Outcome, PendingReason, Refusal};
use crate::unsupported::Unsupported;

/// The message of a workload that stays pending; `None` if nothing is to be said.
#[must_use]
pub fn pending(entry: &Entry) -> Option<String> {
    let fixed = match &entry.outcome {
        Outcome::Admitted(_) | Outcome::NodesFailed(_) => return None,
        Outcome::Refused(refusal) => return refused(refusal, &entry.cluster_queue),
        Outcome::NoFit(assignment) | Outcome::NoCandidates(assignment) => {
            return Some(unassigned(assignment));
        }
        Outcome::Preempting {
            assignment,
            issued,
            failed,
        } => return Some(unassigned(assignment) + &preemptions_issued(*issued, *failed)),
        Outcome::Migrating(assignment) => {
            return Some(unassigned(assignment) + ". Pending the migration of 1 workload(s)");
        }
        Outcome::PreemptionGated => "Workload requires preemption, but it's gated",
        Outcome::FitsAfterOthers => {
            "Workload has overlapping preemption targets with another workload, but will fit after these preemptions complete"
        }
        Outcome::TargetsTaken => {
            "Workload has overlapping preemption targets with another workload"
        }
        Outcome::NoLongerFits => "Workload no longer fits after processing another workload",
        Outcome::WaitsForPods => "waiting for all admitted workloads to be in PodsReady condition",
        Outcome::BetterVariantRuns => "A more favorable variant is already admitted",
        Outcome::BelowLastAcceptable => "Target flavor is below LastAcceptableFlavorName",
    };
    Some(fixed.to_owned())
}

/// What is said of workloads that were told to leave, after the reasons for it.
fn preemptions_issued(issued: usize, failed: usize) -> String {
    match issued.saturating_sub(failed) {
        0 => format!(". Preempting {failed} workload(s) failed, will retry."),
        told => format!(". Pending the preemption of {told} workload(s)"),
    }
}

/// The reason of the condition `QuotaReserved`=False.
#[must_use]
pub fn pending_reason(reason: PendingReason) -> &'static str {
    match reason {
        PendingReason::NoFit(reason) => no_fit_reason(reason),
        PendingReason::Misconfigured => "Misconfigured",
        PendingReason::Suspended => "Suspended",
        PendingReason::PendingEvaluation => "PendingEvaluation",
        PendingReason::AdmissionGated => "AdmissionGated",
        PendingReason::WaitingForPreemptedWorkloads => "WaitingForPreemptedWorkloads",
        PendingReason::WaitingForPodsReady => "WaitingForPodsReady",
    }
}

/// The reason why nothing fits.
#[must_use]
pub fn no_fit_reason(reason: NoFitReason) -> &'static str {
    match reason {
        NoFitReason::TopologyPlacementFailed => "TopologyPlacementFailed",
        NoFitReason::WaitingForQuota => "WaitingForQuota",
        NoFitReason::ExceedsMaxQuota => "ExceedsMaxQuota",
        NoFitReason::NoMatchingFlavor => "NoMatchingFlavor",
    }
}

/// The message of the condition `QuotaReserved`=True.
#[must_use]
pub fn reserved(cluster_queue: &ClusterQueueName) -> String {
    format!("Quota reserved in ClusterQueue {cluster_queue}")
}

/// The note of the event `QuotaReserved`.
#[must_use]
pub fn reserved_event(admission: &Admission, waited_seconds: i64) -> String {
    let mut note = format!(
        "Quota reserved in ClusterQueue {}, wait time since queued was {waited_seconds}s",
        admission.cluster_queue
    );
    let considered: Vec<_> = admission.considered.iter().filter_map(considered).collect();
    if !considered.is_empty() {
        let _ = write!(note, "; Flavors considered: {}", considered.join(" | "));
    }
    note
}

/// The note of the event Admitted, for a workload that has no checks to wait for.
#[must_use]
pub fn admitted_event(cluster_queue: &ClusterQueueName) -> String {
    format!("Admitted by ClusterQueue {cluster_queue}, wait time since reservation was 0s")
}

/// The message of an assignment that did not fit.
#[must_use]
pub fn unassigned(assignment: &Assignment) -> String {
    let unfit = assignment
        .pod_sets
        .iter()
        .filter(|pod_set| pod_set.unplaceable.is_some() || !pod_set.blockers.is_empty());
    let unplaceable = |pod_set: &PodSetAssignment| {
        let error = unplaceable(pod_set.unplaceable.as_ref()?);
        Some(format!(
            "failed to assign flavors to pod set {}: {error}",
            pod_set.name
        ))
    };
    if let Some(text) = unfit.clone().find_map(unplaceable) {
        return text;
    }
    let texts = unfit.map(|pod_set| {
        let mut reasons: Vec<_> = pod_set.blockers.iter().map(blocker).collect();
        reasons.sort();
        format!(
            "couldn't assign flavors to pod set {}: {}",
            pod_set.name,
            reasons.join(", ")
        )
    });
    texts.collect::<Vec<_>>().join("; ")
}

/// One reason why a flavor was not good enough.
#[must_use]
pub fn blocker(blocker: &Blocker) -> String {
    match blocker {
        Blocker::ResourceUnavailable(resource) => {
            format!("resource {resource} unavailable in ClusterQueue")
        }
        Blocker::FlavorNotFound(flavor) => format!("flavor {flavor} not found"),
        Blocker::FlavorNotAllowed(flavor) => {
            format!(
                "skipping flavor {flavor} due to WorkloadAllowedResourceFlavorAnnotation annotation"
            )
        }
        Blocker::NotNominated(flavor, resource) => format!(
            "skipping flavor {flavor} as it is not found in the nomination mapping for resource {resource}"
        ),
        Blocker::SliceHoldsOther(flavor, held) => format!(
            "could not assign {flavor} flavor since the original workload is assigned: {}",
            held.as_ref().map_or("", FlavorName::as_str)
        ),
        Blocker::DoesNotProvide(flavor, resource) => {
            format!("flavor {flavor} does not provide resource {resource}")
        }
        Blocker::FlavorWithoutTopology(flavor) => {
            format!("Flavor \"{flavor}\" does not support TopologyAwareScheduling")
        }
        Blocker::FlavorNeedsTopology(flavor) => {
            format!("Flavor \"{flavor}\" supports only TopologyAwareScheduling")
        }
        Blocker::TopologyUnknown(flavor) => {
            format!("Flavor \"{flavor}\" information missing in TAS cache")
        }
        Blocker::LevelMissing(flavor) => {
            format!("Flavor \"{flavor}\" does not contain the requested level")
        }
        Blocker::Unplaced(reason) => unplaced(reason),
        Blocker::Untolerated(flavor, taint) => {
            format!("untolerated taint {} in flavor {flavor}", tainted(taint))
        }
        Blocker::AffinityMismatch(flavor) => format!("flavor {flavor} doesn't match node affinity"),
        Blocker::ExceedsMaximum {
            of,
            assumed,
            requested,
            maximum,
        } => format!(
            "insufficient quota for {} in flavor {}, previously considered podsets requests ({}) + current podset request ({}) > maximum capacity ({})",
            of.resource,
            of.flavor,
            amount(of, *assumed),
            amount(of, *requested),
            amount(of, *maximum),
        ),
        Blocker::Lacks { of, missing } => {
            format!(
                "insufficient unused quota for {} in flavor {}, {} more needed",
                of.resource,
                of.flavor,
                amount(of, *missing)
            )
        }
    }
}

/// What a ClusterQueue asks for and does not get yet, as the end of a sentence.
#[must_use]
pub fn unsupported(unsupported: &Unsupported) -> String {
    match unsupported {
        Unsupported::ConcurrentAdmission => {
            "concurrentAdmissionPolicy is not supported yet and has no effect".to_owned()
        }
    }
}

/// Why a workload was not considered; nothing if that is nobody's business.
#[must_use]
pub fn refused(refusal: &Refusal, cluster_queue: &ClusterQueueName) -> Option<String> {
    match refusal {
        Refusal::FailedChecks => Some("The workload has failed admission checks".to_owned()),
        Refusal::ClusterQueueInactive => Some(format!("ClusterQueue {cluster_queue} is inactive")),
        Refusal::ClusterQueueNotFound => Some(format!("ClusterQueue {cluster_queue} not found")),
        Refusal::NamespaceUnknown => None,
        Refusal::NamespaceMismatch => {
            Some("workload namespace doesn't match ClusterQueue selector".to_owned())
        }
        Refusal::Malformed(what) => Some(format!("the workload cannot be read: {what}")),
        Refusal::RequestsAboveLimits(found) => {
            Some(format!("resources validation failed: {}", aggregate(found)))
        }
        Refusal::OutsideLimitRange(found) => Some(format!(
            "resources didn't satisfy LimitRange constraints: {}",
            aggregate(found)
        )),
    }
}

/// What a bound asks for.
#[must_use]
pub fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::AboveLimits => "requests must not exceed its limits",
        Rule::AboveMax => "requests must not be above the limitRange max",
        Rule::BelowMin => "requests must not be below the limitRange min",
    }
}

fn out_of_bounds(found: &OutOfBounds) -> String {
    let names: Vec<_> = found
        .resources
        .iter()
        .map(|name| format!("{name:?}"))
        .collect();
    let (field, names) = (&found.field, names.join(","));
    format!("{field}: Invalid value: [{names}]: {}", rule(found.rule))
}

/// As Go prints several errors as one.
fn aggregate(errors: &[OutOfBounds]) -> String {
    match errors {
        [one] => out_of_bounds(one),
        several => {
            let several: Vec<_> = several.iter().map(out_of_bounds).collect();
            format!("[{}]", several.join(", "))
        }
    }
}

/// As Go prints a taint.
fn tainted(taint: &Taint) -> String {
    format!(
        "{{{} {} {} <nil>}}",
        taint.key,
        taint.value,
        taint.effect.as_str()
    )
}

fn amount(of: &FlavorResource, amount: Amount) -> String {
    amount.to_quantity(&of.resource).to_string()
}

/// `main: on-demand(NoFit;…), spot(Fit;borrow=1)`, without flavors that fitted at once.
fn considered(pod_set: &PodSetAssignment) -> Option<String> {
    let mut notable: Vec<&Attempt> = pod_set
        .attempts
        .iter()
        .filter(|attempt| attempt.mode != Mode::Fit || attempt.borrow > 0)
        .collect();
    notable.sort_by(|a, b| a.flavor.cmp(&b.flavor));
    let texts: Vec<_> = notable.into_iter().map(attempted).collect();
    (!texts.is_empty()).then(|| format!("{}: {}", pod_set.name, texts.join(", ")))
}

fn attempted(attempt: &Attempt) -> String {
    let mode = match (attempt.mode, attempt.possibility) {
        (Mode::Preempt, Some(Possibility::NoCandidates)) => "preemptionMode=NoCandidates",
        (Mode::Preempt, Some(Possibility::Preempt)) => "preemptionMode=Preempt",
        (Mode::Preempt, Some(Possibility::Reclaim)) => "preemptionMode=Reclaim",
        (Mode::Preempt, None) => "Preempt",
        (Mode::NoFit, _) => "NoFit",
        (Mode::Fit, _) => "Fit",
    };
    let mut text = format!("{}({mode}", attempt.flavor);
    if attempt.borrow > 0 {
        let _ = write!(text, ";borrow={}", attempt.borrow);
    }
    let mut reasons: Vec<_> = attempt.blockers.iter().map(blocker).collect();
    reasons.sort();
    reasons.dedup();
    for reason in reasons {
        let _ = write!(text, ";{reason}");
    }
    text.push(')');
    text
}
