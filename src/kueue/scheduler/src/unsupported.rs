//! What the reference offers and this scheduler does not do yet. A typed value, so that nobody has to guess from silence.

/// Something a ClusterQueue asks for and does not get yet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsupported {
    /// Trying several flavors at once.
    ConcurrentAdmission,
}
