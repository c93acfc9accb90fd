//! Every text of this room that people read: conditions of queues, and of workloads beside what the scheduler says about them.
//! Equal to the reference's, word for word, but for what is not built yet.

use kueue_api::conditions::{active_reasons, reasons};
use scheduler::NamespaceName;
use scheduler::messages::pending_reason;

use crate::readiness::{Obstacle, Readiness};
use crate::status::{Door, Hold, PendingReason};

pub(crate) const ADMITTED: &str = "The workload is admitted";
pub(crate) const CHECKS_NOT_READY: &str = "The workload has not all checks ready";
pub(crate) const PLACES_PENDING: &str = "There are pending delayed topology requests";
pub(crate) const NO_RESERVATION: &str = "The workload has no reservation";

/// Why a workload has to leave of which several nodes failed.
pub(crate) fn several_nodes_failed(nodes: &[&str]) -> String {
    format!(
        "Workload eviction triggered due to multiple TAS assigned node failures, including: {}",
        nodes.join(", ")
    )
}

/// Why a workload is pending whose namespace is not there.
pub(crate) fn unknown_namespace(name: &NamespaceName) -> String {
    format!("workload namespace \"{name}\" does not exist: namespaces \"{name}\" not found")
}

/// What a condition says that an admission has put to rest.
pub(crate) fn previously(message: &str) -> String {
    format!("Previously: {message}")
}

/// The condition `Active` of a ClusterQueue.
pub(crate) fn readiness(obstacles: &[Obstacle]) -> Readiness {
    let (active, reason, message) = match obstacles {
        [] => (
            true,
            active_reasons::READY,
            "Can admit new workloads".to_owned(),
        ),
        [Obstacle::Terminating, ..] => {
            let text = "Can't admit new workloads; clusterQueue is terminating";
            (false, active_reasons::TERMINATING, text.to_owned())
        }
        [first, ..] => {
            let texts: Vec<_> = obstacles
                .iter()
                .map(|obstacle| stated(obstacle).1)
                .collect();
            let message = format!("Can't admit new workloads: {}.", texts.join(", "));
            (false, stated(first).0, message)
        }
    };
    Readiness {
        active,
        reason,
        message,
    }
}

/// Reason and text of one obstacle.
fn stated(obstacle: &Obstacle) -> (&'static str, String) {
    match obstacle {
        Obstacle::Terminating => (active_reasons::TERMINATING, "is terminating".to_owned()),
        Obstacle::Stopped => (active_reasons::STOPPED, "is stopped".to_owned()),
        Obstacle::Unreadable(what) => (active_reasons::UNKNOWN, format!("cannot be read: {what}")),
        Obstacle::MissingFlavors(names) => (
            active_reasons::FLAVOR_NOT_FOUND,
            format!("references missing ResourceFlavor(s): {}", names.join(",")),
        ),
        Obstacle::MissingChecks(names) => (
            active_reasons::ADMISSION_CHECK_NOT_FOUND,
            format!("references missing AdmissionCheck(s): {}", names.join(",")),
        ),
        Obstacle::InactiveChecks(names) => (
            active_reasons::ADMISSION_CHECK_INACTIVE,
            format!("references inactive AdmissionCheck(s): {}", names.join(",")),
        ),
        Obstacle::SeveralMultiKueueChecks(names) => (
            active_reasons::MULTIPLE_MULTIKUEUE_ADMISSION_CHECKS,
            format!(
                "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: {}",
                names.join(",")
            ),
        ),
        Obstacle::MultiKueueCheckPerFlavor(names) => (
            active_reasons::MULTIKUEUE_ADMISSION_CHECK_APPLIED_PER_FLAVOR,
            format!(
                "Cannot specify MultiKueue AdmissionCheck per flavor, found: {}",
                names.join(",")
            ),
        ),
        Obstacle::MultiKueueWithProvisioning(multikueue, provisioning) => (
            active_reasons::MULTIKUEUE_WITH_PROVISIONING_REQUEST,
            format!(
                "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: {}, {}",
                multikueue.join(","),
                provisioning.join(",")
            ),
        ),
        Obstacle::MissingTopology { topology, flavor } => (
            active_reasons::TOPOLOGY_NOT_FOUND,
            format!("there is no Topology \"{topology}\" for TAS flavor \"{flavor}\""),
        ),
    }
}

/// The condition `Active` of a LocalQueue: status, reason, message.
pub(crate) fn door(door: Door) -> (bool, &'static str, &'static str) {
    let cannot = "Can't submit new workloads to clusterQueue";
    match door {
        Door::Open => (
            true,
            active_reasons::READY,
            "Can submit new workloads to localQueue",
        ),
        Door::Stopped => (false, active_reasons::STOPPED, "LocalQueue is stopped"),
        Door::LeadsNowhere => (false, active_reasons::CLUSTER_QUEUE_DOES_NOT_EXIST, cannot),
        Door::LeadsToInactive => (false, active_reasons::CLUSTER_QUEUE_IS_INACTIVE, cannot),
    }
}

/// Why a workload is pending that nobody tries.
pub(crate) fn held(hold: &Hold) -> PendingReason {
    let (reason, message) = match hold {
        Hold::Bypassed(why) => (
            pending_reason(*why),
            "Bypassed scheduling evaluation because an equivalent workload recently failed"
                .to_owned(),
        ),
        Hold::NoLocalQueue(name) => (
            reasons::MISCONFIGURED,
            format!("LocalQueue {name} doesn't exist"),
        ),
        Hold::LocalQueueStopped(name) => {
            (reasons::SUSPENDED, format!("LocalQueue {name} is inactive"))
        }
        Hold::NoClusterQueue(name) => (
            reasons::MISCONFIGURED,
            format!("ClusterQueue {name} doesn't exist"),
        ),
        Hold::ClusterQueueInactive(name) => (
            reasons::SUSPENDED,
            format!("ClusterQueue {name} is inactive"),
        ),
    };
    PendingReason { reason, message }
}
