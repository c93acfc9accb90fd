//! Slices of jobs that grow and shrink: which one counts, which are over.

use std::sync::Arc;

use jobs::slices;
use kueue_api::features::gate;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::slices as marks;

use super::File;
use crate::corpus::{Case, each, parse, read};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestEnabled", enabled),
    ("TestEnsureWorkloadSlices", hidden),
    ("TestFindLatestActiveWorkload", active),
    ("TestFindNotFinishedWorkloads", hidden),
    ("TestNormalizeActiveSlices", sorted_out),
    ("TestPreemptibleSliceKey", replaced),
    ("TestReplacedWorkloadSlice", snapshot),
    ("TestScaledDown", shrinks),
];

fn enabled(case: Case<'_>) -> Verdict {
    let meta = &case.input["args"]["object"]["metadata"];
    let got = case.gate(gate::ELASTIC_JOBS) && marks::is_marked(&read(meta));
    Verdict::equal("enabled", &got, &(case.want["want"] == true))
}

fn open(case: Case<'_>) -> Vec<Arc<Workload>> {
    let all: Vec<Workload> = each(&case.input["workloads"]);
    let all: Vec<_> = all.into_iter().map(Arc::new).collect();
    slices::open(&all)
}

fn active(case: Case<'_>) -> Verdict {
    let open = open(case);
    let got = slices::active(&open).map(|slice| slice.name());
    Verdict::equal("active", &got, &case.want["want"].as_str())
}

/// The slice that counts, and the one that is kept beside it.
fn sorted_out(case: Case<'_>) -> Verdict {
    let open = open(case);
    let (chosen, over) = slices::sort_out(&open);
    let name = |slice: &Arc<Workload>| slice.name().to_owned();
    let chosen = chosen.as_ref().map(name);
    let over: Vec<_> = over.iter().map(|over| name(&over.slice)).collect();
    let kept = open.iter().map(name);
    let mut kept = kept.filter(|name| !over.contains(name) && Some(name) != chosen.as_ref());
    let kept = kept.next();
    let wanted = |field: &str| case.want["want"][field].as_str().map(str::to_owned);
    Verdict::all([
        Verdict::equal("chosen", &chosen, &wanted("survivor")),
        Verdict::equal("kept", &kept, &wanted("keptAdmitted")),
    ])
}

fn replaced(case: Case<'_>) -> Verdict {
    let workload: Workload = parse(&case.input["args"]["wl"]);
    let got = marks::replaces(&workload);
    Verdict::equal("replaced", &got, &case.want["want"].as_str())
}

fn shrinks(case: Case<'_>) -> Verdict {
    let args = &case.input["args"];
    let got = slices::shrinks(&read(&args["oldCounts"]), &read(&args["newCounts"]));
    Verdict::equal("shrinks", &got, &(case.want["want"] == true))
}

fn hidden(_: Case<'_>) -> Verdict {
    let why = "the slices are code in the reference's table";
    Verdict::Skipped(Skip::Internal(why))
}

fn snapshot(_: Case<'_>) -> Verdict {
    let why =
        "a look into the reference's snapshot: what follows from it is compared in pkg-scheduler";
    Verdict::Skipped(Skip::Internal(why))
}
