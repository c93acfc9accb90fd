//! What becomes of the `ProvisioningRequest`s of one Workload: what is answered to its checks, which requests go, which are made. A function of
//! the Workload, of the requests that it owns, and of the configurations of its checks. Reference section 4.16.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::PodTemplate;
use kueue_api::ObjectMeta;
use kueue_api::conditions::{MAX_CONDITION_MESSAGE, truncate};
use kueue_api::names::annotations::PROVISIONING_REQUEST_PREFIX;
use kueue_api::v1beta2::{
    AdmissionCheckState, CheckState, ProvisioningRequestConfigSpec, ResourceFlavorSpec, Workload,
};
use kueue_api::workload::checks::set_state;

use super::pod_sets::{self, Unfit};
use super::request::{
    Request, RequestSpec, RequestStatus, RequestedPods, TemplateName, name_of, template_name,
};

/// What a check is answered whose configuration cannot be found.
pub const INACTIVE: &str = "the check is not active";
/// What a check is answered that has nothing to ask for.
pub const NOT_NEEDED: &str = "the provisioning request is not needed";

/// Defaults of a retry strategy.
const LIMIT: i32 = 3;
const BASE: i32 = 60;
const MOST: i32 = 1800;

/// All that a decision rests on.
#[derive(Debug)]
pub struct View<'a> {
    pub workload: &'a Workload,
    /// The checks of the Workload that are ours, each with its configuration if that can be found.
    pub checks: &'a [(String, Option<ProvisioningRequestConfigSpec>)],
    /// The requests that the Workload owns.
    pub requests: &'a [Arc<Request>],
    pub flavors: &'a BTreeMap<String, ResourceFlavorSpec>,
    /// Requests go with an eviction (gate `CleanupProvisioningRequestsOnEviction`).
    pub cleans_up: bool,
    pub now: Timestamp,
}

/// One thing to do, in order, up to the first that fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The states of all checks, and what is told of those of ours.
    Answer {
        states: Vec<AdmissionCheckState>,
        told: Vec<String>,
    },
    /// This request is of no use (any more).
    Delete(String),
    /// Ask for nodes: the templates first, then the request, which they belong to from then on.
    Create {
        check: String,
        request: Box<Request>,
        templates: Vec<PodTemplate>,
    },
    /// The templates of this request belong to it.
    Own(Arc<Request>),
}

/// Decides.
///
/// # Errors
/// When the Workload cannot be asked for as it is.
pub fn plan(view: &View<'_>) -> Result<Vec<Act>, Unfit> {
    let workload = view.workload;
    let (over, leaves) = (workload.is_finished(), workload.is_evicted());
    if over || (leaves && view.cleans_up) {
        let all = view.requests.iter();
        return Ok(all
            .map(|request| Act::Delete(request.name().to_owned()))
            .collect());
    }
    if leaves || !workload.has_quota_reservation() {
        return Ok(Vec::new());
    }
    let current = current(view)?;
    let (answer, states) = answer(view, &current)?;
    let mut acts: Vec<Act> = answer.into_iter().collect();
    let used = |request: &&Arc<Request>| {
        let mut all = current.values();
        all.any(|one| one.name() == request.name())
    };
    let unused = view.requests.iter().filter(|request| !used(request));
    acts.extend(unused.map(|request| Act::Delete(request.name().to_owned())));
    for (check, config) in view.checks {
        if let Some(config) = config {
            let state = states.iter().find(|state| state.name == *check);
            acts.extend(next(view, check, config, state, current.get(check))?);
        }
    }
    Ok(acts)
}

/// For each check the request of its last attempt that is still what the configuration asks for.
///
/// # Errors
/// When the Workload cannot be asked for as it is.
pub fn current(view: &View<'_>) -> Result<BTreeMap<String, Arc<Request>>, Unfit> {
    let mut found = BTreeMap::new();
    for (check, config) in view.checks {
        let Some(config) = config else { continue };
        if !pod_sets::is_needed(view.workload, config)? {
            continue;
        }
        let own = view.requests.iter().filter(|one| in_sync(one, config));
        let attempts = own.filter_map(|one| Some((one.attempt(view.workload.name(), check)?, one)));
        if let Some((_, last)) = attempts.max_by_key(|(attempt, _)| *attempt) {
            found.insert(check.clone(), last.clone());
        }
    }
    Ok(found)
}

fn in_sync(request: &Request, config: &ProvisioningRequestConfigSpec) -> bool {
    let has = |(name, value): (&String, &String)| request.spec.parameters.get(name) == Some(value);
    request.spec.provisioning_class_name == config.provisioning_class_name
        && config.parameters.iter().all(has)
}

type Answered = (Option<Act>, Vec<AdmissionCheckState>);

/// What the requests mean for the checks.
fn answer(view: &View<'_>, current: &BTreeMap<String, Arc<Request>>) -> Result<Answered, Unfit> {
    let status = view.workload.status.as_ref();
    let before = status.map_or(&[][..], |status| &status.admission_checks);
    let mut states = before.to_vec();
    let mut told = Vec::new();
    for (name, config) in view.checks {
        let Some(known) = before.iter().find(|state| state.name == *name) else {
            continue;
        };
        let request = current.get(name);
        let state = state_of(view, known, config.as_ref(), request.map(AsRef::as_ref))?;
        if state.state != known.state {
            let mut note = format!(
                "Admission check {name} updated state from {} to {}",
                known.state, state.state
            );
            if !state.message.is_empty() {
                note = format!("{note} with message: {}", state.message);
            }
            told.push(note);
        }
        let answer = AdmissionCheckState {
            message: truncate(&state.message, MAX_CONDITION_MESSAGE),
            last_transition_time: None,
            ..state
        };
        set_state(&mut states, answer, view.now);
    }
    let act = (states != before).then(|| Act::Answer {
        states: states.clone(),
        told,
    });
    Ok((act, states))
}

/// The state of one check.
fn state_of(
    view: &View<'_>,
    known: &AdmissionCheckState,
    config: Option<&ProvisioningRequestConfigSpec>,
    request: Option<&Request>,
) -> Result<AdmissionCheckState, Unfit> {
    let say = |state, message: &str| AdmissionCheckState {
        state,
        message: message.to_owned(),
        ..known.clone()
    };
    let Some(config) = config else {
        return Ok(say(CheckState::Pending, INACTIVE));
    };
    if !pod_sets::is_needed(view.workload, config)? {
        return Ok(if known.state == CheckState::Ready {
            known.clone()
        } else {
            AdmissionCheckState {
                pod_set_updates: Vec::new(),
                ..say(CheckState::Ready, NOT_NEEDED)
            }
        });
    }
    let Some(request) = request else {
        return Ok(known.clone());
    };
    let workload = view.workload;
    let failed = |what: &str, why: &str| tried(workload, known, config, request, (what, why));
    Ok(if let Some(why) = request.is("Failed") {
        failed("Retrying after failure", why)
    } else if let Some(why) = request.is("CapacityRevoked") {
        // The nodes are gone, so that pods would wait for ever.
        if workload.is_active() {
            say(CheckState::Rejected, why)
        } else {
            known.clone()
        }
    } else if let Some(why) = request.is("BookingExpired") {
        if workload.is_admitted() {
            known.clone()
        } else {
            failed("Retrying after booking expired", why)
        }
    } else if let Some(how) = request.is("Provisioned") {
        if known.state == CheckState::Ready {
            known.clone()
        } else {
            AdmissionCheckState {
                pod_set_updates: pod_sets::updates(workload, request, config),
                ..say(CheckState::Ready, how)
            }
        }
    } else if request.is("Accepted").is_some() {
        // Until it is provisioned, that condition says when it may be.
        match request.condition("Provisioned") {
            Some(eta) => say(CheckState::Pending, &eta.message),
            None => known.clone(),
        }
    } else {
        say(CheckState::Pending, "")
    })
}

/// An attempt failed: another one comes after a while, up to a limit. An answer that was given to this attempt is not given again.
fn tried(
    workload: &Workload,
    known: &AdmissionCheckState,
    config: &ProvisioningRequestConfigSpec,
    request: &Request,
    (what, why): (&str, &str),
) -> AdmissionCheckState {
    let strategy = config.retry_strategy.clone().unwrap_or_default();
    let attempt = request.attempt(workload.name(), &known.name).unwrap_or(1);
    let mut state = known.clone();
    if attempt > strategy.backoff_limit_count.unwrap_or(LIMIT) {
        state.state = CheckState::Rejected;
        why.clone_into(&mut state.message);
        return state;
    }
    state.message = format!("{what}: {why}");
    let before = known.retry_count.unwrap_or_default();
    if attempt > before {
        let base = i64::from(strategy.backoff_base_seconds.unwrap_or(BASE));
        let most = i64::from(strategy.backoff_max_seconds.unwrap_or(MOST));
        let doubled = u32::try_from(before)
            .ok()
            .and_then(|n| 1_i64.checked_shl(n));
        let wait = doubled.and_then(|n| base.checked_mul(n)).unwrap_or(most);
        state.state = CheckState::Retry;
        state.requeue_after_seconds = i32::try_from(wait.clamp(0, most)).ok();
    }
    state
}

/// What is done about the request of one check.
fn next(
    view: &View<'_>,
    check: &str,
    config: &ProvisioningRequestConfigSpec,
    state: Option<&AdmissionCheckState>,
    request: Option<&Arc<Request>>,
) -> Result<Option<Act>, Unfit> {
    let is = |wanted| state.is_some_and(|state| state.state == wanted);
    if is(CheckState::Ready) || !pod_sets::is_needed(view.workload, config)? {
        return Ok(None);
    }
    let Some(request) = request else {
        // A request that went with an eviction has left its number in the check.
        let before = state.and_then(|state| state.retry_count);
        return create(view, check, config, before.unwrap_or_default() + 1).map(Some);
    };
    let expired = request.is("BookingExpired").is_some() && !view.workload.is_admitted();
    if (request.is("Failed").is_some() || expired) && is(CheckState::Pending) {
        let attempt = request.attempt(view.workload.name(), check).unwrap_or(1);
        return create(view, check, config, attempt + 1).map(Some);
    }
    // Whoever was interrupted in between finds it without an answer.
    let fresh = request.status == RequestStatus::default();
    Ok(fresh.then(|| Act::Own(request.clone())))
}

fn create(
    view: &View<'_>,
    check: &str,
    config: &ProvisioningRequestConfigSpec,
    attempt: i32,
) -> Result<Act, Unfit> {
    let workload = view.workload;
    let name = name_of(workload.name(), check, attempt);
    let merged = pod_sets::merged(workload, config)?;
    let (mut pod_sets, mut templates) = (Vec::new(), Vec::new());
    for one in &merged {
        let template = template_name(&name, &one.set.name);
        pod_sets.push(RequestedPods {
            count: one.count,
            pod_template_ref: TemplateName {
                name: template.clone(),
            },
        });
        templates.push(pod_sets::template(workload, template, one, view.flavors)?);
    }
    let request = Request {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: workload.metadata.namespace.clone(),
            labels: Some(pod_sets::managed()),
            owner_references: Some(vec![super::owner_of(workload)]),
            ..ObjectMeta::default()
        },
        spec: RequestSpec {
            provisioning_class_name: config.provisioning_class_name.clone(),
            parameters: parameters(workload, config),
            pod_sets,
        },
        status: RequestStatus::default(),
    };
    Ok(Act::Create {
        check: check.to_owned(),
        request: Box::new(request),
        templates,
    })
}

/// Those of the configuration, and those that the job's own annotations name, which count more.
fn parameters(
    workload: &Workload,
    config: &ProvisioningRequestConfigSpec,
) -> BTreeMap<String, String> {
    let notes = workload.metadata.annotations.iter().flatten();
    let own = notes.filter_map(|(key, value)| {
        let name = key.strip_prefix(PROVISIONING_REQUEST_PREFIX)?;
        Some((name.to_owned(), value.clone()))
    });
    config.parameters.clone().into_iter().chain(own).collect()
}

/// The states of the checks once a creation has failed.
#[must_use]
pub fn failed(
    states: &[AdmissionCheckState],
    check: &str,
    message: &str,
    now: Timestamp,
) -> Vec<AdmissionCheckState> {
    let mut states = states.to_vec();
    if let Some(known) = states.iter().find(|state| state.name == check).cloned() {
        let message = truncate(message, MAX_CONDITION_MESSAGE);
        set_state(&mut states, AdmissionCheckState { message, ..known }, now);
    }
    states
}
