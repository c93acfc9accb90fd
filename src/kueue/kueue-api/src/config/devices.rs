//! Which device classes count as which resource (dynamic resource allocation): read and checked, so that a file's mistakes are told; the
//! behaviour itself is not built, and the reader refuses the field. Reference section 2, `resources.deviceClassMappings`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::read::path;
use crate::features::Features;
use crate::field::{FieldError, Path};
use crate::validation::{is_qualified_name, is_subdomain};

const MOST_MAPPINGS: usize = 16;
const MOST_CLASSES: usize = 8;
const LONGEST_NAME: usize = 253;
const LONGEST_DRIVER: usize = 63;
const LONGEST_IDENTIFIER: usize = 32;
const ONE_SOURCE: &str = "exactly one source type must be set per entry";
const PARTITIONABLE: &str = "KueueDRAIntegrationPartitionableDevices";
const CONSUMABLE: &str = "KueueDRAIntegrationConsumableCapacity";

/// Devices of these classes count as this resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeviceClassMapping {
    pub name: String,
    pub device_class_names: Vec<String>,
    /// What is counted of a device; the device as a whole if absent.
    pub sources: Vec<DeviceSource>,
}

/// One of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeviceSource {
    pub counter: Option<Measured>,
    pub capacity: Option<Measured>,
}

/// A number that a driver tells of its devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Measured {
    pub name: String,
    pub driver: String,
    pub device_selector: DeviceSelector,
}

/// Which devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct DeviceSelector {
    pub cel: Expression,
}

/// A condition in CEL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Expression {
    pub expression: String,
}

/// What is wrong with the mappings.
#[must_use]
pub fn check(mappings: &[DeviceClassMapping], features: &Features) -> Vec<FieldError> {
    let all = path("resources.deviceClassMappings");
    let mut errors = Vec::new();
    if mappings.len() > MOST_MAPPINGS {
        errors.push(FieldError::too_many(&all, mappings.len(), MOST_MAPPINGS));
    }
    let (mut names, mut classes) = (BTreeSet::new(), BTreeMap::new());
    for (i, mapping) in mappings.iter().enumerate() {
        let at = all.index(i);
        errors.extend(name(&at.child("name"), &mapping.name));
        if !names.insert(&mapping.name) {
            let at = at.child("name");
            errors.push(FieldError::duplicate(&at, mapping.name.as_str()));
        }
        errors.extend(own_classes(&at.child("deviceClassNames"), mapping));
        errors.extend(shared_classes(&at, mapping, &mut classes));
        errors.extend(sources(&at.child("sources"), mapping, features));
    }
    errors
}

fn name(at: &Path, text: &str) -> Option<FieldError> {
    let good = is_qualified_name(text) && text.len() <= LONGEST_NAME;
    let detail = "must be a name as labels have them, at most 253 characters";
    (!good).then(|| FieldError::invalid(at, text, detail))
}

fn own_classes(at: &Path, mapping: &DeviceClassMapping) -> Vec<FieldError> {
    let classes = &mapping.device_class_names;
    let mut errors = Vec::new();
    if classes.is_empty() {
        let detail = "at least one device class name is required";
        errors.push(FieldError::required(at, detail));
    }
    if classes.len() > MOST_CLASSES {
        errors.push(FieldError::too_many(at, classes.len(), MOST_CLASSES));
    }
    let mut seen = BTreeSet::new();
    for (i, class) in classes.iter().enumerate() {
        errors.extend(name(&at.index(i), class));
        if !seen.insert(class) {
            errors.push(FieldError::duplicate(&at.index(i), class.as_str()));
        }
    }
    errors
}

/// The resource of a class, and which counters of it are counted.
type Taken<'a> = BTreeMap<&'a str, (&'a str, BTreeSet<&'a str>)>;

/// A class counts as several resources only where each counts something else of its devices.
fn shared_classes<'a>(
    at: &Path,
    mapping: &'a DeviceClassMapping,
    taken: &mut Taken<'a>,
) -> Vec<FieldError> {
    let counter = mapping.sources.first().and_then(|one| one.counter.as_ref());
    let counter = counter.map(|counter| counter.name.as_str());
    let counter = counter.filter(|name| !name.is_empty());
    let mut errors = Vec::new();
    for (i, class) in mapping.device_class_names.iter().enumerate() {
        let Some((resource, counters)) = taken.get_mut(class.as_str()) else {
            let counters = counter.into_iter().collect();
            taken.insert(class, (&mapping.name, counters));
            continue;
        };
        if *resource == mapping.name {
            continue;
        }
        let detail = match counter {
            Some(name) if !counters.is_empty() && counters.insert(name) => continue,
            Some(name) if counters.contains(name) => {
                format!("device class already has a counter source for counter {name:?}")
            }
            _ => format!("device class already mapped to resource {resource}"),
        };
        let at = at.child("deviceClassNames").index(i);
        errors.push(FieldError::invalid(&at, class.as_str(), &detail));
    }
    errors
}

fn sources(at: &Path, mapping: &DeviceClassMapping, features: &Features) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, source) in mapping.sources.iter().enumerate() {
        let at = at.index(i);
        let found = match (&source.counter, &source.capacity) {
            (None, None) => vec![FieldError::required(&at, ONE_SOURCE)],
            (Some(_), Some(_)) => vec![FieldError::invalid(&at, "counter+capacity", ONE_SOURCE)],
            (Some(counter), None) => {
                let named = is_label(&counter.name);
                let detail = "must be a lowercase RFC 1123 label";
                let bad = |at: &Path| FieldError::invalid(at, counter.name.as_str(), detail);
                let name = |at: &Path| (!named).then(|| bad(at)).into_iter().collect();
                measured(&at.child("counter"), counter, PARTITIONABLE, features, name)
            }
            (None, Some(capacity)) => {
                let name = |at: &Path| capacity_name(at, &capacity.name);
                measured(&at.child("capacity"), capacity, CONSUMABLE, features, name)
            }
        };
        errors.extend(found);
    }
    let has = |of: fn(&DeviceSource) -> bool| mapping.sources.iter().any(of);
    if has(|source| source.counter.is_some()) && has(|source| source.capacity.is_some()) {
        let detail = "cannot mix counter and capacity sources in the same mapping";
        errors.push(FieldError::invalid(at, mapping.sources.len(), detail));
    }
    errors
}

fn measured(
    at: &Path,
    measured: &Measured,
    gate: &str,
    features: &Features,
    name: impl Fn(&Path) -> Vec<FieldError>,
) -> Vec<FieldError> {
    if !features.on(gate) {
        let detail = format!("sources of this type require {gate} to be enabled");
        return vec![FieldError::invalid(at, true, &detail)];
    }
    let mut errors = if measured.name.is_empty() {
        vec![FieldError::required(&at.child("name"), "")]
    } else {
        name(&at.child("name"))
    };
    let driver = measured.driver.as_str();
    let at_driver = at.child("driver");
    if driver.is_empty() {
        errors.push(FieldError::required(&at_driver, ""));
    } else if driver.len() > LONGEST_DRIVER || !is_subdomain(driver) {
        let detail = "must be a lowercase RFC 1123 subdomain of at most 63 characters";
        errors.push(FieldError::invalid(&at_driver, driver, detail));
    }
    if measured.device_selector.cel.expression.is_empty() {
        let at = at.child("deviceSelector").child("cel").child("expression");
        errors.push(FieldError::required(&at, ""));
    }
    errors
}

fn is_label(text: &str) -> bool {
    text.len() <= LONGEST_DRIVER && !text.contains('.') && is_subdomain(text)
}

/// `identifier` or `domain/identifier`.
fn capacity_name(at: &Path, text: &str) -> Vec<FieldError> {
    let Some((domain, identifier)) = text.split_once('/') else {
        return c_identifier(at, text);
    };
    let mut errors = Vec::new();
    if domain.is_empty() {
        errors.push(FieldError::invalid(at, "", "the domain must not be empty"));
    } else if domain.len() > LONGEST_DRIVER {
        errors.push(FieldError::too_long(at, LONGEST_DRIVER));
    } else if !is_subdomain(&domain.to_ascii_lowercase()) {
        let detail = "the domain must be an RFC 1123 subdomain";
        errors.push(FieldError::invalid(at, domain, detail));
    }
    if identifier.is_empty() {
        errors.push(FieldError::invalid(at, "", "the name must not be empty"));
    } else {
        errors.extend(c_identifier(at, identifier));
    }
    errors
}

fn c_identifier(at: &Path, text: &str) -> Vec<FieldError> {
    if text.len() > LONGEST_IDENTIFIER {
        return vec![FieldError::too_long(at, LONGEST_IDENTIFIER)];
    }
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let good = begins && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let detail = "must be an identifier as C has them";
    let bad = || FieldError::invalid(at, text, detail);
    (!good).then(bad).into_iter().collect()
}
