//! What one pod of a template asks for, by the rules of Kubernetes, and whether it asks for more than its limits.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;
use quantity::{Amount, Quantity, Requests, ResourceName};

use super::{Unreadable, quantity};
use crate::Options;

type Quantities = BTreeMap<String, Quantity>;

/// The amounts of one pod, without excluded resources.
pub(super) fn requests(
    spec: &core::PodSpec,
    field: &str,
    options: &Options,
) -> Result<Requests, Unreadable> {
    let excluded = |name: &str| {
        options
            .exclude_resource_prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix.as_str()))
    };
    let counted = total(spec, field)?
        .into_iter()
        .filter(|(name, _)| !excluded(name));
    Ok(counted
        .map(|(name, quantity)| {
            let resource = ResourceName::from(name);
            let amount = Amount::of(&resource, quantity);
            (resource, amount)
        })
        .collect())
}

/// What one pod of a template asks for of a node, whatever quota counts.
pub(crate) fn of_template(spec: &core::PodSpec) -> Result<Requests, Unreadable> {
    let all = total(spec, "spec")?.into_iter();
    Ok(all
        .map(|(name, quantity)| {
            let resource = ResourceName::from(name);
            let amount = Amount::of(&resource, quantity);
            (resource, amount)
        })
        .collect())
}

/// Containers run together, after the init containers, which run one after the other beside the sidecars started before them.
fn total(spec: &core::PodSpec, field: &str) -> Result<Quantities, Unreadable> {
    let mut running = Quantities::new();
    for (index, container) in spec.containers.iter().enumerate() {
        let own = effective(
            container.resources.as_ref(),
            &format!("{field}.containers[{index}]"),
        )?;
        add(&mut running, &own);
    }
    let (mut sidecars, mut starting) = (Quantities::new(), Quantities::new());
    for (index, container) in spec.init_containers.iter().flatten().enumerate() {
        let own = effective(
            container.resources.as_ref(),
            &format!("{field}.initContainers[{index}]"),
        )?;
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut running, &own);
            add(&mut sidecars, &own);
            raise(&mut starting, &sidecars);
        } else {
            let mut with_sidecars = own;
            add(&mut with_sidecars, &sidecars);
            raise(&mut starting, &with_sidecars);
        }
    }
    raise(&mut running, &starting);
    running.extend(effective(spec.resources.as_ref(), field)?);
    add(
        &mut running,
        &read(spec.overhead.as_ref(), &format!("{field}.overhead"))?,
    );
    Ok(running)
}

/// The requests, completed by the limits of resources that are not requested.
fn effective(
    resources: Option<&core::ResourceRequirements>,
    field: &str,
) -> Result<Quantities, Unreadable> {
    let Some(resources) = resources else {
        return Ok(Quantities::new());
    };
    let mut effective = read(
        resources.limits.as_ref(),
        &format!("{field}.resources.limits"),
    )?;
    effective.extend(read(
        resources.requests.as_ref(),
        &format!("{field}.resources.requests"),
    )?);
    Ok(effective)
}

fn read(
    list: Option<&BTreeMap<String, kueue_api::Quantity>>,
    field: &str,
) -> Result<Quantities, Unreadable> {
    let read = |(name, text): (&String, &kueue_api::Quantity)| {
        Ok((name.clone(), quantity(&format!("{field}[{name}]"), text)?))
    };
    list.into_iter().flatten().map(read).collect()
}

fn add(to: &mut Quantities, other: &Quantities) {
    for (name, quantity) in other {
        let own = to.entry(name.clone()).or_insert(Quantity::ZERO);
        *own = own.plus(*quantity);
    }
}

fn raise(to: &mut Quantities, other: &Quantities) {
    for (name, quantity) in other {
        let own = to.entry(name.clone()).or_insert(*quantity);
        *own = (*own).max(*quantity);
    }
}

/// One text for each container, and one for the pod as a whole, that asks for more than its limits.
pub(super) fn above_limits(spec: &core::PodSpec, field: &str) -> Result<Vec<String>, Unreadable> {
    let init = spec.init_containers.iter().flatten().enumerate();
    let init = init.map(|(index, one)| {
        (
            format!("{field}.initContainers[{index}]"),
            one.resources.as_ref(),
        )
    });
    let main = spec.containers.iter().enumerate();
    let main = main.map(|(index, one)| {
        (
            format!("{field}.containers[{index}]"),
            one.resources.as_ref(),
        )
    });
    let whole = std::iter::once((format!("{field}.resources"), spec.resources.as_ref()));
    let mut found = Vec::new();
    for (path, resources) in init.chain(main).chain(whole) {
        let Some(resources) = resources else {
            continue;
        };
        let place = path.strip_suffix(".resources").unwrap_or(&path);
        let limits = read(
            resources.limits.as_ref(),
            &format!("{place}.resources.limits"),
        )?;
        let requests = read(
            resources.requests.as_ref(),
            &format!("{place}.resources.requests"),
        )?;
        let above = |(name, request): &(&String, &Quantity)| {
            limits.get(*name).is_some_and(|limit| *request > limit)
        };
        let names: Vec<_> = requests
            .iter()
            .filter(above)
            .map(|(name, _)| format!("{name:?}"))
            .collect();
        if !names.is_empty() {
            found.push(format!(
                "{path}: Invalid value: [{}]: requests must not exceed its limits",
                names.join(",")
            ));
        }
    }
    Ok(found)
}
