//! How jobs are handed over to other clusters: one pass of an adapter. The table of the reference calls one of three functions, by code that
//! the corpus does not hold; what was called shows in what is wanted.

use jobs::multikueue::{Adapter, Hand, Write, is_of_origin, of};
use kueue_api::features::gate;
use serde_json::{Value, json};

use super::jobs::features;
use crate::corpus::{Case, each};
use crate::verdict::{Skip, Verdict};

const ORIGIN: &str = "origin1";
const WORKLOAD: &str = "wl1";

/// The objects of one side: before, and as they are wanted.
fn side(case: Case<'_>, name: &str) -> (Vec<Value>, Vec<Value>) {
    let list = |map: &Value, prefix: &str| {
        let fields = map.as_object().into_iter().flatten();
        let mut fields = fields.filter(|(key, _)| key.starts_with(prefix));
        fields
            .next()
            .map(|(_, list)| each(list))
            .unwrap_or_default()
    };
    let wanted = format!("want{}{}", name[..1].to_uppercase(), &name[1..]);
    (list(case.input, name), list(case.want, &wanted))
}

pub(super) fn adapter(case: Case<'_>) -> Verdict {
    if is_elastic(case) {
        return Verdict::not_built("ElasticJobsViaWorkloadSlices");
    }
    let (mut here, here_wanted) = side(case, "managers");
    let (mut there, there_wanted) = side(case, "worker");
    let Some(object) = here.first().or(there.first()) else {
        return Verdict::Skipped(Skip::Internal("how a job that is not there is read"));
    };
    let text = |field: &str| object[field].as_str().unwrap().to_owned();
    let adapter = of(&text("apiVersion"), &text("kind")).unwrap();
    match (there.is_empty(), there_wanted.is_empty()) {
        (true, true) => {
            let why = "whether a job is handed over: the answer is code in the reference's table";
            return Verdict::Skipped(Skip::Internal(why));
        }
        (false, true) => there.retain(|object| !is_of_origin(object, ORIGIN)),
        (_, false) => pass(case, adapter, &mut here, &mut there),
    }
    Verdict::all([
        Verdict::same(&counted(here), &counted(here_wanted)),
        Verdict::same(&counted(there), &counted(there_wanted)),
    ])
}

/// Objects without the statuses in which nothing is counted: types of the reference write zeros where ours leave out.
fn counted(mut objects: Vec<Value>) -> Value {
    for object in &mut objects {
        if counts_nothing(&object["status"]) {
            object.as_object_mut().unwrap().shift_remove("status");
        }
    }
    json!(objects)
}

fn counts_nothing(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().all(counts_nothing),
        other => other.is_null() || *other == 0 || *other == "0",
    }
}

fn pass(case: Case<'_>, adapter: &Adapter, here: &mut [Value], there: &mut Vec<Value>) {
    let hand = Hand {
        workload: WORKLOAD,
        origin: ORIGIN,
        annotated: features(case).on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
    };
    let sync = adapter
        .sync(here, there, hand, "2026-08-22T12:00:00Z")
        .unwrap();
    for write in sync.writes {
        match write {
            Write::Create(object) => there.push(object),
            Write::Change { name, patch } => {
                let copy = there
                    .iter_mut()
                    .find(|copy| copy["metadata"]["name"] == *name);
                jobs::merge::apply(copy.unwrap(), &patch);
            }
            Write::Status { name, status } => {
                let job = here.iter_mut().find(|job| job["metadata"]["name"] == *name);
                job.unwrap()["status"] = status;
            }
        }
    }
}

/// Whether a case is about jobs that grow and shrink.
pub(super) fn is_elastic(case: Case<'_>) -> bool {
    let said = |value: &Value| value.to_string().contains("kueue.x-k8s.io/elastic-job");
    said(case.input) || said(case.want)
}

/// The jobs of this table are made by code.
pub(super) fn hidden(case: Case<'_>) -> Verdict {
    if is_elastic(case) {
        return Verdict::not_built("ElasticJobsViaWorkloadSlices");
    }
    Verdict::Skipped(Skip::Internal(
        "the objects are code in the reference's table",
    ))
}

/// Whether an object of a worker cluster is taken for the copy of a job.
pub(super) fn owned(case: Case<'_>) -> Verdict {
    let Some(origin) = case.input["origin"].as_str() else {
        let why = "no origin: the configuration is refused";
        return Verdict::Skipped(Skip::Internal(why));
    };
    let hand = Hand {
        workload: WORKLOAD,
        origin,
        annotated: false,
    };
    let job = json!({"metadata": {"name": "test", "namespace": "default"}});
    let there = case.input["obj"].as_object();
    let there: Vec<Value> = there.into_iter().map(|object| json!(object)).collect();
    let adapter = of("batch/v1", "Job").unwrap();
    let sync = adapter.sync(&[job], &there, hand, "2026-08-22T12:00:00Z");
    let found = sync.as_ref().is_ok_and(|sync| {
        let mut writes = sync.writes.iter();
        !writes.any(|write| matches!(write, Write::Create(_)))
    });
    let error = sync.err().map(|foreign| foreign.to_string());
    Verdict::all([
        Verdict::same(&error, &case.want["wantErr"]),
        Verdict::equal("found", &found, &(case.want["wantFound"] == true)),
    ])
}
