//! What the cache knows of nodes, and of pods that nobody placed by topology.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cache::topology::{Foreign, Nodes};
use k8s_openapi::api::core::v1::{Node, Pod};
use quantity::Requests;
use scheduler::topology;

use crate::corpus::{Case, each, parse, read};
use crate::verdict::Verdict;
use crate::world::keys;

fn of(objects: &[Node]) -> Nodes {
    let mut nodes = Nodes::default();
    for object in objects {
        nodes.apply(object);
    }
    nodes
}

fn names<'a>(nodes: impl Iterator<Item = &'a Arc<topology::Node>>) -> BTreeSet<String> {
    nodes.map(|node| node.name.to_string()).collect()
}

/// The nodes of a flavor. The case puts them into the cache without asking whether they are ready.
pub(super) fn find(case: Case<'_>) -> Verdict {
    let mut objects: Vec<Node> = each(&case.common["nc"]["nodes"]);
    for node in &mut objects {
        let ready = serde_json::json!({"conditions": [{"type": "Ready", "status": "True"}]});
        node.status = Some(parse(&ready));
    }
    let nodes = of(&objects);
    let labels: BTreeMap<String, String> = read(&case.input["nodeLabels"]);
    let levels: Vec<String> = read(&case.input["levels"]);
    let want: Vec<Node> = each(&case.want["wantNodes"]);
    Verdict::equal(
        "nodes",
        &names(nodes.find(&labels, &levels)),
        &names(of(&want).all()),
    )
}

/// With the library of the Kubernetes scheduler the reference remembers nodes that pods may not be sent to; we always do, and use them never.
pub(super) fn sync(case: Case<'_>) -> Verdict {
    let nodes = of(&[parse(&case.input["node"])]);
    let usable: BTreeSet<String> = read(&case.want["wantSchedulableAndReady"]);
    let mut verdicts = vec![Verdict::equal("usable", &names(nodes.usable()), &usable)];
    if case.gate("SchedulerLibraryIntegration") {
        let want: Vec<Node> = each(&case.want["wantNodes"]);
        let known = Verdict::equal("known", &names(nodes.all()), &names(of(&want).all()));
        verdicts.push(known);
    }
    Verdict::all(verdicts)
}

/// Pods come and go; what is left on each node.
pub(super) fn foreign(case: Case<'_>) -> Verdict {
    let mut foreign = Foreign::default();
    for pod in each::<Pod>(&case.input["initialPods"]) {
        foreign.apply(&pod);
    }
    for key in keys(&case.input["podsDelete"]) {
        foreign.delete(key.namespace.as_str(), &key.name);
    }
    let amounts = |sum: &Requests| -> BTreeMap<String, i64> {
        let taken = sum.iter().filter(|(_, amount)| amount.value() != 0);
        taken
            .map(|(name, amount)| (name.to_string(), amount.value()))
            .collect()
    };
    let got: BTreeMap<String, BTreeMap<String, i64>> = foreign
        .by_node()
        .map(|(node, sum)| (node.to_owned(), amounts(sum)))
        .collect();
    Verdict::equal("taken", &got, &read(&case.want["wantNodeUsage"]))
}
