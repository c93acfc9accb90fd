//! Whole assignments.

use scheduler::{Mode, messages};
use serde_json::{Map, Value, json};

use super::attempts::{compare, mode};
use super::setup::{Queues, Setup, empty_cohort, flavors, workload};
use crate::corpus::{Case, each};
use crate::verdict::Verdict;

/// Where the case is silent, what all cases have.
fn own_or_common<'a>(case: &Case<'a>, key: &str) -> &'a Value {
    let own = &case.input[key];
    if own.is_null() {
        &case.common[key]
    } else {
        own
    }
}

/// The whole assignment is compared.
pub(super) fn assigned(case: Case<'_>) -> Verdict {
    let input = case.input;
    let mut queues: Queues<'_> = vec![(&input["clusterQueue"], &input["clusterQueueUsage"])];
    if !input["secondaryClusterQueue"].is_null() {
        queues.push((
            &input["secondaryClusterQueue"],
            &input["secondaryClusterQueueUsage"],
        ));
    }
    let mut known = flavors(own_or_common(&case, "resourceFlavors"));
    if known.is_empty() {
        // The file of deleted flavors knows one that was not.
        known.push(json!({"metadata": {"name": "flavor"}, "spec": {}}));
    }
    let setup = Setup::new(
        &case,
        &known,
        &queues,
        &empty_cohort(&input["clusterQueue"]),
        &workload(&input["wlPods"], &input["wlReclaimablePods"]),
    );
    let got = setup.assign(&input["simulationResult"]);
    Verdict::all([
        Verdict::equal("mode", &json!(mode(got.mode())), &case.want["wantRepMode"]),
        compare(&got, &case.want["wantAssignment"]).into(),
    ])
}

/// The workload names the flavors that it may use.
pub(super) fn allowed(case: Case<'_>) -> Verdict {
    let setup = Setup::new(
        &case,
        &flavors(&case.common["resourceFlavors"]),
        &vec![(&case.common["cq"], &Value::Null)],
        &[],
        &case.input["setup"]["wl"],
    );
    let got = setup.assign(&Value::Null);
    let flavor = (got.mode() == Mode::Fit).then(|| {
        let chosen = &got.pod_sets[0].flavors["cpu"].flavor;
        Verdict::equal("flavor", &json!(chosen.as_str()), &case.want["wantFlavor"])
    });
    let mode = Verdict::equal("mode", &json!(mode(got.mode())), &case.want["wantRepMode"]);
    Verdict::all(std::iter::once(mode).chain(flavor))
}

/// Why nothing fits.
pub(super) fn no_fit(case: Case<'_>) -> Verdict {
    let input = case.input;
    let siblings: Vec<Value> = each(&input["siblingCQs"]);
    let mut queues = vec![(own_or_common(&case, "cq"), &input["cqUsage"])];
    queues.extend(siblings.iter().map(|queue| {
        let name = queue["metadata"]["name"].as_str().unwrap();
        (queue, &input["siblingCQUsage"][name])
    }));
    let known = flavors(own_or_common(&case, "resourceFlavors"));
    let setup = Setup::new(&case, &known, &queues, &[], &input["setup"]["wl"]);
    let got = setup.assign(&input["simulationResult"]);
    let reason = got.no_fit_reason().map(messages::no_fit_reason);
    let mut verdicts = vec![Verdict::equal(
        "reason",
        &json!(reason),
        &case.want["wantNoFitReason"],
    )];
    for attempt in &got.pod_sets[0].attempts {
        let wanted = &case.want["wantFlavorAttempts"][attempt.flavor.as_str()];
        if !wanted.is_null() {
            let reason = attempt.no_fit.map_or("", messages::no_fit_reason);
            verdicts.push(Verdict::equal(
                attempt.flavor.as_str(),
                &json!(reason),
                wanted,
            ));
        }
    }
    Verdict::all(verdicts)
}

/// Which flavor is preferred when some can be reclaimed.
pub(super) fn reclaimed(case: Case<'_>) -> Verdict {
    let (input, setup) = (case.input, &case.input["setup"]);
    let queues = vec![
        (&setup["testCq"], &input["testClusterQueueUsage"]),
        (&setup["otherCq"], &input["otherClusterQueueUsage"]),
    ];
    let setup = Setup::new(
        &case,
        &flavors(&setup["resourceFlavors"]),
        &queues,
        &each(&setup["cohorts"]),
        &workload(&json!([input["workloadRequests"]]), &Value::Null),
    );
    let got = setup.assign(&input["simulationResult"]);
    let chosen: Map<String, Value> = got.pod_sets[0]
        .flavors
        .iter()
        .map(|(resource, choice)| (resource.to_string(), json!(choice.flavor.as_str())))
        .collect();
    let wanted = json!([case.want["wantMode"], case.want["wantAssigment"]]);
    Verdict::equal("choice", &json!([mode(got.mode()), chosen]), &wanted)
}
