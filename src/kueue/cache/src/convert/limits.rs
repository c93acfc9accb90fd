//! What the LimitRanges of a namespace make of a pod template: defaults for what it leaves open, and bounds that it has to keep.
//!
//! Several ranges count as one: the lowest maximum, the highest minimum, the first default. Reference 4.4, step b, and the checks of nomination.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{self as core, LimitRange, LimitRangeItem};
use kueue_api::Quantity as Text;
use quantity::{Requests, ResourceName};
use scheduler::{OutOfBounds, Rule};

use super::pods::{self, Amounts, amounts};
use super::{Unreadable, quantity};

type List = BTreeMap<String, Text>;

const CONTAINER: &str = "Container";
const POD: &str = "Pod";

/// The LimitRanges of one namespace, taken together: one item for each type of thing they limit.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Limits(BTreeMap<String, LimitRangeItem>);

impl Limits {
    /// Takes ranges together, in the order in which their defaults count.
    #[must_use]
    pub fn of<'a>(ranges: impl IntoIterator<Item = &'a LimitRange>) -> Self {
        let mut all = Self::default();
        let specs = ranges.into_iter().filter_map(|range| range.spec.as_ref());
        for item in specs.flat_map(|spec| &spec.limits) {
            all.add(item);
        }
        all
    }

    fn add(&mut self, item: &LimitRangeItem) {
        let known = self.0.entry(item.type_.clone()).or_default();
        known.type_.clone_from(&item.type_);
        keep(&mut known.max, item.max.as_ref(), lower);
        keep(&mut known.min, item.min.as_ref(), higher);
        keep(&mut known.default, item.default.as_ref(), first);
        keep(
            &mut known.default_request,
            item.default_request.as_ref(),
            first,
        );
        keep(
            &mut known.max_limit_request_ratio,
            item.max_limit_request_ratio.as_ref(),
            lower,
        );
    }

    /// The items, by the type of thing they limit.
    #[must_use]
    pub fn items(&self) -> &BTreeMap<String, LimitRangeItem> {
        &self.0
    }

    /// Gives every container, and a pod that declares resources as a whole, the defaults for what it leaves open.
    pub fn fill_in(&self, spec: &mut core::PodSpec) {
        if let Some(item) = self.0.get(CONTAINER) {
            let init = spec.init_containers.iter_mut().flatten();
            for container in spec.containers.iter_mut().chain(init) {
                defaults(container.resources.get_or_insert_default(), item);
            }
        }
        if let (Some(item), Some(resources)) = (self.0.get(POD), spec.resources.as_mut()) {
            defaults(resources, item);
        }
    }

    /// What in a template is outside of these limits: init containers first, then containers, then the pod as a whole.
    ///
    /// # Errors
    /// When an amount in the template cannot be read.
    pub fn broken_by(
        &self,
        spec: &core::PodSpec,
        field: &str,
    ) -> Result<Vec<OutOfBounds>, Unreadable> {
        let mut broken = Vec::new();
        if let Some(item) = self.0.get(CONTAINER) {
            for (place, resources) in pods::containers(spec, field) {
                let asked = read(resources.and_then(|own| own.requests.as_ref()), &place)?;
                let limits = read(resources.and_then(|own| own.limits.as_ref()), &place)?;
                let most = pods::merged(asked.clone(), &limits, Ord::max);
                let least = pods::merged(asked, &limits, Ord::min);
                outside(&place, item, &amounts(most), &amounts(least), &mut broken)?;
            }
        }
        if let Some(item) = self.0.get(POD) {
            let all = amounts(pods::total(spec, field)?);
            outside(field, item, &all, &all, &mut broken)?;
        }
        Ok(broken)
    }
}

fn outside(
    place: &str,
    item: &LimitRangeItem,
    most: &Requests,
    least: &Requests,
    broken: &mut Vec<OutOfBounds>,
) -> Result<(), Unreadable> {
    let mut note = |resources: Vec<ResourceName>, rule| {
        if !resources.is_empty() {
            broken.push(OutOfBounds {
                field: place.to_owned(),
                resources,
                rule,
            });
        }
    };
    let max = amounts(read(item.max.as_ref(), "limits.max")?);
    note(most.greater_keys(&max), Rule::AboveMax);
    let min = amounts(read(item.min.as_ref(), "limits.min")?);
    note(min.greater_keys(least), Rule::BelowMin);
    Ok(())
}

fn read(list: Option<&List>, field: &str) -> Result<Amounts, Unreadable> {
    pods::read(list, field)
}

fn defaults(resources: &mut core::ResourceRequirements, item: &LimitRangeItem) {
    keep(&mut resources.limits, item.default.as_ref(), first);
    keep(
        &mut resources.requests,
        item.default_request.as_ref(),
        first,
    );
}

/// Adds what is new, and lets `choose` decide between what is there and what is not.
fn keep(known: &mut Option<List>, more: Option<&List>, choose: fn(&Text, &Text) -> bool) {
    let Some(more) = more else { return };
    let known = known.get_or_insert_default();
    for (name, other) in more {
        match known.get(name) {
            Some(own) if !choose(own, other) => {}
            _ => {
                known.insert(name.clone(), other.clone());
            }
        }
    }
}

fn first(_: &Text, _: &Text) -> bool {
    false
}

fn lower(own: &Text, other: &Text) -> bool {
    in_order(other, own)
}

fn higher(own: &Text, other: &Text) -> bool {
    in_order(own, other)
}

/// Whether both can be read and the first is smaller. The API server has read both before.
fn in_order(smaller: &Text, larger: &Text) -> bool {
    quantity("", smaller)
        .ok()
        .zip(quantity("", larger).ok())
        .is_some_and(|(smaller, larger)| smaller < larger)
}
