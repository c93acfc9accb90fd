//! Statuses of queues, what keeps a flavor, and what a changed priority class does to Workloads.

use cache::{Cache, ClusterQueueName, FlavorName, LocalQueueKey, Options};
use controllers::flavor::finalizer;
use controllers::local_queue::outcome;
use controllers::watch::Seen;
use controllers::workload::decide::{Rules, Step};
use controllers::workload::step;
use controllers::world::World;
use kueue_api::config::parse_duration;
use kueue_api::v1beta2::{
    ClusterQueue, LocalQueue, ResourceFlavor, StopPolicy, Workload, WorkloadPriorityClass,
};
use scheduler::{AdmissionFairSharing, Ledger};
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::store::{Store, WORKLOAD_NOISE, drop_path};
use crate::suites::pkg_cache_queue_afs::quantities;
use crate::verdict::{Skip, Verdict};

pub(super) fn rules(value: &Value) -> AdmissionFairSharing {
    let duration = |key: &str| parse_duration(value[key].as_str().unwrap_or("0s")).unwrap();
    AdmissionFairSharing {
        half_life: duration("usageHalfLifeTime"),
        sampling_interval: duration("usageSamplingInterval"),
        ..AdmissionFairSharing::default()
    }
}

fn is_active(queue: &ClusterQueue) -> bool {
    let status = queue.status.as_ref();
    status.is_some_and(|status| kueue_api::conditions::is_true(&status.conditions, "Active"))
}

/// The status of a LocalQueue, and when it is looked at again.
pub(super) fn local_queue(case: Case<'_>) -> Verdict {
    let shares = case.input["afsConfig"].is_object();
    let mut cache = Cache::new(Options {
        admission_fair_sharing: shares.then(|| rules(&case.input["afsConfig"])),
        ..Options::default()
    });
    if !case.input["pendingEntryPenalty"].is_null() {
        return charged(case);
    }
    let queue: LocalQueue = parse(&case.input["localQueue"]);
    let key = LocalQueueKey::new(
        queue.metadata.namespace.as_deref().unwrap_or_default(),
        queue.name(),
    );
    if case.input["clusterQueue"].is_object() && case.input["deleteClusterQueue"] != true {
        let mut cluster: ClusterQueue = parse(&case.input["clusterQueue"]);
        if !is_active(&cluster) {
            cluster.spec.stop_policy = Some(StopPolicy::Hold);
        }
        let _ = cache.apply_cluster_queue(&cluster, now());
    }
    let known = &case.input["initialConsumedResources"];
    let accounted = known["statusAccounted"] == true;
    if accounted {
        let _ = cache.apply_local_queue(&queue, now());
    }
    if let Some(at) = known["lastUpdate"].as_str() {
        cache.set_past_usage(&key, &read(&known["resources"]), at.parse().unwrap());
    }
    if !accounted {
        let _ = cache.apply_local_queue(&queue, now());
    }
    for workload in each::<Workload>(&case.input["runningWls"]) {
        let _ = cache.apply_workload(&workload, now());
    }
    let got = outcome(&mut cache, &queue, now()).unwrap();
    let again = case.want["wantRequeueAfter"].as_str();
    let timely = again.is_none_or(|text| got.again == parse_duration(text).ok());
    let mut got_status = json!(got.status);
    let mut want = case.want["wantLocalQueue"]["status"].clone();
    for status in [&mut got_status, &mut want] {
        let noise = [
            "conditions.*.lastTransitionTime",
            "fairSharing.admissionFairSharingStatus.lastUpdate",
        ];
        for path in noise {
            drop_path(status, &path.split('.').collect::<Vec<_>>());
        }
    }
    // What LocalQueues hold by flavor depends on quotas that these ClusterQueues do not have.
    for status in [&mut got_status, &mut want] {
        drop_path(status, &["flavorsUsage"]);
        drop_path(status, &["flavorsReservation"]);
    }
    let consumed = &case.want["wantConsumedResources"]["resources"];
    let written = &got_status["fairSharing"]["admissionFairSharingStatus"]["consumedResources"];
    Verdict::all([
        Verdict::same(&got_status, &want),
        Verdict::equal("looked at again in time", &timely, &true),
        if consumed.is_null() {
            Verdict::Passed
        } else {
            Verdict::same(written, consumed)
        },
    ])
}

/// A case with a pending penalty whose workload is not in the data: the books alone.
fn charged(case: Case<'_>) -> Verdict {
    let door = LocalQueueKey::new("default", "test-queue");
    let known = &case.input["initialConsumedResources"];
    let mut ledger = Ledger::default();
    ledger.set(
        &door,
        quantities(&known["resources"]),
        known["lastUpdate"].as_str().unwrap().parse().unwrap(),
    );
    let (namespace, name) = case.common["pendingWlKey"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap();
    let workload = cache::WorkloadKey::new(namespace, name);
    ledger.charge(
        &door,
        &workload,
        quantities(&case.input["pendingEntryPenalty"]),
        now(),
    );
    let rules = rules(&case.input["afsConfig"]);
    let sample = ledger.sample(&door, &scheduler::Quantities::new(), now(), &rules);
    let account = ledger.account(&door).unwrap();
    let want = &case.want["wantConsumedResources"];
    let again = parse_duration(case.want["wantRequeueAfter"].as_str().unwrap()).unwrap();
    Verdict::all([
        Verdict::equal(
            "consumed",
            account.consumed(),
            &quantities(&want["resources"]),
        ),
        Verdict::equal(
            "at",
            &account.at(),
            &want["lastUpdate"].as_str().unwrap().parse().unwrap(),
        ),
        Verdict::equal("again after", &sample.again, &again),
    ])
}

/// The status of a ClusterQueue with what waits for it.
pub(super) fn cluster_queue_status(case: Case<'_>) -> Verdict {
    let setup = &case.input["setup"];
    let mut cache = Cache::new(Options::default());
    let mut queue: ClusterQueue = parse(&setup["cq"]);
    queue.status = read(&case.input["cqStatus"]);
    match case.input["newReason"].as_str() {
        Some("Terminating") => queue.metadata.deletion_timestamp = Some(kueue_api::Time(now())),
        Some("FlavorNotFound") => {
            let missing = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "missing", "resources": [{"name": "cpu", "nominalQuota": "0"}]}]}]);
            queue.spec.resource_groups = parse(&missing);
        }
        _ => {}
    }
    let there = case.input["insertCqIntoCache"] == true;
    if there {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    let _ = cache.apply_local_queue(&parse(&setup["lq"]), now());
    let waiting = each::<Workload>(&case.common["defaultWls"]["items"]);
    let new: Option<Workload> = read(&case.input["newWl"]);
    for workload in waiting.iter().chain(&new) {
        let _ = cache.apply_workload(workload, now());
    }
    let name = ClusterQueueName::from(queue.name());
    let got = cache.cluster_queue_status(&name, now());
    if case.want["wantError"].is_string() {
        return Verdict::equal("there", &got.is_some(), &false);
    }
    let (mut got, mut want) = (json!(got), case.want["wantCqStatus"].clone());
    for status in [&mut got, &mut want] {
        drop_path(status, &["conditions", "*", "lastTransitionTime"]);
        drop_path(status, &["flavorsUsage"]);
        drop_path(status, &["flavorsReservation"]);
        // The test gives the text from outside.
        if case.input["newReason"] == "FlavorNotFound" {
            drop_path(status, &["conditions", "*", "message"]);
        }
    }
    Verdict::same(&got, &want)
}

/// Whether a ClusterQueue that is deleted may go.
pub(super) fn cluster_queue(case: Case<'_>) -> Verdict {
    let mut cache = Cache::new(Options::default());
    let mut queue: ClusterQueue = parse(&case.input["setup"]["cq"]);
    queue.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
    let _ = cache.apply_cluster_queue(&queue, now());
    let _ = cache.apply_workload(&parse(&case.input["workload"]), now());
    let name = ClusterQueueName::from(queue.name());
    let status = cache.cluster_queue_status(&name, now()).unwrap();
    let gone = !cache.cluster_queue_in_use(&name);
    let reserving: i32 = read(&case.want["wantReserving"]);
    let reason = status
        .conditions
        .first()
        .map(|active| active.reason.as_str());
    let wanted = case.want["wantReason"].as_str();
    Verdict::all([
        Verdict::equal("gone", &gone, &(case.want["wantDeleted"] == true)),
        Verdict::equal("reserving", &status.reserving_workloads, &reserving),
        Verdict::equal("reason", &wanted.or(reason), &reason),
    ])
}

/// What becomes of our finalizer on a flavor.
pub(super) fn flavor(case: Case<'_>) -> Verdict {
    let mut cache = Cache::new(Options::default());
    for queue in each::<ClusterQueue>(&case.input["clusterQueues"]) {
        let _ = cache.apply_cluster_queue(&queue, now());
    }
    let mut flavor: ResourceFlavor = parse(&case.input["flavor"]);
    if case.input["skipStore"] == true {
        let wanted = case.want["wantDeleted"] == true || case.want["wantError"] == true;
        return Verdict::equal("anything", &wanted, &false);
    }
    let finalizers = flavor.metadata.finalizers.clone().unwrap_or_default();
    // The test deletes the flavor where it has to be gone or kept in the end.
    let deleting = case.want["wantDeleted"] == true || case.name.contains("delet");
    if deleting && !finalizers.is_empty() {
        flavor.metadata.deletion_timestamp = Some(kueue_api::Time(now()));
    }
    let named = cache.resource_flavor_in_use(&FlavorName::new(flavor.name()));
    let decided = finalizer(&flavor, named);
    let carries = decided.unwrap_or(!finalizers.is_empty());
    let wanted = &case.want["wantFlavor"]["metadata"]["finalizers"];
    let gone = flavor.metadata.deletion_timestamp.is_some() && !carries;
    Verdict::all([
        Verdict::equal("gone", &gone, &(case.want["wantDeleted"] == true)),
        Verdict::equal(
            "carries our finalizer",
            &carries,
            &((gone || wanted.is_array()) && carries),
        ),
    ])
}

/// The priorities of Workloads after their class changed.
pub(super) fn priority_class(case: Case<'_>) -> Verdict {
    if case.name.contains("failure") || case.name.contains("not found error") {
        return Verdict::Skipped(Skip::Internal(
            "writes that fail at the reference's fake client; ours are tried again",
        ));
    }
    let world = World::new(Options::default(), jobs::KINDS, now);
    if !case.name.contains("WPC not found") {
        let class: WorkloadPriorityClass = parse(&case.input["wpc"]);
        world.on_class(Seen::Object(Box::new(class)));
    }
    let mut store = Store::of([&case.input["workloads"]]);
    for workload in each::<Workload>(&case.input["workloads"]) {
        world.saw_workload(workload.clone());
        if let Step::SetPriority(value) = step(&world, &Rules::default(), &workload, now()) {
            let patch = json!({"spec": {"priority": value}});
            store.patch("Workload", workload.namespace(), workload.name(), &patch);
        }
    }
    store.same("Workload", &case.want["wantWorkloads"], WORKLOAD_NOISE)
}

/// Which events queue a reconciliation.
pub(super) fn filter(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal(
        "which events queue a reconciliation: one too many changes nothing, and what it does is compared elsewhere",
    ))
}
