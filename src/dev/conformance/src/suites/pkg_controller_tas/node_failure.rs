//! What follows when a node fails: for workloads that are placed on it, and for pods that wait for it.

use cache::{Cache, Draft, Eviction, Health, NodeNews, Remedy, WorkloadKey};
use jiff::SignedDuration;
use k8s_openapi::api::core::v1::{Node, Pod};
use kueue_api::conditions;
use kueue_api::v1beta2::{ResourceFlavor, UnhealthyNode, Workload};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world::{key, options};

/// The objects of a kind.
fn of_kind<T: DeserializeOwned>(all: &[Value], kind: &str) -> Vec<T> {
    let own = all.iter().filter(|object| object["kind"] == kind);
    own.map(parse).collect()
}

fn apply(workload: &mut Workload, remedy: &Remedy, node: &str) {
    let mut status = workload.status.clone().unwrap_or_default();
    match remedy {
        Remedy::Replace => status.unhealthy_nodes.push(UnhealthyNode {
            name: node.to_owned(),
        }),
        Remedy::Recovered => status.unhealthy_nodes.retain(|known| known.name != node),
        Remedy::Evict(message) => {
            let eviction = Eviction::new("NodeFailures", message);
            status = Draft::of(workload, now()).evicted(&eviction).done();
        }
    }
    workload.status = Some(status);
}

/// The news of some nodes, one after the other.
pub(super) fn remedied(case: Case<'_>) -> Verdict {
    let objects: Vec<Value> = each(&case.input["initObjs"]);
    let mut cache = Cache::new(options(&case));
    let mut flavors: Vec<ResourceFlavor> = of_kind(&objects, "ResourceFlavor");
    flavors.push(parse(&case.common["baseResourceFlavor"]));
    for flavor in flavors.iter().rev() {
        let _ = cache.apply_resource_flavor(flavor);
    }
    let nodes: Vec<Node> = of_kind(&objects, "Node");
    let pods: Vec<Pod> = of_kind(&objects, "Pod");
    let mut workloads: Vec<Workload> = of_kind(&objects, "Workload");
    let (mut failed, mut again) = (Vec::new(), SignedDuration::ZERO);
    for request in read::<Vec<String>>(&case.input["reconcileRequests"]) {
        let name = request.trim_start_matches('/');
        let named = |node: &&Node| node.metadata.name.as_deref() == Some(name);
        let known: Vec<&Workload> = workloads.iter().collect();
        let news = NodeNews {
            name,
            node: nodes.iter().find(named),
            workloads: &known,
            pods: &pods.iter().collect::<Vec<_>>(),
        };
        let remedies = cache.remedies(&news, now());
        for workload in &mut workloads {
            let of: WorkloadKey = key(workload);
            if let Some(remedy) = remedies.workloads.get(&of) {
                apply(workload, remedy, name);
            }
        }
        failed.extend(remedies.pods.into_iter().map(|(_, name)| name));
        again = again.max(remedies.again_after.unwrap_or_default());
    }
    compare(&case, &workloads, &failed, again)
}

/// Whether one workload is well on one node, and which pods are given up there.
pub(super) fn health(case: Case<'_>) -> Verdict {
    let objects: Vec<Value> = each(&case.input["initObjs"]);
    let cache = Cache::new(options(&case));
    let nodes: Vec<Node> = of_kind(&objects, "Node");
    let given = (!case.input["node"].is_null()).then(|| parse(&case.input["node"]));
    let node: Option<Node> = given.or_else(|| nodes.into_iter().next());
    let name: String = read(&case.input["nodeName"]);
    let workloads: Vec<Workload> = of_kind(&objects, "Workload");
    let pods: Vec<Pod> = of_kind(&objects, "Pod");
    let news = NodeNews {
        name: &name,
        node: node.as_ref(),
        workloads: &workloads.iter().collect::<Vec<_>>(),
        pods: &pods.iter().collect::<Vec<_>>(),
    };
    let judged = workloads.first().zip(news.node);
    let (health, failed) = judged.map_or((Health::Good, Vec::new()), |(workload, node)| {
        cache.health(&news, node, workload)
    });
    let failed: Vec<String> = failed.into_iter().map(|(_, name)| name).collect();
    let unhealthy = i64::from(health == Health::Bad);
    Verdict::all([
        Verdict::equal("unhealthy", &unhealthy, &read(&case.want["wantStatus"])),
        Verdict::equal("failed pods", &failed, &read(&case.want["wantDeleted"])),
    ])
}

fn compare(
    case: &Case<'_>,
    workloads: &[Workload],
    failed: &[String],
    again: SignedDuration,
) -> Verdict {
    let status = |workload: &Workload| workload.status.clone().unwrap_or_default();
    let unhealthy = workloads
        .iter()
        .flat_map(|workload| status(workload).unhealthy_nodes);
    let unhealthy: Vec<_> = unhealthy.map(|node| json!({"name": node.name})).collect();
    let evicted = workloads.iter().find_map(|workload| {
        conditions::find(&status(workload).conditions, "Evicted")
            .filter(|_| !case.want["wantEvictedCond"].is_null())
            .map(|found| json!({"message": found.message, "reason": found.reason, "status": found.status, "type": found.type_}))
    });
    // Others may fail beside those that the case names.
    let wanted: Vec<String> = read(&case.want["wantPatchedPods"]);
    let named: Vec<String> = failed
        .iter()
        .filter(|name| wanted.contains(name))
        .cloned()
        .collect();
    let mut verdicts = vec![
        Verdict::equal(
            "again after",
            &format!("{}s", again.as_secs()),
            &read(&case.want["wantRequeue"]),
        ),
        Verdict::equal("failed pods", &named, &wanted),
        Verdict::equal("evicted", &evicted, &read(&case.want["wantEvictedCond"])),
    ];
    if case.input["ignoreUnhealthyNodes"] != true {
        verdicts.push(Verdict::equal(
            "unhealthy",
            &unhealthy,
            &read(&case.want["wantUnhealthyNodes"]),
        ));
    }
    Verdict::all(verdicts)
}
