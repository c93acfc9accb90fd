//! Label selectors, node affinity, taints and tolerations.

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use scheduler::topology::PreferredTerm;
use scheduler::{Effect, NodeAffinity, Requirement, Selector, Taint, Test, Toleration};

pub(super) fn selector(selector: &LabelSelector) -> Selector {
    let labels = selector.match_labels.iter().flatten();
    let exact = labels.map(|(key, value)| Requirement {
        key: key.clone(),
        test: Test::In(vec![value.clone()]),
    });
    let expressions = selector.match_expressions.iter().flatten();
    let others = expressions.map(|expression| {
        requirement(
            &expression.key,
            &expression.operator,
            expression.values.as_deref(),
        )
    });
    Selector {
        requirements: exact.chain(others).collect(),
    }
}

pub(super) fn affinity(spec: &core::PodSpec) -> NodeAffinity {
    let required = spec
        .affinity
        .as_ref()
        .and_then(|affinity| affinity.node_affinity.as_ref());
    let required = required.and_then(|node| {
        node.required_during_scheduling_ignored_during_execution
            .as_ref()
    });
    let terms = required
        .into_iter()
        .flat_map(|selector| &selector.node_selector_terms);
    NodeAffinity {
        selector: spec.node_selector.clone().unwrap_or_default(),
        terms: terms.map(requirements).collect(),
    }
}

/// The nodes that pods would rather have, and how much rather.
pub(super) fn preferred_nodes(spec: &core::PodSpec) -> Vec<PreferredTerm> {
    let node = spec
        .affinity
        .as_ref()
        .and_then(|affinity| affinity.node_affinity.as_ref());
    let preferred = node.and_then(|node| {
        node.preferred_during_scheduling_ignored_during_execution
            .as_ref()
    });
    let term = |term: &core::PreferredSchedulingTerm| PreferredTerm {
        weight: i64::from(term.weight),
        requirements: requirements(&term.preference),
    };
    preferred.into_iter().flatten().map(term).collect()
}

fn requirements(term: &core::NodeSelectorTerm) -> Vec<Requirement> {
    let expressions = term.match_expressions.iter().flatten();
    let read = expressions.map(|expression| {
        requirement(
            &expression.key,
            &expression.operator,
            expression.values.as_deref(),
        )
    });
    read.collect()
}

pub(crate) fn taint(taint: &core::Taint) -> Option<Taint> {
    let effect = effect(&taint.effect)?;
    Some(Taint {
        key: taint.key.clone(),
        value: taint.value.clone().unwrap_or_default(),
        effect,
    })
}

/// A toleration with an operator or effect that nobody knows tolerates nothing, and is left out.
pub(crate) fn toleration(toleration: &core::Toleration) -> Option<Toleration> {
    let value = match toleration.operator.as_deref().unwrap_or_default() {
        "" | "Equal" => Some(toleration.value.clone().unwrap_or_default()),
        "Exists" => None,
        _ => return None,
    };
    let effect = match toleration.effect.as_deref().unwrap_or_default() {
        "" => None,
        known => Some(effect(known)?),
    };
    Some(Toleration {
        key: toleration.key.clone().unwrap_or_default(),
        value,
        effect,
    })
}

fn effect(text: &str) -> Option<Effect> {
    match text {
        "NoSchedule" => Some(Effect::NoSchedule),
        "PreferNoSchedule" => Some(Effect::PreferNoSchedule),
        "NoExecute" => Some(Effect::NoExecute),
        _ => None,
    }
}

fn requirement(key: &str, operator: &str, values: Option<&[String]>) -> Requirement {
    let values = values.unwrap_or_default();
    let number = || values.first().and_then(|value| value.parse::<i64>().ok());
    let test = match operator {
        "In" => Test::In(values.to_vec()),
        "NotIn" => Test::NotIn(values.to_vec()),
        "Exists" => Test::Exists,
        "DoesNotExist" => Test::DoesNotExist,
        "Gt" => number().map_or(Test::Never, Test::Gt),
        "Lt" => number().map_or(Test::Never, Test::Lt),
        _ => Test::Never,
    };
    Requirement {
        key: key.to_owned(),
        test,
    }
}
