//! Pods that cannot end, because nobody hears from their node.

use std::sync::Arc;

use controllers::recovery::decide::{REASON, Turn, is_eligible, turn};
use k8s_openapi::api::core::v1::{Node, Pod};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, now, parse};
use crate::store::{Store, normal};
use crate::verdict::Verdict;

pub(super) const FILES: &[File] = &[
    ("TestCreateEventFilter", created),
    ("TestUpdateEventFilter", updated),
    ("TestReconciler", reconciler),
];

fn eligible(pod: &Value) -> bool {
    is_eligible(&parse(pod))
}

fn created(case: Case<'_>) -> Verdict {
    let got = eligible(&case.input["pod"]);
    Verdict::equal("looked at", &got, &(case.want["wantResult"] == true))
}

fn updated(case: Case<'_>) -> Verdict {
    let got = !eligible(&case.input["oldPod"]) && eligible(&case.input["newPod"]);
    Verdict::equal("looked at", &got, &(case.want["wantResult"] == true))
}

fn reconciler(case: Case<'_>) -> Verdict {
    let nodes = [&case.common["healthyNode"], &case.common["unreachableNode"]];
    let mut store = Store::of(nodes.into_iter().chain([&case.input["testPod"]]));
    let pod: Pod = parse(&case.input["testPod"]);
    let node = |name: &str| store.get::<Node>("", name).map(Arc::new);
    let turn = turn(&pod, node, now());
    let mut wait = std::time::Duration::ZERO;
    match turn {
        Turn::Rest => {}
        Turn::Wait(left) => wait = left,
        Turn::End { status, message } => {
            let meta = &pod.metadata;
            let place = [&meta.namespace, &meta.name].map(|part| part.clone().unwrap_or_default());
            store.patch("Pod", &place[0], &place[1], &status);
            store.tell(&place[0], &place[1], true, REASON, &message);
        }
    }
    let text = case.want["wantResult"]["requeueAfter"].as_str();
    let wanted: jiff::SignedDuration = text.unwrap_or("0s").parse().unwrap();
    let noise = [
        "metadata.resourceVersion",
        "status.conditions.*.lastTransitionTime",
    ];
    let got = normal(&store.values("Pod"), &noise);
    let want = normal(&[json!(case.want["wantPod"])], &noise);
    Verdict::all([
        Verdict::equal("wait", &wait, &wanted.unsigned_abs()),
        Verdict::same(&got, &want),
        store.same_events(&case.want["wantEvents"]),
    ])
}
