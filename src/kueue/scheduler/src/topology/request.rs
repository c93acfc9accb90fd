//! How a pod set wants to be placed: close together at some level, in slices, or anywhere.

/// Pods that come in slices which have to stay together at some level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SliceConstraint {
    /// The level.
    pub level: String,
    /// How many pods make a slice; 0 if nobody said it.
    pub size: i64,
}

/// What a pod set says about its place. The default says nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct TopologyRequest {
    /// All pods within one domain of this level.
    pub required: Option<String>,
    /// All pods within one domain of this level if possible.
    pub preferred: Option<String>,
    /// Anywhere, but counted; that it was said at all asks for a topology.
    pub unconstrained: Option<bool>,
    /// Slices, from the widest to the narrowest.
    pub slices: Vec<SliceConstraint>,
    /// Pod sets of one group are placed together, one of them as the leader of the other.
    pub group: Option<String>,
}

impl TopologyRequest {
    /// Whether it asks to be placed at all; the group alone does not.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        self.required.is_some()
            || self.preferred.is_some()
            || self.unconstrained.is_some()
            || !self.slices.is_empty()
    }
}
