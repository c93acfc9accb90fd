//! `namespace`, `flavor`, `topology` and `node`: what quota is given for.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Namespace, Node, NodeCondition, NodeSpec, NodeStatus};
use kueue_api::v1beta2 as api;
use kueue_api::{ObjectMeta, Quantity};

use super::objects::{Object, taint, toleration};
use super::words::{Words, level, resource};
use super::{Clause, Problem};

const HOSTNAME: &str = "kubernetes.io/hostname";

pub(super) fn namespace(name: &str, settings: &[Clause]) -> Result<Object, Problem> {
    let mut labels = BTreeMap::from([("kubernetes.io/metadata.name".to_owned(), name.to_owned())]);
    for clause in settings {
        let mut words = Words::of(clause);
        words.expect("label")?;
        labels.extend([words.pair("a label")?]);
        words.end()?;
    }
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    Ok(Object::Namespace(Box::new(Namespace {
        metadata,
        ..Namespace::default()
    })))
}

pub(super) fn flavor(name: &str, settings: &[Clause]) -> Result<Object, Problem> {
    let mut flavor = api::ResourceFlavor::named(name);
    let spec = &mut flavor.spec;
    for clause in settings {
        let mut words = Words::of(clause);
        match words.word("label, taint, tolerates or topology")? {
            "label" => spec.node_labels.extend([words.pair("a label")?]),
            "taint" => spec.node_taints.push(a_taint(&mut words)?),
            "tolerates" => spec
                .tolerations
                .push(toleration(words.word("a taint's key")?)),
            "topology" => {
                spec.topology_name = Some(words.word("the name of a topology")?.to_owned());
            }
            other => {
                return Err(words.problem(format!(
                    "expected label, taint, tolerates or topology, found `{other}`"
                )));
            }
        }
        words.end()?;
    }
    Ok(Object::Flavor(Box::new(flavor)))
}

fn a_taint(words: &mut Words<'_>) -> Result<kueue_api::Taint, Problem> {
    let text = words.word("a taint as key=value:Effect")?;
    let read = taint(text);
    read.ok_or_else(|| {
        words.problem(format!(
            "expected a taint as key=value:NoSchedule, found `{text}`"
        ))
    })
}

/// `topology NAME of LEVEL LEVEL…`, the widest first.
pub(super) fn topology(name: &str, words: &mut Words<'_>) -> Result<Object, Problem> {
    words.expect("of")?;
    let mut topology = api::Topology::named(name);
    let mut next = words.word("the label of a level")?;
    loop {
        topology.spec.levels.push(api::TopologyLevel {
            node_label: level(next),
        });
        match words.next() {
            Some(word) => next = word,
            None => return Ok(Object::Topology(Box::new(topology))),
        }
    }
}

pub(super) fn node(name: &str, settings: &[Clause]) -> Result<Object, Problem> {
    let mut labels = BTreeMap::from([(HOSTNAME.to_owned(), name.to_owned())]);
    let mut room = BTreeMap::from([("pods".to_owned(), Quantity("110".to_owned()))]);
    let (mut spec, mut ready) = (NodeSpec::default(), true);
    for clause in settings {
        let mut words = Words::of(clause);
        match words.word("label, has, taint, broken or cordoned")? {
            "label" => labels.extend([words.pair("a label")?]),
            "taint" => spec
                .taints
                .get_or_insert_default()
                .push(a_taint(&mut words)?),
            "broken" => ready = false,
            "cordoned" => spec.unschedulable = Some(true),
            "has" => {
                while let Some(word) = words.next() {
                    room.insert(resource(word), words.quantity("an amount")?);
                }
            }
            other => {
                return Err(words.problem(format!(
                    "expected label, has, taint, broken or cordoned, found `{other}`"
                )));
            }
        }
        words.end()?;
    }
    let condition = NodeCondition {
        type_: "Ready".to_owned(),
        status: if ready { "True" } else { "False" }.to_owned(),
        ..NodeCondition::default()
    };
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        labels: Some(labels),
        ..ObjectMeta::default()
    };
    let status = NodeStatus {
        allocatable: Some(room.clone()),
        capacity: Some(room),
        conditions: Some(vec![condition]),
        ..NodeStatus::default()
    };
    Ok(Object::Node(Box::new(Node {
        metadata,
        spec: Some(spec),
        status: Some(status),
    })))
}
