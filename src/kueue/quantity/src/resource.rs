//! The name of a resource, which also decides the unit in which its amounts are counted.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

/// The name of a resource, such as `cpu` or `nvidia.com/gpu`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceName(Arc<str>);

impl ResourceName {
    /// The one resource that is counted in thousandths.
    pub const CPU: &'static str = "cpu";
    /// The number of pods, counted by the controller itself where a ClusterQueue covers it.
    pub const PODS: &'static str = "pods";

    /// Wraps a name as it is written in an object.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The resource that counts pods.
    #[must_use]
    pub fn pods() -> Self {
        Self::new(Self::PODS)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is offered by a device plugin or an administrator, not by Kubernetes itself: a name with a domain outside of
    /// `kubernetes.io/`.
    #[must_use]
    pub fn is_extended(&self) -> bool {
        let name = self.as_str();
        name.contains('/') && !name.starts_with("kubernetes.io/") && !name.starts_with("hugepages-")
    }

    /// How many decimal digits below one the unit of this resource has.
    pub(crate) fn decimals(&self) -> u32 {
        if self.as_str() == Self::CPU { 3 } else { 0 }
    }
}

impl From<&str> for ResourceName {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for ResourceName {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl Borrow<str> for ResourceName {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for ResourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
