//! The reconciler of Workloads, one pass of it: the world is told of the objects of the case, the next step is decided and carried out on
//! them. Each case is run under every combination of gates that its file names and that it does not contradict itself.

mod scenario;

use std::collections::BTreeSet;
use std::time::Duration;

use cache::{Draft, Options, Outcome, Report, Words};
use controllers::watch::Seen;
use controllers::workload::decide::{Change, Devices, PodsReady, Rules, Step, late};
use controllers::workload::step;
use controllers::world::World;
use jobs::JobKind;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::DynamicObject;
use kueue_api::config::parse_duration;
use kueue_api::v1beta2::{AdmissionCheckState, ClusterQueue, LocalQueue, Workload, WorkloadStatus};
use scheduler::{Assignment, Entry};
use serde_json::{Value, json};

use crate::compare;
use crate::corpus::{Case, each, now, parse, read};
use crate::store::{Store, WORKLOAD_NOISE, named};
use crate::verdict::Verdict;
use crate::world::write::merged;

use scenario::Scenario;

/// What an API server knows after one pass.
struct Pass {
    store: Store,
    after: Duration,
    failed: bool,
    wrote: bool,
}

pub(super) fn reconciled(case: Case<'_>) -> Verdict {
    if let Some(missing) = not_built(&case) {
        return Verdict::not_built(missing);
    }
    let all = scenario::of(&case);
    Verdict::all(
        all.iter()
            .map(|scenario| named(&scenario.to_string(), once(&case, scenario))),
    )
}

/// Devices of claim templates are not counted here.
fn not_built(case: &Case<'_>) -> Option<&'static str> {
    let templates = !compare::is_empty(&case.input["resourceClaimTemplates"]);
    templates.then_some("DRA")
}

fn once(case: &Case<'_>, scenario: &Scenario) -> Verdict {
    let workload: Workload = parse(&case.input["workload"]);
    let world = world(case, scenario, &workload);
    let rules = rules(case, scenario);
    before(case, &world, &workload);
    let pass = pass(case, &world, &rules, &workload, scenario);
    let after = case.want["wantResult"]["requeueAfter"].as_str();
    let after = after.map(|text| parse_duration(text).unwrap());
    let wanted = scenario.want(case.want, &case.input["workload"]);
    let failed = ["wantError", "wantErrorMsg"]
        .iter()
        .any(|key| !case.want[*key].is_null());
    let mut noise = WORKLOAD_NOISE.to_vec();
    noise.push("status.requeueState.requeueAt");
    Verdict::all([
        Verdict::equal("fails", &pass.failed, &failed),
        same_workload(&pass.store, &wanted, &noise),
        pass.store.same_events(&case.want["wantEvents"]),
        Verdict::from(looks_again(&pass, after.unwrap_or_default())),
        queued(case, &world),
    ])
}

/// A case that expects no Workload does not look at it.
fn same_workload(store: &Store, wanted: &Value, noise: &[&str]) -> Verdict {
    if wanted.is_null() {
        return Verdict::Passed;
    }
    store.same("Workload", &json!([wanted]), noise)
}

/// After a write the reference looks again because of the write; some of its passes say besides when they would have looked anyway.
fn looks_again(pass: &Pass, want: Duration) -> Result<(), String> {
    if pass.after == want || (pass.wrote && want.is_zero()) {
        return Ok(());
    }
    Err(format!("again after {:?}, expected {want:?}", pass.after))
}

/// The workloads that stand in the queue, where a case counts them.
fn queued(case: &Case<'_>, world: &World) -> Verdict {
    let Some(want) = case.want["wantWorkloadsInQueue"].as_u64() else {
        return Verdict::Passed;
    };
    let queue: LocalQueue = parse(&case.input["lq"]);
    let name = cache::ClusterQueueName::from(queue.spec.cluster_queue());
    let counts = world.cache.lock().counts(&name).unwrap();
    let got = counts.pending_active + counts.pending_inadmissible;
    Verdict::equal("queued", &json!(got), &json!(want))
}

fn rules(case: &Case<'_>, scenario: &Scenario) -> Rules {
    let on = |gate: &str| scenario.on(case, gate);
    let mut rules = Rules {
        words: match (
            on("UnadmittedWorkloadsObservability"),
            on("UnadmittedWorkloadsExplicitStatus"),
        ) {
            (false, _) => Words::Legacy,
            (true, false) => Words::Granular,
            (true, true) => Words::Explicit,
        },
        finish_orphans: on("FinishOrphanedWorkloads"),
        admission_gates: on("AdmissionGatedBy"),
        preemption_gates: on("MultiKueueOrchestratedPreemption"),
        devices: match (
            on("KueueDRAIntegration"),
            on("KueueDRARejectWorkloadsWhenDRADisabled"),
        ) {
            (true, _) => Devices::Counted,
            (false, true) => Devices::Refused,
            (false, false) => Devices::Ignored,
        },
        ..Rules::default()
    };
    for option in each::<Value>(&case.input["reconcilerOpts"]) {
        if option["waitForPodsReady"].is_object() {
            rules.pods_ready = Some(pods_ready(&option["waitForPodsReady"]));
        }
        rules.keep_finished = rules
            .keep_finished
            .or(duration(&option["workloadRetention"]["afterFinished"]));
    }
    rules
}

fn duration(value: &Value) -> Option<Duration> {
    value.as_str().map(|text| parse_duration(text).unwrap())
}

fn pods_ready(value: &Value) -> PodsReady {
    PodsReady {
        timeout: duration(&value["timeout"]).unwrap_or_default(),
        recovery_timeout: duration(&value["recoveryTimeout"]),
        limit: read(&value["requeuingBackoffLimitCount"]),
        base: Duration::from_secs(read(&value["requeuingBackoffBaseSeconds"])),
        longest: duration(&value["requeuingBackoffMaxDuration"]).unwrap_or_default(),
        jitter: 0.0,
    }
}

/// The world of a case. A ClusterQueue is in the cache only if its status calls it active, or it is deleted.
fn world(case: &Case<'_>, scenario: &Scenario, workload: &Workload) -> World {
    let options = Options {
        features: cache::Features::read(|gate| scenario.on(case, gate)),
        ..Options::default()
    };
    let kinds: Vec<&'static JobKind> = jobs::KINDS.to_vec();
    let world = World::new(options, &kinds, now);
    if !workload.namespace().is_empty() {
        let name = workload.namespace();
        let labels = json!({"kubernetes.io/metadata.name": name});
        let namespace: Namespace = parse(&json!({"metadata": {"name": name, "labels": labels}}));
        world.on_namespace(Seen::Object(Box::new(namespace)));
    }
    let deleted = |key: &str| case.input[key] == true;
    if case.input["cq"].is_object() {
        let mut queue: ClusterQueue = parse(&case.input["cq"]);
        if deleted("shouldDeleteCQ") {
            queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
        }
        let active = queue
            .status
            .as_ref()
            .is_some_and(|status| kueue_api::conditions::is_true(&status.conditions, "Active"));
        if breaks_selector(case) {
            let selector = json!({"matchExpressions": [{"key": "key", "operator": "InvalOp"}]});
            queue.spec.namespace_selector = Some(parse(&selector));
        }
        world.on_cluster_queue(Seen::Object(Box::new(queue.clone())));
        if !active && !deleted("shouldDeleteCQ") {
            queue.spec.stop_policy = Some(kueue_api::v1beta2::StopPolicy::Hold);
            world.change(|cache, now| cache.apply_cluster_queue(&queue, now));
        }
    }
    if case.input["lq"].is_object() {
        let mut queue: LocalQueue = parse(&case.input["lq"]);
        if deleted("shouldDeleteLQ") {
            queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
        }
        world.on_local_queue(Seen::Object(Box::new(queue)));
    }
    let mut jobs: Vec<Value> = each(&case.input["additionalObjects"]);
    let owners = workload.metadata.owner_references.iter().flatten();
    if case.input["featureGates"]["FinishOrphanedWorkloads"] != true {
        jobs.extend(owners.map(|owner| {
            json!({"apiVersion": owner.api_version, "kind": owner.kind, "metadata": {
                "name": owner.name, "namespace": workload.namespace(), "uid": owner.uid}})
        }));
    }
    for mut job in jobs.into_iter().filter(|job| job["kind"] == "Job") {
        if job["spec"].is_null() {
            job["spec"] = json!({"template": {"spec": {"containers": []}}});
        }
        world.on_job(
            kind_of(&job),
            Seen::Object(Box::new(parse::<DynamicObject>(&job))),
        );
    }
    world
}

/// Some cases break the selector of a ClusterQueue, by code.
fn breaks_selector(case: &Case<'_>) -> bool {
    case.partial.is_some() && case.name.contains("broken ClusterQueue namespace selector")
}

fn kind_of(job: &Value) -> usize {
    let same = |kind: &&JobKind| kind.kind == job["kind"];
    jobs::KINDS.iter().position(same).unwrap()
}

/// The cases that are incomplete try the workload in vain before.
fn before(case: &Case<'_>, world: &World, workload: &Workload) {
    world.saw_workload(workload.clone());
    if case.partial.is_none() || !case.name.contains("bypassed") {
        return;
    }
    let mut cache = world.cache.lock();
    let cycle = cache.begin_cycle(now()).unwrap();
    let in_vain = |head| Entry::of(head, Outcome::NoCandidates(Assignment::default()), None);
    let report = Report {
        entries: cycle.heads.iter().map(in_vain).collect(),
        ..Report::default()
    };
    let _ = cache.settle(&report, now());
}

fn pass(
    case: &Case<'_>,
    world: &World,
    rules: &Rules,
    workload: &Workload,
    scenario: &Scenario,
) -> Pass {
    let mut store = Store::of([&case.input["workload"]]);
    let (namespace, name) = (workload.namespace(), workload.name());
    let next = step(world, rules, workload, now());
    let mut after = Duration::ZERO;
    let mut failed = false;
    let wrote = matches!(next, Step::Write(_));
    match next {
        Step::Rest(alarm) => after = alarm.unwrap_or_default(),
        Step::DropFinalizer => let_go(&mut store, namespace, name),
        Step::Delete => {
            let_go(&mut store, namespace, name);
            store.delete("Workload", namespace, name);
        }
        Step::DeleteExpired => {
            let_go(&mut store, namespace, name);
            store.delete("Workload", namespace, name);
            let note = "Deleted finished workload due to elapsed retention";
            store.event(namespace, name, "Normal", "Deleted", note);
        }
        Step::SetPriority(value) => {
            store.patch(
                "Workload",
                namespace,
                name,
                &json!({"spec": {"priority": value}}),
            );
        }
        Step::Deactivate => {
            store.patch(
                "Workload",
                namespace,
                name,
                &json!({"spec": {"active": false}}),
            );
        }
        Step::Write(change) if case.input["patchErr"].is_null() => {
            after = write(&mut store, world, rules, workload, *change, scenario);
        }
        Step::Write(_) => failed = !case.input["patchErr"].to_string().contains("not found"),
    }
    Pass {
        store,
        after,
        failed,
        wrote,
    }
}

fn let_go(store: &mut Store, namespace: &str, name: &str) {
    let finalizers = json!({"metadata": {"finalizers": null}});
    store.patch("Workload", namespace, name, &finalizers);
}

/// Writes a status and sends its events. How long until the next look, if nothing is left to do after it.
fn write(
    store: &mut Store,
    world: &World,
    rules: &Rules,
    workload: &Workload,
    change: Change,
    scenario: &Scenario,
) -> Duration {
    let (namespace, name) = (workload.namespace(), workload.name());
    let old = workload.status.clone().unwrap_or_default();
    let status: WorkloadStatus = if scenario.merge_patch() {
        change.status
    } else {
        merged(old, change.status)
    };
    store.replace_status("Workload", namespace, name, &status);
    for event in change.events {
        let kind = match event.kind {
            cache::EventKind::Normal => "Normal",
            cache::EventKind::Warning => "Warning",
        };
        store.event(namespace, name, kind, &event.reason, &event.note);
    }
    let written = Workload {
        status: Some(status),
        ..workload.clone()
    };
    world.saw_workload(written.clone());
    match step(world, rules, &written, now()) {
        Step::Rest(alarm) if change.evicted.is_none() => alarm.unwrap_or_default(),
        _ => Duration::ZERO,
    }
}

/// Which checks a pass lists.
pub(super) fn listed_checks(case: Case<'_>) -> Verdict {
    let (workload, queue): (Workload, ClusterQueue) =
        (parse(&case.input["wl"]), parse(&case.input["cq"]));
    let names = kueue_api::workload::checks::required(&workload, &queue);
    let drafted = Draft::of(&workload, now()).checked_by(&names).done();
    same_checks(&drafted.admission_checks, &case.want["wantChecks"])
}

/// What a list of checks becomes when others are asked for.
pub(super) fn synced_checks(case: Case<'_>) -> Verdict {
    let names: BTreeSet<String> = read(&case.input["list"]);
    let before = WorkloadStatus {
        admission_checks: each::<AdmissionCheckState>(&case.input["states"]),
        ..WorkloadStatus::default()
    };
    let after = Draft::from_status(before.clone(), None, now())
        .checked_by(&names)
        .done();
    Verdict::all([
        same_checks(&after.admission_checks, &case.want["wantStates"]),
        Verdict::equal(
            "changes",
            &json!(before != after),
            &json!(case.want["wantChange"] == true),
        ),
    ])
}

fn same_checks(got: &[AdmissionCheckState], want: &Value) -> Verdict {
    let timeless = |checks: &Value| -> Vec<Value> {
        let mut checks: Vec<Value> = each(checks);
        for check in &mut checks {
            crate::store::drop_path(check, &["lastTransitionTime"]);
        }
        checks
    };
    Verdict::same(&timeless(&json!(got)), &json!(timeless(want)))
}

/// Whether a workload waits for its pods, and how long it still may.
pub(super) fn not_ready(case: Case<'_>) -> Verdict {
    let workload: Workload = parse(&case.input["workload"]);
    let rules = &case.input["waitForPodsReady"];
    let found = rules
        .is_object()
        .then(|| late(&workload, &pods_ready(rules), now()))
        .flatten();
    let cause = found.map_or("", |late| late.cause.name());
    let left = found.and_then(|late| late.left).unwrap_or_default();
    let want = duration(&case.want["wantRecheckAfter"]).unwrap_or_default();
    Verdict::all([
        Verdict::equal(
            "cause",
            &cause,
            &case.want["wantUnderlyingCause"]
                .as_str()
                .unwrap_or_default(),
        ),
        Verdict::equal("again after", &left, &want),
    ])
}
