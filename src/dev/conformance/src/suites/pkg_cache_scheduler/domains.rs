//! Single steps of a placement on domains whose rooms are given: orders, the optimal set, balanced spreading.

use std::collections::BTreeMap;

use scheduler::topology::{Gates, Room, Workbench};
use serde_json::Value;

use crate::corpus::{Case, read};
use crate::verdict::Verdict;

fn room(state: &Value) -> Room {
    Room {
        pods: read(&state["podCount"]),
        slices: read(&state["sliceCount"]),
        pods_with_leader: read(&state["podCountWithLeader"]),
        slices_with_leader: read(&state["sliceCountWithLeader"]),
        leaders: read(&state["leaderCount"]),
        affinity: read(&state["affinityScore"]),
    }
}

/// The workbench of a case, and the names of its domains.
fn bench(case: Case<'_>) -> (Workbench, Vec<String>) {
    let all = case.input["domains"].as_array().unwrap();
    let domains: Vec<_> = all
        .iter()
        .map(|one| (read(&one["domain"]["levelValues"]), room(&one["state"])))
        .collect();
    let gates = Gates {
        profile_mixed: case.gate("TASProfileMixed"),
        respect_node_affinity_preferred: case.gate("TASRespectNodeAffinityPreferred"),
        ..Gates::default()
    };
    let names = all.iter().map(|one| read(&one["domain"]["id"]));
    let bench = Workbench::new(&domains, gates, read(&case.input["unconstrained"]));
    (bench, names.collect())
}

fn named(positions: &[usize], names: &[String]) -> Vec<String> {
    positions.iter().map(|at| names[*at].clone()).collect()
}

pub(super) fn sorted(case: Case<'_>) -> Verdict {
    let (bench, names) = bench(case);
    let want: Vec<String> = read(&case.want["wantOrder"]);
    Verdict::equal("order", &named(&bench.sorted(), &names), &want)
}

pub(super) fn sorted_with_leader(case: Case<'_>) -> Verdict {
    let (bench, names) = bench(case);
    let want: Vec<String> = read(&case.want["wantOrder"]);
    Verdict::equal("order", &named(&bench.sorted_with_leader(), &names), &want)
}

pub(super) fn optimal(case: Case<'_>) -> Verdict {
    let (bench, names) = bench(case);
    let (leaders, workers) = (
        read(&case.input["leaderCount"]),
        read(&case.input["workerCount"]),
    );
    let mut got = named(
        &bench.optimal(leaders, workers, 1).unwrap_or_default(),
        &names,
    );
    got.sort();
    let mut want: Vec<String> = read(&case.want["want"]);
    want.sort();
    Verdict::equal("domains", &got, &want)
}

pub(super) fn spread(case: Case<'_>) -> Verdict {
    let (bench, names) = bench(case);
    let number = |field: &str| read(&case.input[field]);
    let got = bench.spread(
        number("leaderCount"),
        number("sliceCount"),
        number("sliceSize"),
        number("threshold"),
    );
    let got: BTreeMap<String, Room> = got
        .into_iter()
        .flatten()
        .map(|(at, room)| (names[at].clone(), room))
        .collect();
    let want = case.want["want"].as_object().into_iter().flatten();
    let want: BTreeMap<String, Room> = want
        .map(|(name, state)| (name.clone(), room(state)))
        .collect();
    Verdict::equal("rooms", &got, &want)
}

pub(super) fn order(case: Case<'_>) -> Verdict {
    let values = |field: &str| read::<Vec<String>>(&case.input[field]["levelValues"]);
    let domains = ["a", "b"].map(|field| (values(field), Room::default()));
    let bench = Workbench::new(&domains, Gates::default(), false);
    let got = bench.order(0, 1) as i64;
    Verdict::equal("order", &got, &read(&case.want["want"]))
}
