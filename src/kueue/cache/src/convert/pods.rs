//! What one pod of a template asks for, by the rules of Kubernetes, and whether it asks for more than its limits. Reference 4.4 and 4.20.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use quantity::{Amount, Quantity, Requests, ResourceName};
use scheduler::{OutOfBounds, Rule};

use super::{Unreadable, quantity};

/// Exact amounts by resource.
pub(super) type Amounts = BTreeMap<String, Quantity>;

/// Lets limits stand in for requests that are left open. Afterwards requests say it all.
pub fn limits_as_requests(spec: &mut core::PodSpec) {
    let init = spec.init_containers.iter_mut().flatten();
    let containers = spec.containers.iter_mut().chain(init);
    let whole = spec.resources.as_mut();
    for resources in containers
        .filter_map(|container| container.resources.as_mut())
        .chain(whole)
    {
        let Some(limits) = &resources.limits else {
            continue;
        };
        let requests = resources.requests.get_or_insert_default();
        for (name, limit) in limits {
            requests
                .entry(name.clone())
                .or_insert_with(|| limit.clone());
        }
    }
}

/// What one pod of a template asks for of a node, whatever quota counts.
pub(crate) fn of_template(spec: &core::PodSpec) -> Result<Requests, Unreadable> {
    Ok(amounts(total(spec, "spec")?))
}

/// The amounts of one pod: containers run together, after the init containers, which run one after the other beside the sidecars
/// started before them. Requests of the pod as a whole replace those of its containers.
pub(super) fn total(spec: &core::PodSpec, field: &str) -> Result<Amounts, Unreadable> {
    let mut running = Amounts::new();
    for (index, container) in spec.containers.iter().enumerate() {
        let place = format!("{field}.containers[{index}]");
        add(
            &mut running,
            &requests(container.resources.as_ref(), &place)?,
        );
    }
    let (mut sidecars, mut starting) = (Amounts::new(), Amounts::new());
    for (index, container) in spec.init_containers.iter().flatten().enumerate() {
        let place = format!("{field}.initContainers[{index}]");
        let mut own = requests(container.resources.as_ref(), &place)?;
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut running, &own);
            add(&mut sidecars, &own);
            starting = merged(starting, &sidecars, Ord::max);
        } else {
            add(&mut own, &sidecars);
            starting = merged(starting, &own, Ord::max);
        }
    }
    running = merged(running, &starting, Ord::max);
    running.extend(requests(spec.resources.as_ref(), field)?);
    let overhead = read(spec.overhead.as_ref(), &format!("{field}.overhead"))?;
    add(&mut running, &overhead);
    Ok(running)
}

/// In the units that decisions are made with.
pub(super) fn amounts(exact: Amounts) -> Requests {
    let amount = |(name, quantity): (String, Quantity)| {
        let resource = ResourceName::from(name);
        let amount = Amount::of(&resource, quantity);
        (resource, amount)
    };
    exact.into_iter().map(amount).collect()
}

fn requests(
    resources: Option<&core::ResourceRequirements>,
    field: &str,
) -> Result<Amounts, Unreadable> {
    let requests = resources.and_then(|resources| resources.requests.as_ref());
    read(requests, &format!("{field}.resources.requests"))
}

pub(super) fn read(
    list: Option<&BTreeMap<String, kueue_api::Quantity>>,
    field: &str,
) -> Result<Amounts, Unreadable> {
    let read = |(name, text): (&String, &kueue_api::Quantity)| {
        Ok((name.clone(), quantity(&format!("{field}[{name}]"), text)?))
    };
    list.into_iter().flatten().map(read).collect()
}

pub(super) fn add(to: &mut Amounts, other: &Amounts) {
    for (name, quantity) in other {
        let own = to.entry(name.clone()).or_insert(Quantity::ZERO);
        *own = own.plus(*quantity);
    }
}

/// Both, with `choose` deciding about what is in both.
pub(super) fn merged(
    mut one: Amounts,
    other: &Amounts,
    choose: fn(Quantity, Quantity) -> Quantity,
) -> Amounts {
    for (name, quantity) in other {
        let own = one.entry(name.clone()).or_insert(*quantity);
        *own = choose(*own, *quantity);
    }
    one
}

/// Every container with its field and what it declares, init containers first.
pub(super) fn containers<'a>(
    spec: &'a core::PodSpec,
    field: &str,
) -> Vec<(String, Option<&'a core::ResourceRequirements>)> {
    let init = spec.init_containers.iter().flatten().enumerate();
    let init = init.map(|(index, one)| (format!("initContainers[{index}]"), one));
    let main = spec.containers.iter().enumerate();
    let main = main.map(|(index, one)| (format!("containers[{index}]"), one));
    init.chain(main)
        .map(|(place, one)| (format!("{field}.{place}"), one.resources.as_ref()))
        .collect()
}

/// The containers, and the pod as a whole, that ask for more than their limits.
pub(super) fn above_limits(
    spec: &core::PodSpec,
    field: &str,
) -> Result<Vec<OutOfBounds>, Unreadable> {
    let mut places = containers(spec, field);
    places.push((format!("{field}.resources"), spec.resources.as_ref()));
    let mut found = Vec::new();
    for (place, resources) in places {
        let Some(resources) = resources else {
            continue;
        };
        let limits = amounts(read(resources.limits.as_ref(), &place)?);
        let own = requests(
            Some(resources),
            place.strip_suffix(".resources").unwrap_or(&place),
        )?;
        let above = amounts(own).greater_keys(&limits);
        if !above.is_empty() {
            found.push(OutOfBounds {
                field: place,
                resources: above,
                rule: Rule::AboveLimits,
            });
        }
    }
    Ok(found)
}
