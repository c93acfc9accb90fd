//! Topology assignments: the form of the wire and back, and the nodes they name.

use cache::topology::{chunks, decode, encode, encode_by_prefix, prefix_keys, runs};
use kueue_api::v1beta2 as api;
use scheduler::topology::{DomainAssignment, HOSTNAME, TopologyAssignment, lies_within};
use serde_json::{Value, json};

use super::File;
use crate::compare::{differences, lean};
use crate::corpus::{Case, parse, read};
use crate::topology::{assignment, domains, written};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestBelongsTo", belongs_to),
    ("TestChunkCount", chunk_count),
    ("TestCompactDomainRuns", domain_runs),
    (
        "TestCompactTopologyAssignmentEncodingWithHostnamePrefixRuns",
        encoded_by_prefix,
    ),
    ("TestHasNodeInPodSetAssignment", node_in_pod_set),
    ("TestHasTASAssignmentOnNode", node_in_admission),
    ("TestInternalFromV1Beta2", decoded),
    ("TestNodeNameFromDomainID", node_name),
    ("TestReusableHostnamePrefixKeys", reusable_prefixes),
    ("TestTotalDomainCount", domain_count),
    ("TestV1Beta2FromInternal", encoded),
    (
        "TestV1Beta2FromInternal_hostnamePrefixFeatureGateAndFallback",
        shorter_encoding,
    ),
];

fn same(got: &impl serde::Serialize, want: &Value) -> Verdict {
    let got = lean(&serde_json::to_value(got).unwrap());
    let found = differences(&got, &lean(want));
    if found.is_empty() {
        Verdict::Passed
    } else {
        Verdict::Failed(found.join("\n"))
    }
}

fn split(id: &Value) -> Vec<String> {
    let id: String = read(id);
    let parts = id.split(',').filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

fn belongs_to(case: Case<'_>) -> Verdict {
    let input = case.input;
    let got = lies_within(&split(&input["domainID"]), &split(&input["targetDomain"]));
    Verdict::equal("belongs to it", &got, &read(&case.want["want"]))
}

fn chunk_count(case: Case<'_>) -> Verdict {
    let got = chunks(read(&case.input["length"]), parse(&case.input["chunkSize"]));
    Verdict::equal("chunks", &got, &read(&case.want["want"]))
}

fn domain_runs(case: Case<'_>) -> Verdict {
    let all = domains(&case.input["domains"]);
    let keys: Vec<String> = read(&case.input["prefixKeys"]);
    let got: Vec<_> = runs(&all, &keys).iter().map(|run| run.len()).collect();
    Verdict::equal("lengths", &got, &read(&case.want["want"]))
}

fn reusable_prefixes(case: Case<'_>) -> Verdict {
    let got = prefix_keys(&domains(&case.input["domains"]));
    Verdict::equal("keys", &got, &read(&case.want["want"]))
}

fn encoded_by_prefix(case: Case<'_>) -> Verdict {
    let internal = assignment(&case.input["internal"]);
    same(&encode_by_prefix(&internal), &case.want["want"])
}

fn encoded(case: Case<'_>) -> Verdict {
    let internal = assignment(&case.input["internal"]);
    let by_prefix = case.gate("TASAssignmentsEncodingByHostnamePrefix");
    same(&encode(&internal, by_prefix), &case.want["v1beta2"])
}

fn decoded(case: Case<'_>) -> Verdict {
    let encoded: api::TopologyAssignment = parse(&case.input["v1beta2"]);
    same(
        &decode(&encoded).map(|read| written(&read)),
        &case.want["internal"],
    )
}

fn domain_count(case: Case<'_>) -> Verdict {
    let encoded: api::TopologyAssignment = parse(&case.input["v1beta2"]);
    let got = decode(&encoded).map(|read| read.domains.len());
    Verdict::equal("domains", &got, &Some(read(&case.want["totalDomainCount"])))
}

/// As many nodes of two pools as the case says.
fn shorter_encoding(case: Case<'_>) -> Verdict {
    let count: usize = parse(&case.input["domainCount"]);
    let name = |index: usize| match index.checked_sub(count / 2) {
        None => format!("pool-a-node-{index:05}"),
        Some(index) => format!("pool-b-node-{index:05}"),
    };
    let domains = (0..count).map(|index| DomainAssignment {
        values: vec![name(index)],
        count: 1,
    });
    let internal = TopologyAssignment {
        levels: vec![HOSTNAME.to_owned()],
        domains: domains.collect(),
    };
    let by_prefix = case.gate("TASAssignmentsEncodingByHostnamePrefix");
    let got = encode(&internal, by_prefix);
    let want = if read(&case.want["wantHostnamePrefixEncoding"]) {
        encode_by_prefix(&internal)
    } else {
        encode(&internal, false)
    };
    let there_and_back = Verdict::equal("read again", &decode(&got), &Some(internal));
    Verdict::all([Verdict::equal("encoded", &got, &want), there_and_back])
}

fn uses(pod_set: &api::PodSetAssignment, node: &str) -> bool {
    let assigned = pod_set.topology_assignment.as_ref().and_then(decode);
    assigned.is_some_and(|assigned| assigned.uses_node(node))
}

fn node_in_pod_set(case: Case<'_>) -> Verdict {
    let node: String = read(&case.input["nodeName"]);
    let pod_set: Option<api::PodSetAssignment> = read(&case.input["psa"]);
    let got = pod_set.is_some_and(|pod_set| uses(&pod_set, &node));
    Verdict::equal("uses the node", &got, &read(&case.want["want"]))
}

fn node_in_admission(case: Case<'_>) -> Verdict {
    let node: String = read(&case.input["nodeName"]);
    let pod_sets: Vec<api::PodSetAssignment> = read(&case.input["admission"]["podSetAssignments"]);
    let got = pod_sets.iter().any(|pod_set| uses(pod_set, &node));
    Verdict::equal("uses the node", &got, &read(&case.want["want"]))
}

fn node_name(case: Case<'_>) -> Verdict {
    let one = assignment(&json!({
        "levels": case.input["levels"],
        "domains": [{"values": [case.input["domainID"].as_str().unwrap_or_default()]}],
    }));
    let name = one.nodes().next();
    let found = Verdict::equal("names a node", &name.is_some(), &read(&case.want["wantOK"]));
    let want: String = read(&case.want["wantNodeName"]);
    Verdict::all([
        found,
        Verdict::equal("node", &name.unwrap_or_default(), &want.as_str()),
    ])
}
