//! LimitRanges taken together, and what they do not let pass.

use cache::convert::Limits;
use k8s_openapi::api::core::v1::{LimitRange, LimitRangeItem, LimitRangeSpec, PodSpec};
use serde_json::{Map, Value, json};

use super::{File, violations};
use crate::corpus::{Case, each, parse};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestSummarize", summarize),
    ("TestValidatePodSpec", validate_pod_spec),
];

fn summarize(case: Case<'_>) -> Verdict {
    let ranges: Vec<LimitRange> = each(&case.input["ranges"]);
    let limits = Limits::of(&ranges);
    let without_type = |item: &LimitRangeItem| {
        let mut item = json!(item);
        item.as_object_mut().unwrap().remove("type");
        item
    };
    let items = limits.items().iter();
    let got: Map<_, _> = items
        .map(|(name, item)| (name.clone(), without_type(item)))
        .collect();
    Verdict::same(&got, &case.want["expected"])
}

fn validate_pod_spec(case: Case<'_>) -> Verdict {
    let items = case.input["summary"].as_object().into_iter().flatten();
    let items = items.map(|(name, item)| {
        let mut item = item.clone();
        item["type"] = Value::from(name.as_str());
        parse(&item)
    });
    let range = LimitRange {
        spec: Some(LimitRangeSpec {
            limits: items.collect(),
        }),
        ..LimitRange::default()
    };
    let spec: PodSpec = match case.input.get("podSpec") {
        Some(own) => parse(own),
        None => parse(&case.common["podSpec"]),
    };
    let field = path(&case.common["podSpecPath"]);
    let got = Limits::of([&range]).broken_by(&spec, &field).unwrap();
    violations(&got, &case.want["want"])
}

/// A path of the reference, from its last part back to the first.
fn path(part: &Value) -> String {
    let before = &part["parent"];
    let before = if before.is_object() {
        path(before)
    } else {
        String::new()
    };
    match (part["name"].as_str(), part["index"].as_str()) {
        (Some(name), _) if before.is_empty() => name.to_owned(),
        (Some(name), _) => format!("{before}.{name}"),
        (None, index) => format!("{before}[{}]", index.unwrap_or_default()),
    }
}
