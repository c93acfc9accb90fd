//! Schemas that several kinds share: names, conditions, selectors, taints and tolerations, quotas and weights.

use crate::schema::{
    Schema, atomic_list, int64, list, map, map_list, object, one_of, quantity, string, time,
};

const SUBDOMAIN: &str = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$";
const DNS_LABEL: &str = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
const EFFECTS: &str = "['NoSchedule', 'PreferNoSchedule', 'NoExecute']";

/// Name of a queue, cohort, flavor or topology.
pub(crate) fn reference() -> Schema {
    string().length(0, 253).pattern(SUBDOMAIN)
}

pub(crate) fn subdomain(min: u32, max: u32) -> Schema {
    string().length(min, max).pattern(SUBDOMAIN)
}

pub(crate) fn dns_label() -> Schema {
    string().length(0, 63).pattern(DNS_LABEL)
}

pub(crate) fn pod_set_name() -> Schema {
    dns_label().doc("Name of the pod set.")
}

pub(crate) fn check_reference() -> Schema {
    string().length(1, 316)
}

pub(crate) fn resource_name() -> Schema {
    string().doc("Name of the resource, for example cpu or nvidia.com/gpu.")
}

pub(crate) fn conditions(what: &str) -> Schema {
    let condition_type = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
    let condition = object()
        .doc("One aspect of the present state of the object.")
        .required(
            "lastTransitionTime",
            time().doc("When the status last changed."),
        )
        .required(
            "message",
            string().length(0, 32_768).doc("Explanation for people."),
        )
        .field(
            "observedGeneration",
            int64()
                .min(0)
                .doc("Generation of the object that the condition was set for."),
        )
        .required(
            "reason",
            string()
                .length(1, 1024)
                .pattern("^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
                .doc("Reason of the last change, in one word."),
        )
        .required(
            "status",
            one_of(&["True", "False", "Unknown"]).doc("Whether the condition holds."),
        )
        .required(
            "type",
            string()
                .length(0, 316)
                .pattern(condition_type)
                .doc("Type of the condition."),
        );
    map_list(&["type"], condition).items(0, 16).doc(what)
}

pub(crate) fn label_selector(what: &str) -> Schema {
    let requirement = object()
        .required(
            "key",
            string().doc("Label key that the requirement is about."),
        )
        .required(
            "operator",
            string().doc("In, NotIn, Exists or DoesNotExist."),
        )
        .field(
            "values",
            atomic_list(string())
                .doc("Values for In and NotIn; empty for Exists and DoesNotExist."),
        );
    object()
        .doc(what)
        .field(
            "matchExpressions",
            atomic_list(requirement).doc("Requirements that must all hold."),
        )
        .field(
            "matchLabels",
            map(string()).doc("Labels that must all be there with these values."),
        )
        .atomic_map()
}

pub(crate) fn taints() -> Schema {
    let taint = object()
        .required(
            "effect",
            string().doc("NoSchedule, PreferNoSchedule or NoExecute."),
        )
        .required("key", string().doc("Key of the taint."))
        .field(
            "timeAdded",
            time().doc("When the taint was put on the node."),
        )
        .field("value", string().doc("Value of the taint."));
    list(taint).items(0, 8).rule(
        &format!("self.all(x, x.effect in {EFFECTS})"),
        "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
    )
}

pub(crate) fn tolerations() -> Schema {
    let toleration = object()
        .field(
            "effect",
            string().doc("Effect that is tolerated; empty for all."),
        )
        .field(
            "key",
            string().doc("Taint key that is tolerated; empty for all, with operator Exists."),
        )
        .field("operator", string().doc("Exists or Equal (the default)."))
        .field(
            "tolerationSeconds",
            int64().doc("How long a NoExecute taint is tolerated; absent for ever."),
        )
        .field(
            "value",
            string().doc("Taint value that is tolerated, with operator Equal."),
        );
    let exists = "has(x.operator) && x.operator == 'Exists'";
    list(toleration)
        .items(0, 8)
        .rule(
            &format!("self.all(x, (has(x.key) && size(x.key) > 0) || ({exists}))"),
            "operator must be Exists when 'key' is empty, which means 'match all values and all keys'",
        )
        .rule(
            "self.all(x, !has(x.tolerationSeconds) || (has(x.effect) && x.effect == 'NoExecute'))",
            "effect must be 'NoExecute' when 'tolerationSeconds' is set",
        )
        .rule("self.all(x, !has(x.operator) || x.operator in ['Equal', 'Exists'])", "supported toleration values: 'Equal'(default), 'Exists'")
        .rule(
            &format!("self.all(x, !({exists}) || !has(x.value) || size(x.value) == 0)"),
            "a value must be empty when 'operator' is 'Exists'",
        )
        .rule(
            &format!("self.all(x, !has(x.effect) || size(x.effect) == 0 || x.effect in {EFFECTS})"),
            "supported taint effect values: 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
        )
}

pub(crate) fn resource_groups(what: &str) -> Schema {
    let quota = object()
        .field("borrowingLimit", quantity().doc("Most that may be borrowed from the cohort; absent for no limit, 0 for nothing."))
        .field("lendingLimit", quantity().doc("Most of the nominal quota that others may use while it is idle; absent for all of it."))
        .required("name", resource_name())
        .required("nominalQuota", quantity().doc("Amount that is available without borrowing."));
    let flavor = object()
        .required("name", reference().doc("Name of the ResourceFlavor."))
        .required(
            "resources",
            map_list(&["name"], quota)
                .items(1, 64)
                .doc("Quotas, in the order of coveredResources."),
        );
    let group = object()
        .required(
            "coveredResources",
            atomic_list(resource_name())
                .items(1, 64)
                .doc("Resources of the group, for example cpu and memory."),
        )
        .required(
            "flavors",
            map_list(&["name"], flavor)
                .items(1, 64)
                .doc("Flavors that provide the resources, in order of preference."),
        )
        .rule(
            "self.flavors.all(x, size(x.resources) == size(self.coveredResources))",
            "flavors must have the same number of resources as the coveredResources",
        );
    atomic_list(group).items(0, 16).doc(what)
}

pub(crate) fn fair_sharing(what: &str) -> Schema {
    object().doc(what).field(
        "weight",
        quantity()
            .default(1)
            .doc("Comparative advantage in competing for unused resources. Must not be negative."),
    )
}

/// Share of a node of the cohort tree.
pub(crate) fn fair_sharing_status() -> Schema {
    object()
        .doc("What fair sharing computed last.")
        .required("weightedShare", int64().doc("Largest ratio of borrowed to lendable resources, in thousandths, divided by the weight."))
}

pub(crate) fn stop_policy(what: &str) -> Schema {
    one_of(&["None", "Hold", "HoldAndDrain"])
        .default("None")
        .doc(what)
}

/// Usage of flavors, in ClusterQueues and LocalQueues.
pub(crate) fn usage(with_borrowed: bool, what: &str) -> Schema {
    let resource = object()
        .required("name", resource_name())
        .field("total", quantity().doc("Quota in use."));
    let resource = if with_borrowed {
        resource.field(
            "borrowed",
            quantity().doc("Part of the total that is borrowed from the cohort."),
        )
    } else {
        resource
    };
    let flavor = object()
        .required("name", reference().doc("Name of the ResourceFlavor."))
        .required(
            "resources",
            map_list(&["name"], resource)
                .items(0, 64)
                .doc("Usage of each resource."),
        );
    map_list(&["name"], flavor).items(0, 64).doc(what)
}
