//! Macros that give a wire type its serde form and its place in the API.
//! They exist because kube's derive would pull schema generation into every build; the schemas are built in `crd` instead.

use crate::v1beta2;

/// Declares an enumeration whose variants are written on the wire exactly as they are spelled.
macro_rules! wire_enum {
    ($(#[$meta:meta])* $name:ident { $($(#[$vmeta:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* $variant),+ }

        impl $name {
            /// Every value, in the order of the API reference.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value as it is written on the wire.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant)),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

/// Declares a top-level kind: the struct, its serde form with `apiVersion` and `kind`, and the traits kube asks for.
macro_rules! kind {
    (
        $(#[$meta:meta])*
        $name:ident($plural:literal, $scope:ident) {
            $($(#[$fmeta:meta])* $field:ident: $ty:ty),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            pub metadata: $crate::ObjectMeta,
            $($(#[$fmeta])* pub $field: $ty),+
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct as _;
                let fields = 3 $(+ usize::from(!$crate::wire::Absent::is_absent(&self.$field)))+;
                let mut object = serializer.serialize_struct(stringify!($name), fields)?;
                object.serialize_field("apiVersion", $crate::names::API_VERSION)?;
                object.serialize_field("kind", stringify!($name))?;
                object.serialize_field("metadata", &self.metadata)?;
                $(if !$crate::wire::Absent::is_absent(&self.$field) {
                    object.serialize_field(stringify!($field), &self.$field)?;
                })+
                object.end()
            }
        }

        impl k8s_openapi::Resource for $name {
            const API_VERSION: &'static str = $crate::names::API_VERSION;
            const GROUP: &'static str = $crate::names::GROUP;
            const KIND: &'static str = stringify!($name);
            const VERSION: &'static str = $crate::names::VERSION;
            const URL_PATH_SEGMENT: &'static str = $plural;
            type Scope = k8s_openapi::$scope;
        }

        impl k8s_openapi::Metadata for $name {
            type Ty = $crate::ObjectMeta;
            fn metadata(&self) -> &Self::Ty { &self.metadata }
            fn metadata_mut(&mut self) -> &mut Self::Ty { &mut self.metadata }
        }

        impl $name {
            /// An object of this kind with a name and nothing else.
            #[must_use]
            pub fn named(name: &str) -> Self {
                Self { metadata: $crate::ObjectMeta { name: Some(name.to_owned()), ..Default::default() }, ..Default::default() }
            }

            /// `metadata.name`, or the empty string before the API server gave one.
            #[must_use]
            pub fn name(&self) -> &str {
                self.metadata.name.as_deref().unwrap_or_default()
            }
        }
    };
}

pub(crate) use {kind, wire_enum};

/// Whether a top-level field is left out when the object is written; a spec never is.
pub(crate) trait Absent {
    fn is_absent(&self) -> bool {
        false
    }
}

impl<T> Absent for Option<T> {
    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl Absent for String {
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

macro_rules! always_present {
    ($($ty:ty),+ $(,)?) => { $(impl Absent for $ty {})+ };
}

always_present!(
    i32,
    v1beta2::ClusterQueueSpec,
    v1beta2::CohortSpec,
    v1beta2::LocalQueueSpec,
    v1beta2::ResourceFlavorSpec,
    v1beta2::WorkloadSpec,
    v1beta2::AdmissionCheckSpec,
    v1beta2::TopologySpec,
    v1beta2::ProvisioningRequestConfigSpec,
    v1beta2::MultiKueueConfigSpec,
    v1beta2::MultiKueueClusterSpec,
);
