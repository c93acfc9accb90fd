//! Where the pods of pod sets are placed among nodes, and why not.

use std::collections::BTreeMap;
use std::sync::Arc;

use cache::topology::{Foreign, Nodes};
use kueue_api::v1beta2 as api;
use quantity::{Amount, ResourceName};
use scheduler::messages::unplaced;
use scheduler::topology::{
    AssumedUsage, Gates, PodSetRequest, PreferredTerm, Search, Snapshot, TopologyAssignment, Tree,
    Unhealthy,
};
use scheduler::{Effect, Labels, NodeAffinity, PodSetName, Requirement, Test, Toleration};
use serde_json::Value;

use super::assignments::{requests, topology_request};
use crate::corpus::{Case, parse, read};
use crate::topology::assignment;
use crate::verdict::Verdict;

/// Levels of the cases that say none.
const LEVELS: [&str; 3] = [
    "cloud.com/topology-block",
    "cloud.com/topology-rack",
    "kubernetes.io/hostname",
];

/// What each pod set received, or why it did not.
type Results = BTreeMap<String, (Option<TopologyAssignment>, Option<String>)>;

pub(super) fn finds(case: Case<'_>) -> Verdict {
    let input = case.input;
    let snapshot = world(input, &read::<Vec<String>>(&input["levels"]));
    let workload: Option<api::Workload> =
        (!input["workload"].is_null()).then(|| parse(&input["workload"]));
    let mut asked: Vec<_> = list(&input["podSets"]).map(pod_set).collect();
    let unhealthy = workload
        .as_ref()
        .and_then(|workload| unhealthy(workload, case));
    for request in &mut asked {
        request.current = workload
            .as_ref()
            .and_then(|workload| current(workload, request.pod_set.as_str()));
    }
    let got = search(&snapshot, &asked, unhealthy, case);
    let mut want = Results::new();
    for (name, result) in case.want["result"].as_object().into_iter().flatten() {
        let placed = &result["assignment"];
        let placed = (!placed.is_null()).then(|| assignment(placed));
        want.insert(name.clone(), (placed, text(&result["reason"])));
    }
    Verdict::equal("placement", &got, &want)
}

pub(super) fn replaces(case: Case<'_>) -> Verdict {
    let input = case.input;
    let mut levels: Vec<String> = read(&input["levels"]);
    if levels.is_empty() {
        levels = LEVELS.map(str::to_owned).to_vec();
    }
    let snapshot = world(input, &levels);
    let workload: api::Workload = parse(&input["setup"]["wl"]);
    let per_pod = [(ResourceName::from("cpu"), Amount::new(1000))];
    let mut request = PodSetRequest::new(
        PodSetName::from("main"),
        read(&input["count"]),
        per_pod.into_iter().collect(),
    );
    request.request = topology_request(&input["topologyRequest"]);
    request.current = current(&workload, "main");
    let got = search(&snapshot, &[request], unhealthy(&workload, case), case);
    let placed = &case.want["wantAssignment"];
    let placed = (!placed.is_null()).then(|| assignment(placed));
    let want = [("main".to_owned(), (placed, text(&case.want["wantReason"])))];
    Verdict::equal("placement", &got, &want.into_iter().collect())
}

fn search(
    snapshot: &Snapshot,
    asked: &[PodSetRequest],
    unhealthy: Option<Unhealthy>,
    case: Case<'_>,
) -> Results {
    let search = Search {
        gates: Gates {
            profile_mixed: case.gate("TASProfileMixed"),
            balanced_placement: case.gate("TASBalancedPlacement"),
            respect_node_affinity_preferred: case.gate("TASRespectNodeAffinityPreferred"),
            elastic_jobs: case.gate("ElasticJobsViaWorkloadSlicesWithTAS"),
        },
        empty: false,
        unhealthy,
    };
    let mut results = Results::new();
    let placed = match snapshot.find(asked, &mut AssumedUsage::new(), &search) {
        Ok(placed) => placed,
        Err(failure) => {
            let why = unplaced(&failure.reason);
            for name in &failure.pod_sets {
                results.insert(name.to_string(), (None, Some(why.clone())));
            }
            failure.placed
        }
    };
    for (name, placed) in placed {
        results.insert(name.to_string(), (Some(placed), None));
    }
    results
}

/// The unhealthy node of a workload; a workload that is one pod keeps its place if the gate says so.
fn unhealthy(workload: &api::Workload, case: Case<'_>) -> Option<Unhealthy> {
    let status = serde_json::to_value(&workload.status).unwrap();
    let node = text(&status["unhealthyNodes"][0]["name"])?;
    let owners = workload.metadata.owner_references.iter().flatten();
    let owners: Vec<_> = owners
        .map(|owner| (owner.kind.as_str(), owner.api_version.as_str()))
        .collect();
    let grouped = workload.metadata.annotations.iter().flatten();
    let mut grouped = grouped.filter(|(key, _)| *key == "kueue.x-k8s.io/is-group-workload");
    let one_pod = owners == [("Pod", "v1")] && grouped.all(|(_, value)| value != "true");
    Some(Unhealthy {
        node,
        keep: one_pod && case.gate("SkipReassignmentForPodOwnedWorkloads"),
    })
}

/// Where the pods of a pod set run.
fn current(workload: &api::Workload, pod_set: &str) -> Option<TopologyAssignment> {
    let status = serde_json::to_value(&workload.status).unwrap();
    let all = status["admission"]["podSetAssignments"].clone();
    let own = list(&all).find(|own| own["name"] == pod_set)?["topologyAssignment"].clone();
    encoded(&own)
}

fn encoded(value: &Value) -> Option<TopologyAssignment> {
    if value.is_null() {
        return None;
    }
    cache::topology::decode(&parse::<api::TopologyAssignment>(value))
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The nodes of a case with what runs on them.
fn world(input: &Value, levels: &[String]) -> Snapshot {
    let mut known = Nodes::default();
    for node in list(&input["nodes"]) {
        known.apply(&parse(node));
    }
    let mut foreign = Foreign::default();
    for pod in list(&input["pods"]) {
        foreign.apply(&parse(pod));
    }
    let labels: Labels = read(&input["nodeLabels"]);
    let tree = Tree::build(levels, known.find(&labels, levels));
    let mut snapshot = Snapshot::new("default", Arc::new(tree), &[]);
    for (node, usage) in foreign.by_node() {
        snapshot.subtract_foreign(node, usage);
    }
    for usage in list(&input["priorOwnUsage"]).chain(list(&input["priorFlavorUsage"])) {
        let count: i64 = read(&usage["count"]);
        let mut amounts = requests(&usage["singlePodRequests"]).times(count);
        amounts.add(&ResourceName::pods(), Amount::new(count));
        snapshot.add_usage(&read::<Vec<String>>(&usage["values"]), &amounts);
    }
    for (domain, amounts) in input["aggregatedDomainUsages"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let values: Vec<String> = domain.split(',').map(str::to_owned).collect();
        snapshot.add_usage(&values, &requests(amounts));
    }
    snapshot
}

fn effect(value: &Value) -> Option<Effect> {
    match value.as_str()? {
        "NoSchedule" => Some(Effect::NoSchedule),
        "PreferNoSchedule" => Some(Effect::PreferNoSchedule),
        "NoExecute" => Some(Effect::NoExecute),
        other => panic!("`{other}` is no effect"),
    }
}

fn pod_set(value: &Value) -> PodSetRequest {
    let name: String = read(&value["podSetName"]);
    let name = if name.is_empty() { "main" } else { &name };
    let mut request = PodSetRequest::new(
        PodSetName::from(name),
        read(&value["count"]),
        requests(&value["requests"]),
    );
    request.implied = value["topologyRequest"].is_null();
    request.request = topology_request(&value["topologyRequest"]);
    request.request.group = text(&value["podSetGroupName"]);
    request.tolerations = list(&value["tolerations"]).map(toleration).collect();
    let affinity = &value["nodeAffinity"];
    let required = &affinity["requiredDuringSchedulingIgnoredDuringExecution"];
    request.nodes = NodeAffinity {
        selector: read(&value["nodeSelector"]),
        terms: list(&required["nodeSelectorTerms"]).map(term).collect(),
    };
    let preferred = list(&affinity["preferredDuringSchedulingIgnoredDuringExecution"]);
    request.preferred_nodes = preferred
        .map(|one| PreferredTerm {
            weight: read(&one["weight"]),
            requirements: term(&one["preference"]),
        })
        .collect();
    request.previous = encoded(&value["previousAssignment"]);
    request
}

fn toleration(value: &Value) -> Toleration {
    let exists = value["operator"] == "Exists";
    Toleration {
        key: read(&value["key"]),
        value: (!exists).then(|| read(&value["value"])),
        effect: effect(&value["effect"]),
    }
}

fn term(value: &Value) -> Vec<Requirement> {
    let expressions = list(&value["matchExpressions"]).chain(list(&value["matchFields"]));
    let requirement = |expression: &Value| {
        let values: Vec<String> = read(&expression["values"]);
        let number = || values.first().and_then(|value| value.parse().ok()).unwrap();
        Requirement {
            key: read(&expression["key"]),
            test: match expression["operator"].as_str().unwrap() {
                "In" => Test::In(values.clone()),
                "NotIn" => Test::NotIn(values.clone()),
                "Exists" => Test::Exists,
                "DoesNotExist" => Test::DoesNotExist,
                "Gt" => Test::Gt(number()),
                "Lt" => Test::Lt(number()),
                _ => Test::Never,
            },
        }
    };
    expressions.map(requirement).collect()
}
