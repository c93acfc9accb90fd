//! The name of a resource, which also decides the unit in which its amounts are counted.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The name of a resource, such as `cpu` or `nvidia.com/gpu`. Cheap to clone, and to compare with itself.
#[derive(Clone)]
pub struct ResourceName(Text);

/// Names that nearly every object mentions are not kept once for each of them.
#[derive(Clone)]
enum Text {
    Known(&'static str),
    Other(Arc<str>),
}

impl ResourceName {
    /// The one resource that is counted in thousandths.
    pub const CPU: &'static str = "cpu";
    /// The number of pods, counted by the controller itself where a ClusterQueue covers it.
    pub const PODS: &'static str = "pods";

    /// Wraps a name as it is written in an object.
    pub fn new(name: impl Into<Arc<str>> + AsRef<str>) -> Self {
        Self(match known(name.as_ref()) {
            Some(known) => Text::Known(known),
            None => Text::Other(name.into()),
        })
    }

    /// The resource that counts pods.
    #[must_use]
    pub fn pods() -> Self {
        Self::new(Self::PODS)
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Known(name) => name,
            Text::Other(name) => name,
        }
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

fn known(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 6] = [
        ResourceName::CPU,
        "memory",
        ResourceName::PODS,
        "ephemeral-storage",
        "nvidia.com/gpu",
        "amd.com/gpu",
    ];
    KNOWN.into_iter().find(|known| *known == name)
}

impl PartialEq for ResourceName {
    fn eq(&self, other: &Self) -> bool {
        let (own, other) = (self.as_str(), other.as_str());
        std::ptr::eq(own, other) || own == other
    }
}

impl Eq for ResourceName {}

impl Ord for ResourceName {
    fn cmp(&self, other: &Self) -> Ordering {
        let (own, other) = (self.as_str(), other.as_str());
        if std::ptr::eq(own, other) {
            Ordering::Equal
        } else {
            own.cmp(other)
        }
    }
}

impl PartialOrd for ResourceName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for ResourceName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
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
