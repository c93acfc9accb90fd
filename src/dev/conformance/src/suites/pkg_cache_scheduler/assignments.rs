//! Topology assignments as values: counting, cutting, merging, what they take, and whether their domains are still there.

use std::collections::BTreeMap;
use std::sync::Arc;

use quantity::{Amount, Requests, ResourceName};
use scheduler::topology::{AssumedUsage, Node, SliceConstraint, Snapshot, TopologyRequest, Tree};
use serde_json::Value;

use crate::corpus::{Case, amount, read};
use crate::topology::assignment;
use crate::verdict::Verdict;

/// Amounts by resource.
pub(super) fn requests(value: &Value) -> Requests {
    let amounts = value.as_object().into_iter().flatten();
    amounts
        .map(|(name, value)| (ResourceName::from(name.as_str()), amount(value)))
        .collect()
}

/// What a pod set asks of a topology, in the words of the API.
pub(super) fn topology_request(value: &Value) -> TopologyRequest {
    let text = |field: &str| value[field].as_str().map(str::to_owned);
    let layers = value["podsetSliceRequiredTopologyConstraints"].as_array();
    let mut slices: Vec<_> = layers
        .into_iter()
        .flatten()
        .map(|layer| SliceConstraint {
            level: read(&layer["topology"]),
            size: read(&layer["size"]),
        })
        .collect();
    if let (true, Some(level)) = (slices.is_empty(), text("podSetSliceRequiredTopology")) {
        let size = read(&value["podSetSliceSize"]);
        slices.push(SliceConstraint { level, size });
    }
    TopologyRequest {
        required: text("required"),
        preferred: text("preferred"),
        unconstrained: value["unconstrained"].as_bool(),
        slices,
        group: None,
    }
}

/// A topology with one empty node a domain.
fn snapshot(levels: &[String], domains: &[Vec<String>]) -> Snapshot {
    let nodes: Vec<_> = domains
        .iter()
        .map(|values| {
            let labels = levels.iter().cloned().zip(values.iter().cloned());
            Arc::new(Node {
                name: values.join("-").into(),
                labels: labels.collect(),
                ..Node::default()
            })
        })
        .collect();
    Snapshot::new("default", Arc::new(Tree::build(levels, &nodes)), &[])
}

/// Usage by domain, domains named by their values joined with commas.
fn by_domain(usage: &AssumedUsage) -> BTreeMap<String, Vec<(String, Amount)>> {
    let amounts = |requests: &Requests| {
        let amounts = requests.iter();
        amounts
            .map(|(name, amount)| (name.to_string(), *amount))
            .collect()
    };
    usage
        .by_domain()
        .iter()
        .map(|(values, requests)| (values.join(","), amounts(requests)))
        .collect()
}

fn assumed(value: &Value) -> AssumedUsage {
    let mut usage = AssumedUsage::new();
    for (domain, amounts) in value.as_object().into_iter().flatten() {
        let values: Vec<String> = domain.split(',').map(str::to_owned).collect();
        usage.add(&values, &requests(amounts));
    }
    usage
}

pub(super) fn adds_assumed(case: Case<'_>) -> Verdict {
    let mut usage = assumed(&case.input["assumedUsage"]);
    usage.add_assignment(
        &assignment(&case.input["assignment"]),
        &requests(&case.input["tasRequests"]["singlePodRequests"]),
    );
    Verdict::equal(
        "usage",
        &by_domain(&usage),
        &by_domain(&assumed(&case.want["want"])),
    )
}

pub(super) fn assumes(case: Case<'_>) -> Verdict {
    let mut usage = AssumedUsage::new();
    usage.add_assignment(
        &assignment(&case.input["assignment"]),
        &requests(&case.common["singlePodRequests"]),
    );
    Verdict::equal(
        "usage",
        &by_domain(&usage),
        &by_domain(&assumed(&case.want["want"])),
    )
}

pub(super) fn counts_pods(case: Case<'_>) -> Verdict {
    let pods = assignment(&case.input["assignment"]).pods();
    Verdict::equal("pods", &pods, &read(&case.want["want"]))
}

pub(super) fn truncates(case: Case<'_>) -> Verdict {
    let cut = assignment(&case.input["assignment"]).truncated(read(&case.input["newCount"]));
    Verdict::equal("assignment", &cut, &assignment(&case.want["want"]))
}

pub(super) fn has_level(case: Case<'_>) -> Verdict {
    let topology = snapshot(&read::<Vec<String>>(&case.common["levels"]), &[]);
    let found = topology.has_level(&topology_request(&case.input["podSetTopologyRequest"]));
    Verdict::equal("has level", &found, &read(&case.want["want"]))
}

pub(super) fn finds_stale_domain(case: Case<'_>) -> Verdict {
    let levels: Vec<String> = read(&case.input["levels"]);
    let topology = snapshot(
        &levels,
        &read::<Vec<Vec<String>>>(&case.input["leafDomains"]),
    );
    let stale = assignment(&case.input["assignment"]);
    let found = topology.stale_domain(&stale);
    let want = case.want["wantStale"] == true;
    let want = want.then(|| case.want["wantStaleDomain"].as_str().unwrap_or_default());
    Verdict::equal("stale domain", &found, &want)
}

pub(super) fn merges(case: Case<'_>) -> Verdict {
    let levels: Vec<String> = read(&case.common["levels"]);
    let nodes = case.common["nodes"].as_array().into_iter().flatten();
    let domains: Vec<Vec<String>> = nodes
        .map(|node| {
            let label = |level: &String| read(&node["metadata"]["labels"][level]);
            levels.iter().map(label).collect()
        })
        .collect();
    let merged = snapshot(&levels, &domains)
        .merged(&assignment(&case.input["a"]), &assignment(&case.input["b"]));
    Verdict::equal("assignment", &merged, &assignment(&case.want["want"]))
}
