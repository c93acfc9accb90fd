//! An object of a watch before it is read: its name and version, and its text. Most of what a watch tells are this process's own writes,
//! which are known already, so the text is read only when it is news; one that cannot be read stays an error of that object.
//! What the API server notes about who wrote which field is left out before: nobody here asks, and it is half of the text.

use std::borrow::Cow;
use std::marker::PhantomData;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// See the module.
#[derive(Clone, Debug)]
pub struct Unread<K> {
    /// Name, namespace, identity and version; nothing else.
    meta: ObjectMeta,
    text: String,
    kind: PhantomData<fn() -> K>,
}

#[derive(Deserialize)]
struct Shallow<'a> {
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Identity<'a> {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    #[serde(borrow)]
    managed_fields: Option<&'a RawValue>,
}

impl<K: DeserializeOwned> Unread<K> {
    /// Reads it.
    ///
    /// # Errors
    /// When it does not have the shape of its kind.
    pub fn read(&self) -> Result<K, serde_json::Error> {
        serde_json::from_str(&self.text)
    }
}

impl<'de, K> Deserialize<'de> for Unread<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let (meta, text) = split(text.get()).map_err(D::Error::custom)?;
        Ok(Self {
            meta,
            text,
            kind: PhantomData,
        })
    }
}

/// The few fields that tell an object apart, and its text without the owners of its fields.
fn split(text: &str) -> Result<(ObjectMeta, String), serde_json::Error> {
    let Shallow { metadata } = serde_json::from_str(text)?;
    let identity = metadata.map(|metadata| serde_json::from_str(metadata.get()));
    let identity: Identity<'_> = identity.transpose()?.unwrap_or_default();
    let rest = match identity.managed_fields.map(RawValue::get) {
        Some(owners) => {
            let begin = owners.as_ptr() as usize - text.as_ptr() as usize;
            [&text[..begin], "null", &text[begin + owners.len()..]].concat()
        }
        None => text.to_owned(),
    };
    let meta = ObjectMeta {
        name: identity.name,
        namespace: identity.namespace,
        uid: identity.uid,
        resource_version: identity.resource_version,
        ..ObjectMeta::default()
    };
    Ok((meta, rest))
}

impl<K: Resource> Resource for Unread<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(of: &Self::DynamicType) -> Cow<'_, str> {
        K::kind(of)
    }

    fn group(of: &Self::DynamicType) -> Cow<'_, str> {
        K::group(of)
    }

    fn version(of: &Self::DynamicType) -> Cow<'_, str> {
        K::version(of)
    }

    fn plural(of: &Self::DynamicType) -> Cow<'_, str> {
        K::plural(of)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}
