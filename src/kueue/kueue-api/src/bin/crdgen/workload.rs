//! Schema of Workload: the specification, and the rules over the whole object.

use crate::parts::{pod_set_name, reference, subdomain};
use crate::schema::{
    Schema, boolean, int32, list, map, map_list, object, one_of, set_list, string,
};
use crate::workload_status::status;

pub(crate) fn workload() -> Schema {
    rules(
        object()
            .doc("Workload is what a job asks for, and what was decided about it.")
            .field("spec", spec())
            .field("status", status()),
    )
}

/// Whether a condition of the object, or of the object before, is True.
fn holds(object: &str, condition: &str) -> String {
    format!(
        "(has({object}.status) && has({object}.status.conditions) && {object}.status.conditions.exists(c, c.type == '{condition}' && c.status == 'True'))"
    )
}

fn rules(schema: Schema) -> Schema {
    let (was, is) = (
        holds("oldSelf", "QuotaReserved"),
        holds("self", "QuotaReserved"),
    );
    let (was_admitted, is_admitted) = (holds("oldSelf", "Admitted"), holds("self", "Admitted"));
    let both = |field: &str| format!("has(oldSelf.spec.{field}) && has(self.spec.{field})");
    let class = both("priorityClassRef");
    let same = |part: &str| {
        format!(
            "({was} && {class}) ? oldSelf.spec.priorityClassRef.{part} == self.spec.priorityClassRef.{part} : true"
        )
    };
    let reserved = "while workload quota reserved";
    schema
        .rule(
            &format!("({is} && has(self.status.admission)) ? size(self.spec.podSets) == size(self.status.admission.podSetAssignments) : true"),
            "podSetAssignments must have the same number of podSets as the spec",
        )
        .rule(
            &format!("{was} ? has(oldSelf.spec.priorityClassRef) == has(self.spec.priorityClassRef) : true"),
            &format!("priorityClassRef is immutable {reserved}"),
        )
        .rule(&same("group"), &format!("priorityClassRef.group is immutable {reserved}"))
        .rule(&same("kind"), &format!("priorityClassRef.kind is immutable {reserved}"))
        .rule(
            &format!(
                "({was} && {class} && self.spec.priorityClassRef.kind == 'PriorityClass') ? oldSelf.spec.priorityClassRef.name == self.spec.priorityClassRef.name : true"
            ),
            &format!("priorityClassRef.name is immutable for scheduling.k8s.io/priorityclass {reserved}"),
        )
        .rule(
            &format!("({was} && {is} && {}) ? oldSelf.spec.queueName == self.spec.queueName : true", both("queueName")),
            &format!("queueName is immutable {reserved}"),
        )
        .rule(
            &format!(
                "({was_admitted} && {is_admitted}) ? (has(oldSelf.spec.maximumExecutionTimeSeconds) ? oldSelf.spec.maximumExecutionTimeSeconds : 0) == (has(self.spec.maximumExecutionTimeSeconds) ? self.spec.maximumExecutionTimeSeconds : 0) : true"
            ),
            &format!("maximumExecutionTimeSeconds is immutable {reserved}"),
        )
}

fn spec() -> Schema {
    let gate = object().required("name", string().length(1, 63).doc("Name of the gate."));
    object()
        .doc("What is asked for.")
        .field(
            "active",
            boolean()
                .default(true)
                .doc("Set to false to evict the workload and keep it out of the queues."),
        )
        .field(
            "maximumExecutionTimeSeconds",
            int32()
                .min(1)
                .doc("Time after which an admitted workload is deactivated."),
        )
        .field(
            "podSets",
            map_list(&["name"], pod_set())
                .items(1, 18)
                .doc("Sets of identical pods. Immutable once quota is reserved."),
        )
        .field(
            "preemptionGates",
            map_list(&["name"], gate).items(0, 8).doc(
                "Gates that forbid preemption on behalf of this workload until they are opened.",
            ),
        )
        .field(
            "priority",
            int32().doc("Priority in queues and for preemption; absent counts as 0."),
        )
        .field("priorityClassRef", priority_class_ref())
        .field("queueName", reference().doc("LocalQueue of the workload."))
        .rule(
            "has(self.priorityClassRef) ? has(self.priority) : true",
            "priority should not be nil when priorityClassRef is set",
        )
}

fn priority_class_ref() -> Schema {
    object()
        .doc("Class that the priority was taken from.")
        .required("group", one_of(&["kueue.x-k8s.io", "scheduling.k8s.io"]).doc("API group of the class."))
        .required("kind", one_of(&["WorkloadPriorityClass", "PriorityClass"]).doc("Kind of the class."))
        .required("name", subdomain(1, 253).doc("Name of the class."))
        .rule(
            "(self.group == 'kueue.x-k8s.io') == (self.kind == 'WorkloadPriorityClass')",
            "group kueue.x-k8s.io goes with kind WorkloadPriorityClass, group scheduling.k8s.io with kind PriorityClass",
        )
}

fn pod_set() -> Schema {
    object()
        .required("count", int32().min(0).default(1).doc("Number of pods."))
        .field(
            "minCount",
            int32()
                .min(1)
                .doc("Fewest pods with which the job can run. At most one set may use it."),
        )
        .required("name", pod_set_name().default("main"))
        .required("template", template())
        .field("topologyRequest", topology_request())
        .rule(
            "has(self.minCount) ? self.minCount <= self.count : true",
            "minCount should be positive and less or equal to count",
        )
}

/// The pods' own schema belongs to the API server's core group. Repeating it here would freeze one Kubernetes version's fields and prune
/// newer ones, so the specification is kept whole, and the webhook refuses what cannot be decoded.
fn template() -> Schema {
    let metadata = object()
        .doc("Labels and annotations of the pods; other metadata is ignored.")
        .field("annotations", map(string()))
        .field("finalizers", list(string()))
        .field("labels", map(string()))
        .field("name", string())
        .field("namespace", string());
    object()
        .doc("Template of the pods, as in a batch/v1 Job.")
        .field("metadata", metadata)
        .field(
            "spec",
            object()
                .open()
                .doc("Specification of the pods, as in v1 Pod."),
        )
}

fn topology_request() -> Schema {
    let key = |max: u32, what: &str| string().length(0, max).doc(what);
    let constraint = object()
        .required("size", int32().min(1).doc("Pods in a slice of this layer."))
        .required(
            "topology",
            string()
                .length(1, 63)
                .doc("Level in which a slice must fit."),
        );
    object()
        .doc("Where the pods should be relative to each other.")
        .field(
            "podIndexLabel",
            key(317, "Pod label that holds the index of the pod."),
        )
        .field(
            "podSetGroupName",
            key(256, "Sets of the same group share one domain."),
        )
        .field(
            "podSetSliceRequiredTopology",
            key(63, "Level in which each slice of the set must fit."),
        )
        .field("podSetSliceSize", int32().min(1).doc("Pods in a slice."))
        .field(
            "podsetSliceRequiredTopologyConstraints",
            list(constraint)
                .items(0, 3)
                .doc("Layers of slices, the widest first."),
        )
        .field(
            "preferred",
            key(
                63,
                "Level in which all pods should fit; several domains are used if they do not.",
            ),
        )
        .field("required", key(63, "Level in which all pods must fit."))
        .field(
            "subGroupCount",
            int32()
                .min(0)
                .doc("Number of groups that are repeated in the set."),
        )
        .field(
            "subGroupIndexLabel",
            key(317, "Pod label that holds the index of the group."),
        )
        .field(
            "unconstrained",
            boolean().doc("Any placement will do, but capacity of nodes is respected."),
        )
}

/// Names of worker clusters.
pub(crate) fn cluster_names() -> Schema {
    set_list(string().length(0, 256)).items(0, 20)
}

/// A node's name in a status.
pub(crate) fn node_name() -> Schema {
    string().length(0, 63)
}
