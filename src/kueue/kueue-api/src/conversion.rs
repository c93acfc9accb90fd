//! Objects between `v1beta1` and `v1beta2` (`kueue-reference.md` 1.12). Works on the JSON of the wire: what the versions have in
//! common passes through untouched, and only the differences are written down, one function a kind.

mod placement;
mod queues;
mod workload;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use crate::names::GROUP;

/// The versions that are converted into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1Beta1,
    V1Beta2,
}

impl Version {
    /// As it stands behind the group.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
        }
    }

    /// Reads an `apiVersion` of this group.
    #[must_use]
    pub fn read(api_version: &str) -> Option<Self> {
        let version = api_version.strip_prefix(GROUP)?.strip_prefix('/')?;
        [Self::V1Beta1, Self::V1Beta2]
            .into_iter()
            .find(|known| known.as_str() == version)
    }
}

/// An object cannot be converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversionError {
    #[error("object is not a mapping with apiVersion and kind")]
    Shape,
    #[error("apiVersion {0:?} is not one of {GROUP}/v1beta1 and {GROUP}/v1beta2")]
    Version(String),
    #[error("kind {0:?} has no versions that differ")]
    Kind(String),
    #[error("{field}: {why}")]
    Field { field: &'static str, why: String },
}

type Fields = Map<String, Value>;

/// Converts an object in place. One that has the version already is left alone.
///
/// # Errors
/// When the object is of another group or kind, or holds what the other version cannot say.
pub fn convert(object: &mut Value, to: Version) -> Result<(), ConversionError> {
    let fields = object.as_object_mut().ok_or(ConversionError::Shape)?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let (Some(api_version), Some(kind)) = (text("apiVersion"), text("kind")) else {
        return Err(ConversionError::Shape);
    };
    let from = Version::read(&api_version).ok_or(ConversionError::Version(api_version))?;
    if let Some(items) = kind
        .strip_suffix("List")
        .and_then(|_| fields.get_mut("items")?.as_array_mut())
    {
        for item in items {
            convert(item, to)?;
        }
    } else if from != to {
        let down = to == Version::V1Beta1;
        match kind.as_str() {
            "ClusterQueue" => queues::cluster_queue(fields, down),
            "LocalQueue" => queues::local_queue(fields, down),
            // The versions differ in what a status may hold beside the share, and that is never written here.
            "Cohort" => {}
            "MultiKueueCluster" => queues::multikueue_cluster(fields, down),
            "Workload" => workload::convert(fields, down)?,
            _ => return Err(ConversionError::Kind(kind)),
        }
    }
    fields.insert(
        "apiVersion".to_owned(),
        json!(format!("{GROUP}/{}", to.as_str())),
    );
    Ok(())
}

/// A mapping inside a mapping, if it is there.
fn part<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    fields.get_mut(name)?.as_object_mut()
}

/// The elements of a list that are mappings.
fn each<'a>(fields: &'a mut Fields, name: &str) -> impl Iterator<Item = &'a mut Fields> {
    let list = fields.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Gives a field another name.
fn rename(fields: &mut Fields, from: &str, to: &str) {
    if let Some(value) = fields.shift_remove(from) {
        fields.insert(to.to_owned(), value);
    }
}

fn drop_all(fields: &mut Fields, names: &[&str]) {
    for name in names {
        fields.shift_remove(*name);
    }
}
