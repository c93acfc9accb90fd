//! Schemas of ClusterQueue, Cohort and LocalQueue.

use serde_json::json;

use crate::parts::{
    check_reference, conditions, fair_sharing, fair_sharing_status, label_selector, reference,
    resource_groups, stop_policy, usage,
};
use crate::schema::{Schema, int32, map, map_list, object, one_of, quantity, set_list, time};

pub(crate) fn cluster_queue() -> Schema {
    object()
        .doc("ClusterQueue governs a pool of quota and how pending workloads get it.")
        .field("spec", cluster_queue_spec())
        .field("status", cluster_queue_status())
}

fn cluster_queue_spec() -> Schema {
    object()
        .doc("What the queue offers, and its policies.")
        .field("admissionChecksStrategy", admission_checks())
        .field("admissionScope", admission_scope())
        .field("cohortName", reference().doc("Cohort whose members lend each other unused quota. Empty: the queue stands alone."))
        .field("concurrentAdmissionPolicy", concurrent_admission())
        .field("fairSharing", fair_sharing("Weight of the queue when fair sharing is enabled."))
        .field("flavorFungibility", flavor_fungibility())
        .field("namespaceSelector", nullable_selector())
        .field("preemption", preemption())
        .field(
            "queueingStrategy",
            one_of(&["StrictFIFO", "BestEffortFIFO"])
                .default("BestEffortFIFO")
                .doc("StrictFIFO: the oldest workload blocks the younger ones. BestEffortFIFO: a younger one that fits may pass."),
        )
        .field("resourceGroups", resource_groups("Quotas. Each resource and each flavor belongs to one group only."))
        .field("stopPolicy", stop_policy("Hold: no new admissions. HoldAndDrain: admitted workloads are evicted as well."))
        .rule(
            "has(self.cohortName) || !has(self.resourceGroups) || self.resourceGroups.all(rg, rg.flavors.all(f, f.resources.all(r, !has(r.borrowingLimit))))",
            "borrowingLimit must be nil when cohort is empty",
        )
}

fn nullable_selector() -> Schema {
    label_selector("Namespaces whose workloads may use the queue. Absent: none. Empty: all.")
}

fn admission_checks() -> Schema {
    let rule = object()
        .required("name", check_reference().doc("Name of the AdmissionCheck."))
        .field(
            "onFlavors",
            set_list(reference())
                .items(0, 64)
                .doc("Flavors for which the check runs. Empty: all flavors of the queue."),
        );
    object()
        .doc("Checks that a workload must pass after it reserved quota.")
        .field(
            "admissionChecks",
            map_list(&["name"], rule)
                .items(1, 64)
                .doc("The checks, each with the flavors it is for."),
        )
}

fn admission_scope() -> Schema {
    object()
        .doc("How the LocalQueues of this queue compete.")
        .required(
            "admissionMode",
            one_of(&["UsageBasedAdmissionFairSharing", "NoAdmissionFairSharing"])
                .doc("Whether past usage decides who is next."),
        )
}

fn concurrent_admission() -> Schema {
    let constraints = object().doc("Limits of the migration.").field(
        "lastAcceptableFlavorName",
        reference().doc("Last flavor of the list that is still acceptable."),
    );
    let migration = object()
        .doc("What becomes of an admitted variant when a better flavor gets free.")
        .field("constraints", constraints)
        .required(
            "mode",
            one_of(&["TryPreferredFlavors", "RetainFirstAdmission"])
                .doc("Whether better flavors are still tried after admission."),
        );
    object()
        .doc("Admission of a workload on several flavors at once. Immutable.")
        .required("migration", migration)
}

fn flavor_fungibility() -> Schema {
    let policy = |default: &str, what: &str| {
        one_of(&["MayStopSearch", "TryNextFlavor"])
            .default(default)
            .doc(what)
    };
    object()
        .default(json!({}))
        .doc("Whether the next flavor is tried before borrowing or preempting in the present one.")
        .field("preference", one_of(&["BorrowingOverPreemption", "PreemptionOverBorrowing"]).doc("What is preferred when every flavor needs one of the two."))
        .field("whenCanBorrow", policy("MayStopSearch", "What to do at a flavor in which the workload fits by borrowing."))
        .field("whenCanPreempt", policy("TryNextFlavor", "What to do at a flavor in which the workload fits by preempting."))
        .rule(
            "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && self.whenCanPreempt == 'TryNextFlavor')",
            "preference can only be set when both whenCanBorrow and whenCanPreempt are TryNextFlavor",
        )
}

fn preemption() -> Schema {
    let borrow = object()
        .default(json!({}))
        .doc("Preemption in the cohort while the preemptor borrows.")
        .field("maxPriorityThreshold", int32().doc("Only workloads up to this priority may be preempted; absent for all below the preemptor's."))
        .field("policy", one_of(&["Never", "LowerPriority"]).default("Never").doc("Which workloads may be preempted."));
    object()
        .default(json!({}))
        .doc("Which workloads may be preempted to make room.")
        .field("borrowWithinCohort", borrow)
        .field("reclaimWithinCohort", one_of(&["Never", "LowerPriority", "Any"]).default("Never").doc("Workloads of other queues that use quota of this one."))
        .field(
            "withinClusterQueue",
            one_of(&["Never", "LowerPriority", "LowerOrNewerEqualPriority"]).default("Never").doc("Workloads of this queue."),
        )
        .rule(
            "!(self.reclaimWithinCohort == 'Never' && has(self.borrowWithinCohort) && self.borrowWithinCohort.policy != 'Never')",
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        )
}

fn counts(schema: Schema) -> Schema {
    schema
        .field(
            "admittedWorkloads",
            int32().doc("Workloads that are admitted and not finished."),
        )
        .field(
            "pendingWorkloads",
            int32().doc("Workloads that wait for admission."),
        )
        .field(
            "reservingWorkloads",
            int32().doc("Workloads that hold quota and are not finished."),
        )
}

fn cluster_queue_status() -> Schema {
    counts(object().doc("What the queue's workloads use now."))
        .field(
            "conditions",
            conditions("Active says whether the queue can admit workloads, and why not."),
        )
        .field("fairSharing", fair_sharing_status())
        .field(
            "flavorsReservation",
            usage(true, "Quota that is reserved, by flavor."),
        )
        .field(
            "flavorsUsage",
            usage(true, "Quota that admitted workloads use, by flavor."),
        )
}

pub(crate) fn cohort() -> Schema {
    let spec = object()
        .doc("Place in the tree, and quota that all members share.")
        .field(
            "fairSharing",
            fair_sharing("Weight of the cohort when fair sharing is enabled."),
        )
        .field(
            "parentName",
            reference().doc("Cohort above this one. Empty: this one is a root."),
        )
        .field(
            "resourceGroups",
            resource_groups("Quota of the cohort itself, on top of what its members have."),
        );
    object()
        .doc("Cohort is a node of the tree in which ClusterQueues borrow and lend quota.")
        .field("spec", spec)
        .field(
            "status",
            object()
                .doc("Share of the cohort.")
                .field("fairSharing", fair_sharing_status()),
        )
}

pub(crate) fn local_queue() -> Schema {
    let spec = object()
        .doc("Where workloads of this queue are sent.")
        .field("clusterQueue", reference().rule("self == oldSelf", "field is immutable").doc("ClusterQueue behind this queue. Immutable."))
        .field("fairSharing", fair_sharing("Weight of the queue among those of a ClusterQueue with admission fair sharing."))
        .field("stopPolicy", stop_policy("Hold: no new reservations from this queue. HoldAndDrain: admitted workloads are evicted as well."));
    object()
        .doc(
            "LocalQueue is the queue of a namespace: jobs name it, and it leads to a ClusterQueue.",
        )
        .field("spec", spec)
        .field("status", local_queue_status())
}

fn local_queue_status() -> Schema {
    let usage_status = object()
        .doc("Usage over time, for admission fair sharing.")
        .required(
            "consumedResources",
            map(quantity()).doc("Resources used, older usage counting less."),
        )
        .required("lastUpdate", time().doc("When the usage was computed."));
    counts(object().doc("What the queue's workloads use now."))
        .field(
            "conditions",
            conditions("Active says whether workloads of this queue can be admitted, and why not."),
        )
        .field(
            "fairSharing",
            fair_sharing_status().field("admissionFairSharingStatus", usage_status),
        )
        .field(
            "flavorsReservation",
            usage(false, "Quota that is reserved, by flavor."),
        )
        .field(
            "flavorsUsage",
            usage(false, "Quota that admitted workloads use, by flavor."),
        )
}
