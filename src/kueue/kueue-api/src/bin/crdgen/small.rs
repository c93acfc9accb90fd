//! Schemas of the kinds with little in them: flavors, checks, priority classes, provisioning, `MultiKueue`, topologies.

use serde_json::json;

use crate::parts::{conditions, dns_label, reference, subdomain, taints, tolerations};
use crate::schema::{Schema, atomic_list, int32, map, map_list, object, one_of, set_list, string};

pub(crate) fn resource_flavor() -> Schema {
    let spec = object()
        .doc("How nodes of this kind are recognised, and what their pods need.")
        .field("nodeLabels", map(string()).max_properties(8).atomic_map().doc("Labels of the nodes; pods get them as node selectors."))
        .field("nodeTaints", taints().atomic_list().doc("Taints of the nodes; only workloads that tolerate them get this flavor."))
        .field("tolerations", tolerations().atomic_list().doc("Tolerations that pods get with this flavor."))
        .field("topologyName", reference().doc("Topology of the nodes."))
        .rule(
            "!has(self.topologyName) || (has(self.nodeLabels) && size(self.nodeLabels) >= 1)",
            "at least one nodeLabel is required when topology is set",
        )
        .rule(
            "!has(oldSelf.topologyName) || (has(self.topologyName) && self.topologyName == oldSelf.topologyName)",
            "topologyName is immutable when topologyName is set",
        );
    object()
        .doc("ResourceFlavor is a variety of nodes: a model of GPU, a price, an architecture.")
        .field("spec", spec)
}

pub(crate) fn admission_check() -> Schema {
    let kind = "^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$";
    let parameters = object()
        .doc("Object that holds the parameters of the check.")
        .required(
            "apiGroup",
            subdomain(1, 253).doc("API group of the object."),
        )
        .required(
            "kind",
            string()
                .length(1, 63)
                .pattern(kind)
                .doc("Kind of the object."),
        )
        .required("name", dns_label().length(1, 63).doc("Name of the object."));
    let spec = object()
        .doc("Who answers the check.")
        .required(
            "controllerName",
            string()
                .length(1, 253)
                .rule("self == oldSelf", "field is immutable")
                .doc("Controller that runs the check. Immutable."),
        )
        .field("parameters", parameters);
    let status = object().doc("State of the check.").field(
        "conditions",
        conditions("Active says whether the controller is ready."),
    );
    object()
        .doc("AdmissionCheck is a condition besides quota, decided by another controller.")
        .field("spec", spec)
        .field("status", status)
}

pub(crate) fn priority_class() -> Schema {
    object()
        .doc("WorkloadPriorityClass gives workloads a priority in queues, apart from the priority of their pods.")
        .field("description", string().length(0, 2048).doc("When this class should be used."))
        .required("value", int32().doc("The priority. Higher values are served first."))
}

pub(crate) fn provisioning() -> Schema {
    let seconds = |default: i32, what: &str| int32().default(default).doc(what);
    let retry = object()
        .default(
            json!({"backoffLimitCount": 3, "backoffBaseSeconds": 60, "backoffMaxSeconds": 1800}),
        )
        .doc("What happens after a failed request.")
        .field(
            "backoffBaseSeconds",
            seconds(60, "Wait before the first retry; it doubles each time."),
        )
        .field("backoffLimitCount", seconds(3, "Number of retries."))
        .field("backoffMaxSeconds", seconds(1800, "Longest wait."));
    let selector = object()
        .required("key", string().length(1, 317).doc("Node label."))
        .required(
            "valueFromProvisioningClassDetail",
            string()
                .length(1, 32_768)
                .doc("Detail of the request that holds the value."),
        );
    let updates = object()
        .doc("What pods get from the provisioned nodes.")
        .field(
            "nodeSelector",
            map_list(&["key"], selector)
                .items(0, 8)
                .doc("Node selectors."),
        );
    let spec = object()
        .doc("How nodes are asked for.")
        .field(
            "managedResources",
            set_list(string())
                .items(0, 100)
                .doc("Resources that make a request necessary; empty for all."),
        )
        .field(
            "parameters",
            map(string().length(0, 255))
                .max_properties(100)
                .doc("Parameters of the class."),
        )
        .field(
            "podSetMergePolicy",
            one_of(&[
                "IdenticalPodTemplates",
                "IdenticalWorkloadSchedulingRequirements",
            ])
            .doc("Sets that are asked for as one."),
        )
        .field("podSetUpdates", updates)
        .required(
            "provisioningClassName",
            subdomain(1, 253).doc("Class of the request."),
        )
        .field("retryStrategy", retry);
    object().doc("ProvisioningRequestConfig tells an admission check how to ask a cluster autoscaler for nodes.").field("spec", spec)
}

pub(crate) fn multikueue_config() -> Schema {
    let clusters = atomic_list(string().length(1, 256))
        .items(1, 20)
        .rule("self.all(x, self.exists_one(y, x == y))", "must be unique")
        .doc("Worker clusters, in order.");
    let spec = object()
        .doc("Which worker clusters are used.")
        .required("clusters", clusters)
        .field(
            "quotaManagement",
            one_of(&["Manual", "Automated"]).doc("Who keeps the quotas of the manager cluster."),
        );
    object()
        .doc("MultiKueueConfig names the clusters that workloads are sent to.")
        .field("spec", spec)
}

pub(crate) fn multikueue_cluster() -> Schema {
    let kube_config = object()
        .doc("A kubeconfig file.")
        .required(
            "location",
            string()
                .length(1, 256)
                .doc("Name of the Secret, or path of the file."),
        )
        .field(
            "locationType",
            one_of(&["Secret", "Path"])
                .default("Secret")
                .doc("What the location names."),
        );
    let profile = object()
        .doc("A ClusterProfile of the manager's namespace.")
        .required("name", string().length(1, 256));
    let source = object()
        .doc("How the cluster is reached.")
        .field("clusterProfileRef", profile)
        .field("kubeConfig", kube_config)
        .rule(
            "has(self.kubeConfig) != has(self.clusterProfileRef)",
            "exactly one of the fields in [clusterProfileRef kubeConfig] must be set",
        );
    let status = object().doc("State of the connection.").field(
        "conditions",
        conditions("Active says whether the cluster is reachable."),
    );
    object()
        .doc("MultiKueueCluster is a worker cluster.")
        .field(
            "spec",
            object()
                .doc("Where the cluster is.")
                .required("clusterSource", source),
        )
        .field("status", status)
}

pub(crate) fn topology() -> Schema {
    let host = "kubernetes.io/hostname";
    let label = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
    let level = object().required(
        "nodeLabel",
        string()
            .length(1, 316)
            .pattern(label)
            .doc("Node label whose values are the domains of the level."),
    );
    let lowest = |list: &str| format!("{list}[size({list}) - 1].nodeLabel == '{host}'");
    let levels = atomic_list(level)
        .items(1, 16)
        .rule("self.all(x, self.exists_one(y, x.nodeLabel == y.nodeLabel))", "must be unique")
        .rule(
            &format!("!self.exists(x, x.nodeLabel == '{host}') || {}", lowest("self")),
            &format!("the {host} label can only be used at the lowest level of topology"),
        )
        .rule(
            &format!("self == oldSelf || ({} && {})", lowest("self"), lowest("oldSelf")),
            &format!("levels are mutable only when {host} is the lowest level both before and after the change"),
        )
        .doc("Levels, the widest first: for example block, rack, host.");
    object()
        .doc("Topology describes how nodes are close to each other.")
        .field(
            "spec",
            object().doc("The levels.").required("levels", levels),
        )
}
