//! Rules about quota declarations, common to ClusterQueues and Cohorts.

use std::collections::BTreeSet;

use quantity::Quantity as Parsed;

use super::names;
use crate::Quantity;
use crate::field::{FieldError, Path};
use crate::v1beta2::{FairSharing, FlavorQuotas, ResourceGroup, ResourceQuota};

pub(super) const NOT_NEGATIVE: &str = "must be greater than or equal to 0";
const MAX_FLAVORS: usize = 256;
const MAX_RESOURCES: usize = 256;
const MAX_COMBINATIONS: usize = 512;

/// Where the quotas are: limits only make sense below something that can lend.
#[derive(Clone, Copy)]
pub(super) struct Owner {
    /// Whether there is a cohort, or a parent, to borrow from.
    pub connected: bool,
    /// Said when there is not.
    pub alone: &'static str,
    /// Whether what is lent must be one's own.
    pub lends_own: bool,
}

pub(super) fn resource_groups(
    path: &Path,
    groups: &[ResourceGroup],
    owner: Owner,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let (mut resources, mut flavors) = (BTreeSet::new(), BTreeSet::new());
    for (i, group) in groups.iter().enumerate() {
        let path = path.index(i);
        for (j, name) in group.covered_resources.iter().enumerate() {
            let path = path.child("coveredResources").index(j);
            errors.extend(names::label_key(&path, name));
            if !resources.insert(name) {
                errors.push(FieldError::duplicate(&path, name.as_str()));
            }
        }
        for (j, flavor) in group.flavors.iter().enumerate() {
            let path = path.child("flavors").index(j);
            errors.extend(flavor_quotas(
                &path,
                flavor,
                &group.covered_resources,
                owner,
            ));
            if !flavors.insert(&flavor.name) {
                errors.push(FieldError::duplicate(
                    &path.child("name"),
                    flavor.name.as_str(),
                ));
            }
        }
    }
    errors
}

fn flavor_quotas(
    path: &Path,
    flavor: &FlavorQuotas,
    covered: &[String],
    owner: Owner,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for (i, quota) in flavor.resources.iter().enumerate() {
        let path = path.child("resources").index(i);
        // A count that differs is refused by the schema; here only names are compared.
        if covered.get(i).is_some_and(|name| *name != quota.name) {
            errors.push(FieldError::invalid(
                &path.child("name"),
                quota.name.as_str(),
                "must match the name in coveredResources",
            ));
        }
        errors.extend(resource_quota(&path, quota, owner));
    }
    errors
}

fn resource_quota(path: &Path, quota: &ResourceQuota, owner: Owner) -> Vec<FieldError> {
    let mut errors = Vec::new();
    errors.extend(not_negative(
        &path.child("nominalQuota"),
        &quota.nominal_quota,
    ));
    for (name, limit) in [
        ("borrowingLimit", &quota.borrowing_limit),
        ("lendingLimit", &quota.lending_limit),
    ] {
        let Some(limit) = limit else { continue };
        let path = path.child(name);
        errors.extend(not_negative(&path, limit));
        if !owner.connected {
            errors.push(FieldError::invalid(&path, limit.0.as_str(), owner.alone));
        }
    }
    if let (true, Some(limit)) = (owner.lends_own, &quota.lending_limit)
        && let (Ok(lent), Ok(own)) = (parse(limit), parse(&quota.nominal_quota))
        && lent > own
    {
        let path = path.child("lendingLimit");
        errors.push(FieldError::invalid(
            &path,
            limit.0.as_str(),
            "must be less than or equal to the nominalQuota",
        ));
    }
    errors
}

/// A quantity that parses and is not below zero.
pub(super) fn not_negative(path: &Path, quantity: &Quantity) -> Option<FieldError> {
    match parse(quantity) {
        Err(error) => Some(FieldError::invalid(path, quantity.0.as_str(), &error)),
        Ok(parsed) if parsed.is_negative() => {
            Some(FieldError::invalid(path, quantity.0.as_str(), NOT_NEGATIVE))
        }
        Ok(_) => None,
    }
}

pub(super) fn parse(quantity: &Quantity) -> Result<Parsed, String> {
    quantity
        .0
        .parse::<Parsed>()
        .map_err(|error| error.to_string())
}

pub(super) fn fair_weight(path: &Path, fair_sharing: Option<&FairSharing>) -> Option<FieldError> {
    let weight = fair_sharing?.weight.as_ref()?;
    let path = path.child("weight");
    if let Some(error) = not_negative(&path, weight) {
        return Some(error);
    }
    let nano = parse(weight).ok()?.nano();
    (nano == 1).then(|| {
        FieldError::invalid(
            &path,
            weight.0.as_str(),
            "When not 0, weight must be > 10e-9",
        )
    })
}

/// Limits over the whole object, which the schema cannot state.
pub(super) fn totals(path: &Path, groups: &[ResourceGroup]) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let flavors: usize = groups.iter().map(|g| g.flavors.len()).sum();
    if flavors > MAX_FLAVORS {
        errors.push(FieldError::invalid(
            path,
            flavors,
            &format!("total number of flavors must be ≤ {MAX_FLAVORS}"),
        ));
    }
    let resources: usize = groups.iter().map(|g| g.covered_resources.len()).sum();
    if resources > MAX_RESOURCES {
        errors.push(FieldError::invalid(
            path,
            resources,
            &format!("total number of covered resources must be ≤ {MAX_RESOURCES}"),
        ));
    }
    for (i, group) in groups.iter().enumerate() {
        let combinations = group.flavors.len() * group.covered_resources.len();
        if combinations > MAX_COMBINATIONS {
            let detail = format!(
                "number of flavor and resource combinations in a group must be ≤ {MAX_COMBINATIONS}"
            );
            errors.push(FieldError::invalid(&path.index(i), combinations, &detail));
        }
    }
    errors
}
