//! Which ClusterQueue loses a workload next.

use std::sync::Arc;

use kueue_api::v1beta2::ResourceFlavor;
use scheduler::preemption::Tournament;
use scheduler::{Admitted, ClusterQueueName};

use super::File;
use super::pkg_scheduler_preemption::world;
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::Verdict;
use crate::world::{key, options};

pub(super) const FILES: &[File] = &[("TestMakeClusterQueueOrdering", order)];

fn order(case: Case<'_>) -> Verdict {
    let mut world = world(&case, options(&case));
    let flavor: ResourceFlavor = parse(&serde_json::json!({"metadata": {"name": "default"}}));
    let _ = world.cache.apply_resource_flavor(&flavor);
    let snapshot = world.cache.snapshot();
    let candidates = each(&case.input["admitted"])
        .into_iter()
        .filter_map(|object| {
            let all = snapshot
                .admitted
                .values()
                .find_map(|all| all.get(&key(&object)))?;
            let named: Vec<String> = each(&case.input["candidateCQs"]);
            named
                .contains(&all.cluster_queue.to_string())
                .then(|| Arc::<Admitted>::clone(all))
        });
    let preemptor: String = read(&case.input["preemptorCQ"]);
    let preemptor = ClusterQueueName::from(preemptor.as_str());
    let mut tournament = Tournament::new(&snapshot, &preemptor, candidates, now()).unwrap();
    let actions: Vec<String> = each(&case.input["actions"]);
    let mut named = Vec::new();
    while let Some(chosen) = tournament.next(&snapshot.tree) {
        let action = actions.get(named.len()).map(String::as_str);
        named.push(snapshot.tree.queue_at(chosen.node).unwrap().to_string());
        if action == Some("drop") {
            tournament.drop_out(chosen);
        } else {
            let _ = tournament.pop(chosen);
        }
        assert!(named.len() <= 50, "no end: {named:?}");
    }
    Verdict::equal("order", &named, &each(&case.want["wantOrder"]))
}
