//! What a Workload asks for while it waits and holds afterwards.

use std::collections::BTreeMap;

use cache::convert::{PodSetHolding, held_by_pod_set, workload};
use cache::{Options, PodsReadyTimestamp, Surroundings};
use k8s_openapi::api::core::v1::LimitRange;
use k8s_openapi::api::node::v1::RuntimeClass;
use kueue_api::v1beta2::{PodSet, Workload};
use quantity::Requests;
use scheduler::{Defect, LastAssignment, Tried};
use serde_json::{Map, Value, json};

use crate::compare::lean;
use crate::corpus::{Case, each, parse, read, requests};
use crate::suites::violations;
use crate::verdict::{Skip, Verdict};
use crate::world;

pub(super) fn adjusted(case: Case<'_>) -> Verdict {
    let mut around = Surroundings::default();
    for mut range in each::<LimitRange>(&case.input["limitranges"]) {
        range.metadata.namespace = Some(String::new());
        around.apply_limit_range(&range);
    }
    for class in each::<RuntimeClass>(&case.input["runtimeClasses"]) {
        around.apply_runtime_class(&class);
    }
    let mut got: Workload = parse(&case.input["wl"]);
    let namespace = got.namespace().to_owned();
    for set in &mut got.spec.pod_sets {
        around.adjust(&namespace, set.template.spec.get_or_insert_default());
    }
    let want: Workload = parse(&case.want["wantWl"]);
    Verdict::same(&got.spec, &json!(want.spec))
}

pub(super) fn outside_limit_range(case: Case<'_>) -> Verdict {
    let mut around = Surroundings::default();
    if let Some(range) = case.input.get("limitRange") {
        around.apply_limit_range(&parse(range));
    }
    let object: Workload = parse(&case.input["workload"]);
    let got = match workload(&object, &Options::default(), &around).defect {
        Some(Defect::OutsideLimitRange(found)) => found,
        _ => Vec::new(),
    };
    violations(&got, &case.want["wantError"])
}

pub(super) fn above_limits(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["workloadInfo"]["obj"]);
    let got = match workload(&object, &Options::default(), &Surroundings::default()).defect {
        Some(Defect::RequestsAboveLimits(found)) => found,
        _ => Vec::new(),
    };
    violations(&got, &case.want["wantError"])
}

/// The options that the reference gives to the maker of its records.
fn info_options(case: &Case<'_>, list: &Value) -> Options {
    let mut options = world::options(case);
    for one in list.as_array().into_iter().flatten() {
        options.exclude_resource_prefixes = read(&one["excludedResourcePrefixes"]);
        let rules = world::transformations(&one["resourceTransformations"]);
        options.transformations.extend(rules);
    }
    options
}

pub(super) fn amounts(requests: &Requests) -> Value {
    let entries = requests.iter();
    let entries = entries.map(|(name, amount)| (name.to_string(), json!(amount.value())));
    Value::Object(entries.collect::<Map<_, _>>())
}

fn holding(of: &PodSetHolding) -> Value {
    let flavors = of.flavors.iter();
    let flavors: Map<_, _> = flavors
        .map(|(resource, flavor)| (resource.to_string(), json!(flavor.as_str())))
        .collect();
    json!({"count": of.count, "name": of.name.as_str(), "requests": amounts(&of.requests), "flavors": flavors})
}

/// The total of each pod set: by the admission if there is one, else by the templates.
fn total_requests(object: &Workload, options: &Options) -> Value {
    let admission = object
        .status
        .as_ref()
        .and_then(|status| status.admission.as_ref());
    if let Some(admission) = admission.filter(|_| object.has_quota_reservation()) {
        let held = held_by_pod_set(object, admission, options).unwrap();
        return held.iter().map(holding).collect();
    }
    let sets = workload(object, options, &Surroundings::default()).pod_sets;
    let of = |set: &scheduler::PodSet| {
        let total = set.per_pod.times(set.count);
        json!({"count": set.count, "name": set.name.as_str(), "requests": amounts(&total)})
    };
    sets.iter().map(of).collect()
}

/// Without what the record says of topology, which other files ask about.
fn without_topology(totals: &Value) -> Value {
    let mut totals = lean(totals);
    for one in totals.as_array_mut().into_iter().flatten() {
        if let Some(fields) = one.as_object_mut() {
            fields.remove("topologyRequest");
            fields.remove("delayedTopologyRequest");
        }
    }
    totals
}

pub(super) fn totals(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["workload"]);
    let options = info_options(&case, &case.input["infoOptions"]);
    let got = total_requests(&object, &options);
    // A pod set without a name is called `main` on our wire.
    let mut want = without_topology(&case.want["wantInfo"]["totalRequests"]);
    for one in want.as_array_mut().into_iter().flatten() {
        let fields = one.as_object_mut().unwrap();
        fields.entry("name").or_insert_with(|| json!("main"));
    }
    Verdict::same(&got, &want)
}

pub(super) fn rebuilt(case: Case<'_>) -> Verdict {
    let dra = [&case.input["initialOptions"], &case.input["updateOptions"]];
    if dra
        .iter()
        .any(|list| list.to_string().contains("DRA") || list.to_string().contains("preserve"))
    {
        return Verdict::not_built("requests translated by dynamic resource allocation");
    }
    let object: Workload = parse(&case.input["updated"]);
    let options = info_options(&case, &case.input["updateOptions"]);
    Verdict::same(
        &total_requests(&object, &options),
        &without_topology(&case.want["wantRequests"]),
    )
}

pub(super) fn queue_order(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["wl"]);
    let all = read::<Vec<Value>>(&case.want["want"])
        .into_iter()
        .map(|want| {
            let mut options = world::options(&case);
            if want["key"]["podsReadyRequeuingTimestamp"] == "Creation" {
                options.pods_ready_timestamp = PodsReadyTimestamp::Creation;
            }
            let got = workload(&object, &options, &Surroundings::default()).queued;
            Verdict::same(&got, &want["value"])
        });
    Verdict::all(all)
}

pub(super) fn shape(case: Case<'_>) -> Verdict {
    if case.input["wl1"].is_null() {
        return Verdict::not_built("requests translated by dynamic resource allocation");
    }
    let options = world::options(&case);
    let shape = |object: &Value| workload(&parse(object), &options, &Surroundings::default()).shape;
    let same = shape(&case.input["wl1"]) == shape(&case.input["wl2"]);
    Verdict::equal("same", &same, &(case.want["wantSame"] == true))
}

pub(super) fn asks_for_topology(case: Case<'_>) -> Verdict {
    let mut object = Workload::named("w");
    object.spec.pod_sets = each::<PodSet>(&case.input["podSets"]);
    let converted = workload(&object, &Options::default(), &Surroundings::default());
    let got = converted
        .pod_sets
        .iter()
        .any(|set| set.topology.is_explicit());
    Verdict::equal("asks for topology", &got, &(case.want["want"] == true))
}

pub(super) fn devices(_: Case<'_>) -> Verdict {
    Verdict::not_built("requests translated by dynamic resource allocation")
}

pub(super) fn fair_usage(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal(
        "an error of the reference's client beside usage that the data does not hold",
    ))
}

/// The totals of a record, as holdings.
fn holdings(totals: &Value) -> Vec<PodSetHolding> {
    let totals = totals.as_array().into_iter().flatten();
    let holding = |one: &Value| PodSetHolding {
        name: read::<String>(&one["name"]).as_str().into(),
        count: read(&one["count"]),
        requests: requests(&one["requests"]),
        flavors: read::<BTreeMap<String, String>>(&one["flavors"])
            .iter()
            .map(|(resource, flavor)| (resource.as_str().into(), flavor.as_str().into()))
            .collect(),
    };
    totals.map(holding).collect()
}

pub(super) fn usage(case: Case<'_>) -> Verdict {
    let holdings = holdings(&case.input["info"]["totalRequests"]);
    let (assigned, unassigned) = cache::convert::usage(&holdings);
    let assigned: Map<_, _> = assigned
        .iter()
        .map(|(of, amount)| {
            (
                format!("{}/{}", of.flavor, of.resource),
                json!(amount.value()),
            )
        })
        .collect();
    let got = json!({"assigned": assigned, "unassigned": amounts(&unassigned)});
    Verdict::same(&got, &case.want["want"])
}

pub(super) fn told_requests(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["wl"]);
    let told = object.status.unwrap_or_default().resource_requests;
    let totals = holdings(&case.input["info"]["totalRequests"]);
    let totals = totals.into_iter().map(|one| (one.name, one.requests));
    let now = cache::told_requests(&totals.collect::<Vec<_>>());
    Verdict::equal("changed", &(now != told), &(case.want["want"] == true))
}

pub(super) fn untried_flavors(case: Case<'_>) -> Verdict {
    let sets = case.input["state"]["lastTriedFlavorIdx"].as_array();
    let tried = sets.into_iter().flatten().map(|set| {
        let tried = read::<BTreeMap<String, i64>>(set).into_iter();
        tried
            .map(|(resource, index)| (resource.into(), Tried(usize::try_from(index).ok())))
            .collect()
    });
    let got = LastAssignment::after(tried.collect()).has_untried_flavors();
    Verdict::equal(
        "untried flavors",
        &got,
        &(case.want["wantPendingFlavors"] == true),
    )
}
