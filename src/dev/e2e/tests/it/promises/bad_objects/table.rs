//! The objects, by name, and what becomes of each.

/// What is seen of an object.
#[derive(Clone, Copy)]
pub(super) enum Outcome {
    /// An event says that it cannot be read.
    Unreadable,
    /// An event of this reason is about it.
    Told(&'static str),
    /// A Workload is admitted.
    Admitted,
    /// A Workload waits; its condition has these words.
    Waits(&'static str),
    /// A queue is not active; its condition has these words.
    Inactive(&'static str),
    /// A queue is active.
    Active,
}

pub(super) struct Case {
    pub(super) what: &'static str,
    pub(super) object: &'static str,
    pub(super) outcome: Outcome,
}

const fn case(what: &'static str, outcome: Outcome, object: &'static str) -> Case {
    Case {
        what,
        object,
        outcome,
    }
}

pub(super) const CASES: &[Case] = &[
    case(
        "workload/sets-are-text",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: sets-are-text}, spec: {queueName: NS, podSets: lots}}",
    ),
    case(
        "workload/count-is-text",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: count-is-text}, spec: {queueName: NS, podSets: [{name: a, count: three, template: {spec: {containers: []}}}]}}",
    ),
    case(
        "workload/count-is-too-large",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: count-is-too-large}, spec: {queueName: NS, podSets: [{name: a, count: 9223372036854775807, template: {spec: {containers: []}}}]}}",
    ),
    case(
        "workload/request-is-no-quantity",
        Outcome::Waits("lots"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: request-is-no-quantity}, spec: {queueName: NS, active: true, podSets: [{name: a, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: lots}}}]}}}]}}",
    ),
    case(
        "workload/nothing",
        Outcome::Admitted,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: nothing}, spec: {queueName: NS, active: true, podSets: [{name: a, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 0}}}]}}}]}}",
    ),
    case(
        "workload/quintillion",
        Outcome::Waits("insufficient quota for cpu"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: quintillion}, spec: {queueName: NS, active: true, podSets: [{name: a, count: 2147483647, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1e18}}}]}}}]}}",
    ),
    case(
        "workload/overflowing-sum",
        Outcome::Waits("insufficient quota for cpu"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: overflowing-sum}, spec: {queueName: NS, active: true, podSets: [{name: a, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 9223372036854775807}}}, {name: d, image: i, resources: {requests: {cpu: 9223372036854775807}}}]}}}]}}",
    ),
    case(
        "clusterqueue/NS-text",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-text}, spec: {resourceGroups: much}}",
    ),
    case(
        "clusterqueue/NS-unlimited",
        Outcome::Inactive("nominalQuota"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-unlimited}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: Unlimited}]}]}]}}",
    ),
    case(
        "clusterqueue/NS-huge",
        Outcome::Active,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-huge}, spec: {namespaceSelector: {}, cohortName: NS-huge, resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 9223372036854775807}]}]}]}}",
    ),
    case(
        "clusterqueue/NS-huge-too",
        Outcome::Active,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-huge-too}, spec: {namespaceSelector: {}, cohortName: NS-huge, resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 1e18}]}]}]}}",
    ),
    case(
        "localqueue/huge",
        Outcome::Active,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: huge}, spec: {clusterQueue: NS-huge}}",
    ),
    case(
        "workload/borrows-a-quintillion",
        Outcome::Admitted,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: borrows-a-quintillion}, spec: {queueName: huge, active: true, podSets: [{name: a, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1e15}}}]}}}]}}",
    ),
    case(
        "cohort/NS-left",
        Outcome::Told("CohortCycle"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: NS-left}, spec: {parentName: NS-right}}",
    ),
    case(
        "cohort/NS-right",
        Outcome::Told("CohortCycle"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: NS-right}, spec: {parentName: NS-left}}",
    ),
    // As with the reference, its condition does not say so: it is those that wait who are told.
    case(
        "clusterqueue/NS-round",
        Outcome::Active,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-round}, spec: {namespaceSelector: {}, cohortName: NS-left, resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS, resources: [{name: cpu, nominalQuota: 1}]}]}]}}",
    ),
    case(
        "localqueue/round",
        Outcome::Active,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: round}, spec: {clusterQueue: NS-round}}",
    ),
    case(
        "workload/in-a-circle",
        Outcome::Waits("is inactive"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Workload, metadata: {name: in-a-circle}, spec: {queueName: round, active: true, podSets: [{name: a, count: 1, template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1m}}}]}}}]}}",
    ),
    case(
        "resourceflavor/NS-number",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: NS-number}, spec: {nodeLabels: 7}}",
    ),
    case(
        "clusterqueue/NS-without-flavor",
        Outcome::Inactive("NS-number"),
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: NS-without-flavor}, spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: NS-number, resources: [{name: cpu, nominalQuota: 1}]}]}]}}",
    ),
    case(
        "topology/NS-flat",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: NS-flat}, spec: {levels: none}}",
    ),
    case(
        "workloadpriorityclass/NS-high",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: NS-high}, value: high}",
    ),
    case(
        "admissioncheck/NS-check",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: AdmissionCheck, metadata: {name: NS-check}, spec: {controllerName: x, parameters: [1]}}",
    ),
    case(
        "localqueue/weightless",
        Outcome::Unreadable,
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: weightless}, spec: {clusterQueue: NS, fairSharing: heavy}}",
    ),
];
