//! Schema of the status of a Workload.

use crate::parts::{check_reference, conditions, pod_set_name, reference, tolerations};
use crate::schema::{
    Schema, atomic_list, int32, map, map_list, object, one_of, quantity, string, time,
};
use crate::workload::{cluster_names, node_name};

pub(crate) fn status() -> Schema {
    let reclaimable = object()
        .required(
            "count",
            int32().min(0).doc("Pods whose quota is no longer needed."),
        )
        .required("name", pod_set_name());
    let node = object().required("name", node_name().doc("Name of the node."));
    object()
        .doc("What was decided about the workload.")
        .field("accumulatedPastExecutionTimeSeconds", int32().doc("Time spent admitted before the present admission."))
        .field("admission", admission())
        .field("admissionChecks", map_list(&["name"], check()).items(0, 8).doc("State of each check the workload must pass."))
        .field("clusterName", string().length(0, 256).doc("Worker cluster that the workload runs in."))
        .field("conditions", conditions("QuotaReserved, Admitted, Evicted, Preempted, Requeued, PodsReady, Finished: the course of the workload."))
        .field("nominatedClusterNames", cluster_names().doc("Worker clusters that the workload is tried in."))
        .field("preemptionGates", map_list(&["name"], gate()).items(0, 8).doc("State of the preemption gates."))
        .field("reclaimablePods", map_list(&["name"], reclaimable).items(0, 18).doc("Pods of each set that have finished."))
        .field("requeueState", requeue_state())
        .field("resourceRequests", map_list(&["name"], request()).items(0, 18).doc("Requests as they are counted, while there is no reservation."))
        .field("schedulingStats", scheduling_stats())
        .field("unhealthyNodes", map_list(&["name"], node).items(0, 8).doc("Nodes whose pods must be placed anew."))
        .rule(
            "!has(oldSelf.clusterName) || !has(self.clusterName) || oldSelf.clusterName == self.clusterName",
            "clusterName is immutable once set",
        )
        .rule(
            "!has(self.clusterName) || !has(self.nominatedClusterNames) || size(self.nominatedClusterNames) == 0",
            "clusterName and nominatedClusterNames are mutually exclusive",
        )
}

fn admission() -> Schema {
    let assignment = object()
        .field("count", int32().min(0).doc("Pods that were admitted."))
        .field(
            "delayedTopologyRequest",
            one_of(&["Pending", "Ready"]).doc("Whether the topology is still to be chosen."),
        )
        .field("flavors", map(reference()).doc("Flavor of each resource."))
        .required("name", pod_set_name().default("main"))
        .field(
            "resourceUsage",
            map(quantity()).doc("Total of each resource over all pods of the set."),
        )
        .field("topologyAssignment", topology_assignment());
    object()
        .doc("Where the quota was reserved. Immutable except for the topology.")
        .required(
            "clusterQueue",
            reference().doc("ClusterQueue that gave the quota."),
        )
        .required(
            "podSetAssignments",
            map_list(&["name"], assignment)
                .items(0, 18)
                .doc("What each set was given."),
        )
}

fn topology_assignment() -> Schema {
    let individual = object()
        .doc("A value for each domain: prefix, root and suffix joined.")
        .field(
            "prefix",
            string()
                .length(0, 63)
                .doc("Beginning shared by all values."),
        )
        .required(
            "roots",
            atomic_list(string().length(0, 63))
                .items(1, 100_000)
                .doc("The part that differs, one for each domain."),
        )
        .field(
            "suffix",
            string().length(0, 63).doc("End shared by all values."),
        );
    let values = object()
        .field("individual", individual)
        .field(
            "universal",
            string().length(0, 63).doc("One value for all domains."),
        )
        .rule(
            "has(self.universal) != has(self.individual)",
            "exactly one of universal and individual must be set",
        );
    let counts = object()
        .doc("Pods in each domain.")
        .field(
            "individual",
            atomic_list(int32().min(1))
                .items(0, 100_000)
                .doc("A number for each domain."),
        )
        .field(
            "universal",
            int32().min(1).doc("One number for all domains."),
        )
        .rule(
            "has(self.universal) != has(self.individual)",
            "exactly one of universal and individual must be set",
        );
    let slice = object()
        .required("domainCount", int32().min(1).doc("Number of domains in the slice."))
        .required("podCounts", counts)
        .required("valuesPerLevel", atomic_list(values).items(1, 16).doc("Label values of the domains, level by level."))
        .rule(
            "self.valuesPerLevel.all(v, !has(v.individual) || size(v.individual.roots) == self.domainCount)",
            "individual values must be as many as domainCount",
        )
        .rule(
            "!has(self.podCounts.individual) || size(self.podCounts.individual) == self.domainCount",
            "individual podCounts must be as many as domainCount",
        );
    object()
        .doc("Domains the pods were placed in.")
        .required(
            "levels",
            atomic_list(string().length(0, 317))
                .items(1, 16)
                .doc("Node labels of the levels; only the host name if that is the lowest."),
        )
        .required(
            "slices",
            atomic_list(slice)
                .items(0, 1000)
                .doc("The domains, in a compressed form."),
        )
        .rule(
            "self.slices.all(s, size(s.valuesPerLevel) == size(self.levels))",
            "valuesPerLevel must have the same number of entries as levels",
        )
}

fn requeue_state() -> Schema {
    object()
        .doc("Backoff after evictions.")
        .field(
            "count",
            int32().min(0).doc("How often the workload was requeued."),
        )
        .field("requeueAt", time().doc("When it may be tried again."))
}

fn check() -> Schema {
    let update = object()
        .field("annotations", map(string()))
        .field("labels", map(string()))
        .required("name", pod_set_name())
        .field("nodeSelector", map(string()))
        .field("tolerations", tolerations());
    object()
        .required(
            "lastTransitionTime",
            time().doc("When the state last changed."),
        )
        .required(
            "message",
            string().length(0, 32_768).doc("Explanation for people."),
        )
        .required("name", check_reference().doc("Name of the AdmissionCheck."))
        .field(
            "podSetUpdates",
            atomic_list(update)
                .items(0, 18)
                .doc("What the check wants added to the pods."),
        )
        .field(
            "requeueAfterSeconds",
            int32().min(0).doc("Time to wait before a retry."),
        )
        .field(
            "retryCount",
            int32().min(0).doc("Number of retries so far."),
        )
        .required(
            "state",
            one_of(&["Pending", "Ready", "Retry", "Rejected"]).doc("Answer of the check."),
        )
}

fn request() -> Schema {
    object().required("name", pod_set_name()).field(
        "resources",
        map(quantity()).doc("Total of each resource over all pods of the set."),
    )
}

fn scheduling_stats() -> Schema {
    let eviction = object()
        .required("count", int32().min(0).doc("Number of evictions."))
        .required(
            "reason",
            string().length(0, 316).doc("Reason of the evictions."),
        )
        .required(
            "underlyingCause",
            string()
                .length(0, 316)
                .doc("Cause behind the reason; may be empty."),
        );
    object().doc("Counts over the life of the workload.").field(
        "evictions",
        map_list(&["reason", "underlyingCause"], eviction)
            .items(0, 256)
            .doc("Evictions, by reason and cause."),
    )
}

fn gate() -> Schema {
    object()
        .required(
            "lastTransitionTime",
            time().doc("When the position last changed."),
        )
        .required("name", string().length(1, 63).doc("Name of the gate."))
        .required(
            "position",
            one_of(&["Closed", "Open"]).doc("Open lets preemption pass."),
        )
}
