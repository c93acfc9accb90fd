//! Dominant resource shares, and how they are written.

use std::collections::BTreeSet;

use kueue_api::v1beta2::{ClusterQueue, ResourceFlavor};
use scheduler::{Holder, Share, Weight};
use serde_json::{Value, json};

use crate::corpus::{Case, now, parse, usage};
use crate::verdict::Verdict;
use crate::world::World;

pub(super) fn dominant(case: Case<'_>) -> Verdict {
    let mut world = World::of(&case);
    for name in ["default", "on-demand", "spot"] {
        let flavor: ResourceFlavor = parse(&json!({"metadata": {"name": name}}));
        let _ = world.cache.apply_resource_flavor(&flavor);
    }
    for queue in ["clusterQueue", "lendingClusterQueue"] {
        if case.input[queue].is_object() {
            let queue: ClusterQueue = parse(&case.input[queue]);
            let _ = world.cache.apply_cluster_queue(&queue, now());
        }
    }
    let mut tree = world.cache.snapshot().tree;
    tree.add(&"cq".into(), &usage(&case.input["usage"]));
    let more = usage(&case.input["flvResQ"]);
    let shown = tree.nodes().map(|(node, holder)| {
        let share = Share::of(&tree, node, &more);
        let (name, is_cohort) = match holder {
            Holder::ClusterQueue(name) => (name.to_string(), false),
            Holder::Cohort(name) => (name.to_string(), true),
        };
        let dominant = share.dominant().map(ToString::to_string);
        (
            name,
            is_cohort,
            share.rounded(),
            dominant,
            share.is_borrowing(),
        )
    });
    let expected = case.want["want"]
        .as_array()
        .into_iter()
        .flatten()
        .map(wanted);
    let (shown, expected): (BTreeSet<_>, BTreeSet<_>) = (shown.collect(), expected.collect());
    Verdict::equal("shares", &shown, &expected)
}

fn wanted(one: &Value) -> (String, bool, i64, Option<String>, bool) {
    (
        one["name"].as_str().unwrap_or_default().to_owned(),
        one["nodeType"] == true,
        one["drValue"].as_i64().unwrap_or(0),
        one["drName"].as_str().map(ToOwned::to_owned),
        one["borrowing"] == true,
    )
}

pub(super) fn written(case: Case<'_>) -> Verdict {
    let number = |name: &str| case.input["drs"][name].as_f64().unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "weights of the corpus are small"
    )]
    let weight = Weight::from_nano((number("fairWeight") * 1e9).round() as i128);
    let share = Share::from_parts(number("unweightedRatio"), weight);
    Verdict::same(&json!(share.to_string()), &case.want["want"])
}
