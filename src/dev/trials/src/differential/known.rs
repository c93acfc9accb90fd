//! What differs between Kueue v0.17.0 and v0.19, which ours follows, each with its reason. A difference that is not here is one to explain.

/// Gates that are off in v0.17 or not there: ours decides as theirs with these.
pub(super) const GATES: &[(&str, bool)] = &[];

/// A difference between the two versions.
pub(super) struct Known {
    /// How the place begins: kind, and path within the object.
    pub(super) kind: &'static str,
    pub(super) path: &'static str,
    pub(super) reason: &'static str,
}

pub(super) const KNOWN: &[Known] = &[];
