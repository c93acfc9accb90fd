//! Labels, selectors, taints and tolerations as the scheduler needs them. What is malformed never gets here: conversion refuses it.

use std::collections::BTreeMap;

/// Labels of a namespace or a node.
pub type Labels = BTreeMap<String, String>;

/// One requirement on a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label's key.
    pub key: String,
    /// What its value has to satisfy.
    pub test: Test,
}

/// What a label's value has to satisfy.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Present, with one of these values.
    In(Vec<String>),
    /// Absent, or with none of these values.
    NotIn(Vec<String>),
    /// Present.
    Exists,
    /// Absent.
    DoesNotExist,
    /// Present and greater than this number.
    Gt(i64),
    /// Present and less than this number.
    Lt(i64),
    /// Nothing satisfies an operator nobody knows.
    Never,
}

impl Requirement {
    /// Whether the labels satisfy it.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.accepts(labels.get(&self.key).map(String::as_str))
    }

    fn accepts(&self, value: Option<&str>) -> bool {
        let number = || value.and_then(|value| value.parse::<i64>().ok());
        let among = |values: &[String], value: &str| values.iter().any(|known| known == value);
        match &self.test {
            Test::In(values) => value.is_some_and(|value| among(values, value)),
            Test::NotIn(values) => value.is_none_or(|value| !among(values, value)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
            Test::Gt(limit) => number().is_some_and(|number| number > *limit),
            Test::Lt(limit) => number().is_some_and(|number| number < *limit),
            Test::Never => false,
        }
    }
}

/// Which labels match. The empty selector matches everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Selector {
    /// All of them have to hold.
    pub requirements: Vec<Requirement>,
}

impl Selector {
    /// Whether the labels match.
    #[must_use]
    pub fn matches(&self, labels: &Labels) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.matches(labels))
    }
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Effect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away if they can.
    PreferNoSchedule,
    /// New pods stay away and running ones leave.
    NoExecute,
}

impl Effect {
    /// As it is written in objects.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
        }
    }

    /// Whether an untolerated taint keeps pods away for certain.
    #[must_use]
    pub fn forbids(self) -> bool {
        matches!(self, Self::NoSchedule | Self::NoExecute)
    }
}

/// A taint of the nodes of a flavor.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// Its key.
    pub key: String,
    /// Its value, maybe empty.
    pub value: String,
    /// What it does.
    pub effect: Effect,
}

/// What a pod tolerates.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    /// The taint's key; empty tolerates every key.
    pub key: String,
    /// The value it has to have; `None` tolerates every value.
    pub value: Option<String>,
    /// The effect; `None` tolerates every effect.
    pub effect: Option<Effect>,
}

impl Toleration {
    /// Whether pods with it may stay where the taint is.
    #[must_use]
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.effect.is_none_or(|effect| effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && self
                .value
                .as_ref()
                .is_none_or(|value| *value == taint.value)
    }
}

/// The first taint that keeps the pods away, given all they tolerate.
pub(crate) fn untolerated<'a>(
    taints: &'a [Taint],
    tolerations: &[&[Toleration]],
) -> Option<&'a Taint> {
    let tolerated = |taint: &Taint| {
        tolerations
            .iter()
            .copied()
            .flatten()
            .any(|toleration| toleration.tolerates(taint))
    };
    taints
        .iter()
        .find(|taint| taint.effect.forbids() && !tolerated(taint))
}

/// The one field of a node that affinity can ask for, written like a label's key.
pub const NODE_NAME: &str = "metadata.name";

/// The node labels that pods insist on: a plain selector and the terms of their required node affinity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct NodeAffinity {
    /// Labels that have to have exactly these values.
    pub selector: Labels,
    /// Alternatives, one of which has to match; none at all ask for nothing.
    pub terms: Vec<Vec<Requirement>>,
}

impl NodeAffinity {
    /// Whether a node with these labels is selected by the plain selector.
    #[must_use]
    pub fn selects(&self, labels: &Labels) -> bool {
        let mut selector = self.selector.iter();
        selector.all(|(key, value)| labels.get(key) == Some(value))
    }

    /// Whether the terms accept a node. A term that asks for nothing accepts nothing; [`NODE_NAME`] is the node's name, not a label.
    #[must_use]
    pub fn admits(&self, name: &str, labels: &Labels) -> bool {
        let holds = |requirement: &Requirement| match requirement.key.as_str() {
            NODE_NAME => requirement.accepts(Some(name)),
            _ => requirement.matches(labels),
        };
        let accepts = |term: &Vec<Requirement>| !term.is_empty() && term.iter().all(holds);
        self.terms.is_empty() || self.terms.iter().any(accepts)
    }

    /// Whether nodes with exactly these labels match, looking only at the keys they have: other labels may still differ from node to node.
    #[must_use]
    pub fn matches_flavor(&self, labels: &Labels) -> bool {
        let selected = self
            .selector
            .iter()
            .all(|(key, value)| labels.get(key).is_none_or(|own| own == value));
        let holds = |term: &Vec<Requirement>| {
            let mut relevant = term
                .iter()
                .filter(|requirement| labels.contains_key(&requirement.key));
            relevant.all(|requirement| requirement.matches(labels))
        };
        selected && (self.terms.is_empty() || self.terms.iter().any(holds))
    }
}
