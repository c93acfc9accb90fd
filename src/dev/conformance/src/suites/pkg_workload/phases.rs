//! How far a Workload has come.

use cache::Surroundings;
use kueue_api::v1beta2::Workload;
use kueue_api::workload::phase::{self, Phase};
use serde_json::json;

use crate::corpus::{Case, parse, read};
use crate::verdict::Verdict;
use crate::world;

fn phase_named(name: &str) -> Phase {
    match name {
        "pending" => Phase::Pending,
        "quotaReserved" => Phase::QuotaReserved,
        "admitted" => Phase::Admitted,
        "finished" => Phase::Finished,
        other => panic!("`{other}` is no phase"),
    }
}

pub(super) fn loses_quota(case: Case<'_>) -> Verdict {
    let named = |key: &str| phase_named(&read::<String>(&case.input[key]));
    let got = named("prev").loses_quota(named("new"));
    Verdict::equal("loses quota", &got, &(case.want["want"] == true))
}

/// A duration as Go writes one of whole seconds, below an hour.
fn seconds(duration: jiff::SignedDuration) -> String {
    match duration.as_secs() {
        seconds if seconds >= 60 => format!("{}m{}s", seconds / 60, seconds % 60),
        seconds => format!("{seconds}s"),
    }
}

pub(super) fn released(case: Case<'_>) -> Verdict {
    let object = |name: &str| -> Option<Workload> { read(&case.input[name]) };
    let now: String = read(&case.input["now"]);
    let (before, after) = (object("oldWl"), object("newWl"));
    let got = before
        .as_ref()
        .zip(after.as_ref())
        .and_then(|(before, after)| phase::released(before, after, now.parse().unwrap()));
    let shown = got.map(|got| {
        json!({"wantCQ": got.cluster_queue, "wantLatency": seconds(got.after), "wantOK": true, "wantReason": got.reason})
    });
    let nothing = json!({"wantLatency": "0s", "wantOK": false});
    Verdict::same(&shown.unwrap_or(nothing), case.want)
}

pub(super) fn on_hold(case: Case<'_>) -> Verdict {
    let got = phase::is_on_hold(&parse(&case.input["wl"]));
    Verdict::equal("on hold", &got, &(case.want["want"] == true))
}

pub(super) fn execution_time(case: Case<'_>) -> Verdict {
    let got = phase::execution_time(&parse(&case.input["wl"])).map(seconds);
    Verdict::same(&json!(got), &case.want["want"])
}

pub(super) fn second_pass(case: Case<'_>) -> Verdict {
    let object: Workload = parse(&case.input["wl"]);
    let options = world::options(&case);
    let converted = cache::convert::workload(&object, &options, &Surroundings::default());
    let got = converted.reservation.is_some();
    Verdict::equal("needs a second pass", &got, &(case.want["want"] == true))
}

pub(super) fn nodes(case: Case<'_>) -> Verdict {
    let got = cache::topology::nodes_used(&parse(&case.input["wl"]));
    let mut want: Vec<String> = read(&case.want["want"]);
    want.sort_unstable();
    Verdict::same(&got, &json!(want))
}
