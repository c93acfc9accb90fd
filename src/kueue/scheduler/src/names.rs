//! Names and keys, one type each, so that a cohort cannot be looked up under the name of a queue. Cheap to clone, ordered by text.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use quantity::ResourceName;

/// Most names that are compared and equal are clones of one another: then nobody has to read them.
fn text_order(own: &Arc<str>, other: &Arc<str>) -> Ordering {
    if Arc::ptr_eq(own, other) {
        Ordering::Equal
    } else {
        own.cmp(other)
    }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $name(Arc<str>);

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                text_order(&self.0, &other.0)
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl $name {
            /// Wraps a name as it is written in an object.
            pub fn new(name: impl Into<Arc<str>>) -> Self {
                Self(name.into())
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                Self::new(name)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                self.as_str()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self.as_str(), f)
            }
        }
    };
}

name! {
    /// The name of a ClusterQueue.
    ClusterQueueName
}
name! {
    /// The name of a cohort, whether or not a Cohort object exists.
    CohortName
}
name! {
    /// The name of a ResourceFlavor.
    FlavorName
}
name! {
    /// The name of a pod set within its workload.
    PodSetName
}
name! {
    /// The name of a namespace.
    NamespaceName
}

macro_rules! key {
    ($(#[$doc:meta])* $key:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct $key {
            /// The namespace it lives in.
            pub namespace: NamespaceName,
            /// Its name there.
            pub name: Arc<str>,
        }

        impl $key {
            /// A key made of its two parts.
            pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
                Self { namespace: NamespaceName::new(namespace), name: name.into() }
            }
        }

        impl Ord for $key {
            fn cmp(&self, other: &Self) -> Ordering {
                let by_name = || text_order(&self.name, &other.name);
                self.namespace.cmp(&other.namespace).then_with(by_name)
            }
        }

        impl PartialOrd for $key {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl fmt::Display for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.namespace, self.name)
            }
        }

        impl fmt::Debug for $key {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

key! {
    /// Which workload: `namespace/name`.
    WorkloadKey
}
key! {
    /// Which LocalQueue: `namespace/name`.
    LocalQueueKey
}

/// A resource in a flavor: what quotas are defined for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlavorResource {
    /// The flavor.
    pub flavor: FlavorName,
    /// The resource.
    pub resource: ResourceName,
}

impl FlavorResource {
    /// The pair of both.
    pub fn new(flavor: impl Into<Arc<str>>, resource: impl Into<Arc<str>> + AsRef<str>) -> Self {
        Self {
            flavor: FlavorName::new(flavor),
            resource: ResourceName::new(resource),
        }
    }
}

impl fmt::Display for FlavorResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.flavor, self.resource)
    }
}

impl fmt::Debug for FlavorResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
