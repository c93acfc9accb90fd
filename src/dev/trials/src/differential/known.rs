//! What differs between Kueue v0.17.0 and v0.19, which ours follows, each with its reason. A difference that is not here is one to explain.

use super::quiet::NeverQuiet;

/// Gates that are off in v0.17 or not there: ours decides as theirs with these.
pub(crate) const GATES: &[(&str, bool)] = &[
    // v0.17 knows one reason for whoever waits, and tells nobody that it is not admitted.
    ("UnadmittedWorkloadsObservability", false),
    // On by default since v0.19 only.
    ("DisableWaitForPodsReady", true),
    // Off by default in v0.17: whoever equals one that was just found not to fit is not even tried.
    ("SchedulingEquivalenceHashing", false),
    // New forms and rules of topology.
    ("TASAssignmentsEncodingByHostnamePrefix", false),
    ("TASHandleOverlappingFlavors", false),
    ("TASRecomputeAssignmentWithinSchedulingCycle", false),
];

/// A difference between the two versions.
pub(super) struct Known {
    /// How the place begins: kind, and path within the object.
    pub(super) kind: &'static str,
    pub(super) path: &'static str,
    /// What each says there, so that nothing else hides behind it.
    pub(super) theirs: &'static str,
    pub(super) ours: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const KNOWN: &[Known] = &[Known {
    kind: "Workload",
    path: ".status.conditions[QuotaReserved].message",
    theirs: "Workload namespace doesn't match ClusterQueue selector",
    ours: "workload namespace doesn't match ClusterQueue selector",
    reason: "the message of a namespace that does not match begins with a small letter since v0.19 (reference section 4.2)",
}];

/// A script at which theirs never comes to rest, so that there is nothing to compare; ours has to.
pub(super) struct Restless {
    pub(super) script: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const RESTLESS: &[Restless] = &[Restless {
    script: "21-file-stricte-au-repos",
    reason: "v0.17 never rests: each try of a strict head looks at another flavor and says something else, and what is written brings the head back",
}];

/// Why theirs did not come to rest, if it is known not to.
pub(super) fn restless(script: &str, error: &anyhow::Error) -> Option<&'static str> {
    error.downcast_ref::<NeverQuiet>()?;
    let found = RESTLESS.iter().find(|restless| restless.script == script);
    found.map(|restless| restless.reason)
}
