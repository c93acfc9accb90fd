//! Assignments of workloads that are placed by topology: their flavors, what makes a place impossible, how far the search went.

use scheduler::{Assignment, Mode, Tried, messages};
use serde_json::{Map, Value, json};

use super::attempts::mode;
use super::setup::{Setup, empty_cohort, flavors, workload};
use crate::corpus::{Case, usage};
use crate::verdict::Verdict;

/// Leaders and workers receive the same flavors, also leaders that ask for nothing.
pub(super) fn grouped(case: Case<'_>) -> Verdict {
    let input = case.input;
    let setup = Setup::new(
        &case,
        &flavors(&case.common["resourceFlavors"]),
        &vec![(&input["clusterQueue"], &Value::Null)],
        &empty_cohort(&input["clusterQueue"]),
        &workload(&input["wlPods"], &Value::Null),
    );
    let got = setup.assign(&Value::Null);
    let chosen: Map<String, Value> = got
        .pod_sets
        .iter()
        .map(|pod_set| {
            let choices = pod_set.flavors.iter().map(|(resource, choice)| {
                let tried = index(choice.tried);
                let choice = json!({"mode": mode(choice.mode), "name": choice.flavor.as_str(), "triedFlavorIdx": tried});
                (resource.to_string(), choice)
            });
            (pod_set.name.to_string(), Value::Object(choices.collect()))
        })
        .collect();
    let errors: Map<String, Value> = got
        .pod_sets
        .iter()
        .filter_map(|pod_set| {
            let error = messages::unplaceable(pod_set.unplaceable.as_ref()?);
            Some((pod_set.name.to_string(), json!(error)))
        })
        .collect();
    let wanted = match &case.want["wantPodSetErrors"] {
        Value::Null => json!({}),
        wanted => wanted.clone(),
    };
    Verdict::all([
        Verdict::equal(
            "flavors",
            &Value::Object(chosen),
            &case.want["wantPodSetFlavors"],
        ),
        Verdict::equal("errors", &Value::Object(errors), &wanted),
    ])
}

fn scanned(case: &Case<'_>) -> Setup {
    let setup = &case.input["setup"];
    Setup::new(
        case,
        &flavors(&setup["resourceFlavors"]),
        &vec![
            (&setup["clusterQueue"], &case.input["clusterQueueUsage"]),
            (&setup["sibling"], &Value::Null),
        ],
        &[],
        &setup["workload"],
    )
}

/// As the reference counts: −1 is to begin anew.
fn index(tried: Tried) -> i64 {
    tried.0.map_or(-1, |index| i64::try_from(index).unwrap())
}

fn tried(assignment: &Assignment) -> i64 {
    index(assignment.pod_sets[0].flavors["cpu"].tried)
}

/// How far a search went that looked for places too.
pub(super) fn remembers(case: Case<'_>) -> Verdict {
    let mut setup = scanned(&case);
    setup.use_places(&case.input["nodeUsage"]);
    let got = setup.assign(&case.input["simulationResult"]);
    let place = got.pod_sets[0].place.is_some();
    Verdict::equal(
        "progress",
        &json!([mode(got.mode()), tried(&got), place]),
        &json!([
            case.want["wantMode"],
            case.want["wantTriedFlavorIdx"],
            case.want["wantPlan"]
        ]),
    )
}

/// How far it went when it was done once more within the cycle, after others took the place.
pub(super) fn remembers_anew(case: Case<'_>) -> Verdict {
    let mut setup = scanned(&case);
    let first = setup.assign(&Value::Null);
    let nomination = vec![
        first.pod_sets[0]
            .flavors
            .iter()
            .map(|(resource, choice)| (resource.clone(), choice.flavor.clone()))
            .collect(),
    ];
    let taken = json!({"values": ["node-1"], "singlePodRequests": {"cpu": 2000}, "count": 1});
    setup.use_places(&json!({"flavor-1": [taken]}));
    setup.use_quota(&usage(&case.input["quotaUsageAtRecompute"]));
    let again = setup.assign_nominated(&case.input["simulationResult"], &nomination);
    let place = first.pod_sets[0].place.is_some();
    Verdict::all([
        Verdict::equal(
            "first",
            &(first.mode(), place, tried(&first)),
            &(Mode::Fit, true, 0),
        ),
        Verdict::equal("again", &again.mode(), &Mode::Preempt),
        Verdict::equal(
            "progress",
            &json!(tried(&again)),
            &case.want["wantRecomputedIdx"],
        ),
    ])
}
