//! KWOK's configuration: what a simulated node and its pods do, as stages.
//!
//! One jq expression gives every pod exactly one state, and each stage belongs to one state; so two stages never
//! compete. Ends are points in time (`startedAt` + duration), so a restarted KWOK continues where it was.

use serde_json::{Value, json};

use super::{DEFAULT_SECONDS, DURATION_ANNOTATION, EXIT_CODE_ANNOTATION, NEVER_READY_ANNOTATION};

const CREATE: &str = include_str!("stages/pod-create.tpl");
const START: &str = include_str!("stages/pod-start.tpl");
const READY: &str = include_str!("stages/pod-ready.tpl");
const END: &str = include_str!("stages/pod-end.tpl");
const RESTART: &str = include_str!("stages/pod-restart.tpl");
const NODE: &str = include_str!("stages/node-ready.tpl");

/// The whole configuration file: options and stages, one YAML document each.
#[must_use]
pub fn configuration() -> String {
    let options = json!({
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "metadata": {"name": "atelier"},
        "options": {
            "nodeLeaseDurationSeconds": 0,
            "nodePort": 0,
            "enableDebuggingHandlers": false,
            // A configuration of one's own begins without these defaults, and KWOK refuses zero.
            "podPlayStageParallelism": 4,
            "nodePlayStageParallelism": 4,
            "nodeLeaseParallelism": 4,
            "podsOnNodeSyncParallelism": 4,
            "enablePodsOnNodeSyncListPager": true,
        },
    });
    let documents = std::iter::once(options)
        .chain(pod_stages())
        .chain([node_stage()]);
    // JSON is YAML, and needs no second serializer whose quoting would have to be trusted.
    documents
        .map(|document| format!("---\n{document:#}\n"))
        .collect()
}

/// Short so that a lesson does not wait, long enough that `ContainerCreating` can be seen.
const CREATED_AFTER_MS: u32 = 100;
const STARTED_AFTER_MS: u32 = 700;
const STARTED_AT_MOST_AFTER_MS: u32 = 1000;
const TERMINATED_AFTER_MS: u32 = 800;

fn pod_stages() -> Vec<Value> {
    let soon = |ms: u32| json!({"durationMilliseconds": ms});
    let starting = json!({"durationMilliseconds": STARTED_AFTER_MS, "jitterDurationMilliseconds": STARTED_AT_MOST_AFTER_MS});
    let at_end = json!({"durationFrom": {"jq": {"expression": ends_at()}}});
    vec![
        pod_stage("create", &soon(CREATED_AFTER_MS), &[status(CREATE)]),
        pod_stage(
            "start",
            &starting,
            &[
                status(START),
                event("Normal", "Started", "Started simulated containers"),
            ],
        ),
        pod_stage("ready-again", &soon(CREATED_AFTER_MS), &[status(READY)]),
        pod_stage("succeed", &at_end, &[status(END)]),
        pod_stage("fail", &at_end, &[status(END)]),
        pod_stage(
            "restart",
            &at_end,
            &[
                status(RESTART),
                event(
                    "Warning",
                    "BackOff",
                    "Restarted simulated containers that failed",
                ),
            ],
        ),
        pod_stage(
            "terminate",
            &soon(TERMINATED_AFTER_MS),
            &[
                event("Normal", "Killing", "Stopping simulated containers"),
                status(END),
            ],
        ),
        pod_stage("delete", &soon(0), &[json!({"delete": true})]),
    ]
}

fn pod_stage(state: &str, delay: &Value, steps: &[Value]) -> Value {
    json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": format!("pod-{state}")},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [{"jq": {"key": pod_state(), "operator": "In", "values": [state]}}]},
            "delay": delay,
            "steps": steps,
        },
    })
}

fn node_stage() -> Value {
    let not_ready =
        r#"([.status.conditions[]? | select(.type == "Ready") | .status] | first) // "False""#;
    json!({
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": "node-ready"},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Node"},
            "selector": {"matchExpressions": [{"jq": {"key": not_ready, "operator": "NotIn", "values": ["True"]}}]},
            "steps": [status(NODE)],
        },
    })
}

fn status(template: &str) -> Value {
    let template = template
        .replace("@EXIT_CODE@", EXIT_CODE_ANNOTATION)
        .replace("@NEVER_READY@", NEVER_READY_ANNOTATION);
    json!({"patch": {"subresource": "status", "root": "status", "type": "strategic", "template": template}})
}

fn event(type_: &str, reason: &str, message: &str) -> Value {
    json!({"event": {"type": type_, "reason": reason, "message": message}})
}

/// jq: the state of a pod, the name of the one stage that is due, or a word that is no stage's.
fn pod_state() -> String {
    format!(
        r#"(.metadata.annotations["{NEVER_READY_ANNOTATION}"] == "true") as $never
| (.metadata.annotations["{EXIT_CODE_ANNOTATION}"] // "0") as $code
| ([.status.conditions[]? | select(.type == "Ready") | .status] | first) as $ready
| if .metadata.deletionTimestamp then
    if .status.phase == "Succeeded" or .status.phase == "Failed" then
      if .metadata.deletionGracePeriodSeconds == 0 then "gone" else "delete" end
    else "terminate" end
  elif .status.phase == "Pending" then
    if (.status.containerStatuses | length) == 0 then "create" else "start" end
  elif .status.phase == "Running" then
    if $never then "stuck"
    elif $ready != "True" then "ready-again"
    elif $code == "0" and .spec.restartPolicy == "Always" then "runs-on"
    elif $code == "0" then "succeed"
    elif .spec.restartPolicy == "Never" then "fail"
    else "restart" end
  else "over" end"#
    )
}

/// jq: when the pod's time is over: the start of its first container, plus what its annotation, or else the last
/// `sleep` of its first container's command line, says.
fn ends_at() -> String {
    format!(
        r#"([.spec.containers[0].command[]?, .spec.containers[0].args[]?] | join(" ")) as $line
| ([$line | scan("sleep +([0-9]+(?:[.][0-9]+)?[smh]?)") | .[0]] | last) as $slept
| ((.metadata.annotations["{DURATION_ANNOTATION}"] // $slept // "{DEFAULT_SECONDS}") | tostring) as $text
| ([$text | capture("^(?<n>[0-9]+([.][0-9]+)?)(?<u>[smh]?)$")] | first) as $found
| (if $found == null then {DEFAULT_SECONDS}
   else ($found.n | tonumber) * (if $found.u == "h" then 3600 elif $found.u == "m" then 60 else 1 end) end) as $seconds
| .status.containerStatuses[0].state.running.startedAt
| fromdateiso8601 + ($seconds | ceil) | todateiso8601"#
    )
}
