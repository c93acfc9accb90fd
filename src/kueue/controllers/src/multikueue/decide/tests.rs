//! One Workload between a manager and its workers: tables of what is done next.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use jobs::multikueue::of;
use kueue_api::v1beta2::{AdmissionCheckState, CheckState, PriorityClassRef, Workload};
use serde_json::{Value, json};

use super::{Act, Dispatcher, Plan, Remote, Round, Rules, Siblings, View, next_round, owner, plan};

fn now() -> Timestamp {
    "2026-12-01T08:00:00Z".parse().unwrap()
}

fn ago(minutes: i64) -> Timestamp {
    now() - jiff::SignedDuration::from_mins(minutes)
}

fn rules() -> Rules {
    Rules {
        origin: "here".to_owned(),
        worker_lost_timeout: Duration::from_mins(15),
        dispatcher: Dispatcher::AllAtOnce,
        gated: false,
        annotated: true,
        kinds: BTreeSet::from(["Job"]),
        boost: false,
    }
}

fn condition(kind: &str, at: Timestamp) -> Value {
    json!({"type": kind, "status": "True", "reason": "R", "message": "because", "lastTransitionTime": at.to_string()})
}

fn workload(status: Value) -> Workload {
    let mut object =
        json!({"metadata": {"name": "wl", "namespace": "lab"}, "spec": {"priority": 1}});
    object["status"] = status;
    serde_json::from_value(object).unwrap()
}

fn reserved(more: &Value) -> Workload {
    let mut status = json!({"conditions": [condition("QuotaReserved", ago(60))]});
    for (field, value) in more.as_object().into_iter().flatten() {
        status[field] = value.clone();
    }
    workload(status)
}

fn copy(conditions: &[Value]) -> Remote {
    let object = workload(json!({"conditions": conditions}));
    Remote {
        workload: Some(object),
        jobs: Vec::new(),
    }
}

/// A plan in few words.
fn words(plan: &Plan) -> Vec<String> {
    let act = |act: &Act| match act {
        Act::Remove(cluster) => format!("remove {cluster}"),
        Act::Offer(cluster, _) => format!("offer {cluster}"),
        Act::Respecify(cluster, _) => format!("respecify {cluster}"),
        Act::OpenGate(cluster) => format!("open {cluster}"),
        Act::Deactivate(cluster, why) => format!("deactivate {cluster}: {why}"),
        Act::CreateJob(cluster, job) => format!("create {} in {cluster}", job["kind"]),
        Act::ChangeJob(cluster, job, _) => format!("change {job} in {cluster}"),
        Act::JobStatus(job, _) => format!("status of {job}"),
        Act::Finish { reason, .. } => format!("finish {reason}"),
        Act::Nominate(clusters) => format!("nominate {}", clusters.join(" ")),
        Act::Round => "round".to_owned(),
        Act::Answer(answer) => format!("{}: {}", answer.state, answer.message),
    };
    let mut words: Vec<_> = plan.acts.iter().map(act).collect();
    words.extend(plan.trouble.as_ref().map(|trouble| format!("! {trouble}")));
    words.extend(plan.after.map(|wait| format!("after {} s", wait.as_secs())));
    words
}

struct Scene {
    workload: Workload,
    state: CheckState,
    remotes: Vec<(&'static str, Remote)>,
    lost: Vec<(&'static str, Option<Timestamp>)>,
    rules: Rules,
    leaving: bool,
    siblings: Option<Siblings>,
}

impl Scene {
    fn new(workload: Workload, state: CheckState, remotes: Vec<(&'static str, Remote)>) -> Self {
        Self {
            workload,
            state,
            remotes,
            lost: Vec::new(),
            rules: rules(),
            leaving: false,
            siblings: None,
        }
    }

    fn play(self) -> Vec<String> {
        let check = AdmissionCheckState {
            name: "elsewhere".to_owned(),
            state: self.state,
            ..AdmissionCheckState::default()
        };
        let job = json!({"kind": "Job", "metadata": {"name": "train", "namespace": "lab"},
            "spec": {"managedBy": "kueue.x-k8s.io/multikueue", "suspend": false}});
        let owned = |(name, value): (&str, _)| (name.to_owned(), value);
        let lost: BTreeMap<_, _> = self.lost.into_iter().map(owned).collect();
        let remotes = self.remotes.into_iter();
        let remotes = remotes
            .map(|(name, remote)| (name.to_owned(), remote))
            .collect();
        words(&plan(View {
            workload: &self.workload,
            check: &check,
            leaving: self.leaving,
            adapter: of("batch/v1", "Job").unwrap(),
            jobs: &[job],
            remotes,
            lost: &lost,
            order: &[],
            round: None,
            siblings: self.siblings,
            rules: &self.rules,
            now: now(),
        }))
    }
}

#[test]
fn a_workload_is_offered_until_one_cluster_keeps_it() {
    let nobody = Remote::default;
    let offered = json!({"nominatedClusterNames": ["north", "south"]});
    let admitted = |at| copy(&[condition("Admitted", at)]);
    let scenes: [(&str, Scene, &[&str]); 5] = [
        (
            "nobody has it",
            Scene::new(
                reserved(&json!({})),
                CheckState::Pending,
                vec![("north", nobody()), ("south", nobody())],
            ),
            &["nominate north south", "offer north", "offer south"],
        ),
        (
            "all have it",
            Scene::new(
                reserved(&offered),
                CheckState::Pending,
                vec![("north", copy(&[])), ("south", copy(&[]))],
            ),
            &[],
        ),
        (
            "two admit it: the first one keeps it",
            Scene::new(
                reserved(&offered),
                CheckState::Pending,
                vec![("north", admitted(ago(1))), ("south", admitted(ago(2)))],
            ),
            &[
                "remove north",
                "create \"Job\" in south",
                "Ready: The workload was admitted on \"south\"",
                "after 900 s",
            ],
        ),
        (
            "it is evicted here",
            Scene::new(
                workload(
                    json!({"conditions": [condition("QuotaReserved", ago(9)), condition("Evicted", ago(1))]}),
                ),
                CheckState::Ready,
                vec![("north", admitted(ago(5)))],
            ),
            &["deactivate north: Evicted on manager: because"],
        ),
        (
            "its quota is gone",
            Scene::new(
                workload(json!({})),
                CheckState::Pending,
                vec![("north", copy(&[]))],
            ),
            &["remove north"],
        ),
    ];
    for (name, scene, want) in scenes {
        assert_eq!(scene.play(), want, "{name}");
    }
}

#[test]
fn what_happens_in_a_cluster_comes_back() {
    let here = || reserved(&json!({"clusterName": "north"}));
    let finished = |reason: &str| {
        let mut end = condition("Finished", ago(1));
        end["reason"] = json!(reason);
        copy(&[end])
    };
    let scenes: [(&str, Scene, &[&str]); 3] = [
        (
            "its end",
            Scene::new(
                here(),
                CheckState::Ready,
                vec![("north", finished("Succeeded"))],
            ),
            &["create \"Job\" in north", "finish Succeeded"],
        ),
        (
            "an end that is none",
            Scene::new(
                here(),
                CheckState::Ready,
                vec![("north", finished("OutOfSync"))],
            ),
            &[
                "Retry: Remote workload on worker cluster \"north\" is out of sync with its user job, resetting for re-dispatch, Previously: \"Ready\"",
            ],
        ),
        (
            "its eviction",
            Scene::new(
                here(),
                CheckState::Ready,
                vec![("north", copy(&[condition("Evicted", ago(1))]))],
            ),
            &[
                "Retry: Workload evicted on worker cluster: \"north\", resetting for re-admission. Previously: \"Ready\"",
            ],
        ),
    ];
    for (name, scene, want) in scenes {
        assert_eq!(scene.play(), want, "{name}");
    }
}

#[test]
fn a_lost_cluster_has_its_time() {
    let cases: [(&str, Option<i64>, &[&str]); 3] = [
        ("it was lost a while ago", Some(5), &["after 600 s"]),
        (
            "it was lost long ago",
            Some(16),
            &["Retry: Admitting remote lost, Previously: \"Ready\""],
        ),
        (
            "it is there, without the Workload",
            None,
            &["Retry: Admitting remote no longer exists, Previously: \"Ready\""],
        ),
    ];
    for (name, since, want) in cases {
        let here = reserved(&json!({"clusterName": "north"}));
        let mut scene = Scene::new(here, CheckState::Ready, Vec::new());
        scene.lost = since
            .map(|minutes| ("north", Some(ago(minutes))))
            .into_iter()
            .collect();
        assert_eq!(scene.play(), want, "{name}");
    }
}

fn class(name: &str) -> PriorityClassRef {
    let class = json!({"group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": name});
    serde_json::from_value(class).unwrap()
}

#[test]
fn a_priority_is_carried_over_and_any_other_change_begins_anew() {
    let offered = json!({"nominatedClusterNames": ["north"]});
    let other = |change: fn(&mut Workload)| {
        let mut remote = copy(&[]);
        change(remote.workload.as_mut().unwrap());
        Scene::new(
            reserved(&offered),
            CheckState::Pending,
            vec![("north", remote)],
        )
    };
    let queue = other(|copy| copy.spec.queue_name = Some("other".to_owned()));
    assert_eq!(queue.play(), ["remove north", "offer north"]);
    let mut priority = other(|copy| copy.spec.priority_class_ref = Some(class("low")));
    priority.workload.spec.priority_class_ref = Some(class("high"));
    assert_eq!(priority.play(), ["respecify north"]);
}

#[test]
fn one_cluster_at_a_time_may_preempt() {
    let gated = |position: &str, at: Timestamp, blocked: Option<Timestamp>| {
        let gate = json!({"name": "kueue.x-k8s.io/multikueue", "position": position, "lastTransitionTime": at.to_string()});
        let blocked = blocked.map(|at| condition("BlockedOnPreemptionGates", at));
        let conditions: Vec<_> = blocked.into_iter().collect();
        let object = workload(json!({"conditions": conditions, "preemptionGates": [gate]}));
        Remote {
            workload: Some(object),
            jobs: Vec::new(),
        }
    };
    let cases: [(&str, Remote, Remote, &[&str]); 3] = [
        (
            "who waits longest",
            gated("Closed", ago(9), Some(ago(1))),
            gated("Closed", ago(9), Some(ago(2))),
            &["open south", "after 300 s"],
        ),
        (
            "somebody's turn",
            gated("Open", ago(2), None),
            gated("Closed", ago(9), Some(ago(2))),
            &["after 180 s"],
        ),
        (
            "nobody is blocked",
            gated("Closed", ago(9), None),
            gated("Closed", ago(9), None),
            &[],
        ),
    ];
    for (name, north, south, want) in cases {
        let here = reserved(&json!({"nominatedClusterNames": ["north", "south"]}));
        let mut scene = Scene::new(
            here,
            CheckState::Pending,
            vec![("north", north), ("south", south)],
        );
        scene.rules.gated = true;
        assert_eq!(scene.play(), want, "{name}");
    }
}

#[test]
fn a_cluster_that_somebody_else_names_has_to_be_connected() {
    let here = reserved(&json!({"nominatedClusterNames": ["north", "west"]}));
    let mut scene = Scene::new(
        here,
        CheckState::Pending,
        vec![("north", Remote::default())],
    );
    scene.rules.dispatcher = Dispatcher::External;
    let want = [
        "offer north",
        "! cluster west: no remote client for nominated cluster",
    ];
    assert_eq!(scene.play(), want);
}

#[test]
fn rounds_add_clusters() {
    let all: Vec<String> = ["d", "c", "b", "a"].map(str::to_owned).into();
    let named = |names: &str| {
        names
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let next =
        |begun, have: &str, in_order| next_round(begun, now(), &named(have), &all, 2, in_order);
    assert_eq!(next(None, "", true), Round::More(named("d c")));
    assert_eq!(next(None, "", false), Round::More(named("a b")));
    assert_eq!(
        next(Some(ago(1)), "d c", true),
        Round::Wait(Duration::from_mins(4))
    );
    assert_eq!(
        next(Some(ago(6)), "d c", true),
        Round::More(named("d c b a"))
    );
    assert_eq!(next(Some(ago(6)), "d c b a", true), Round::Nobody);
}

#[test]
fn owners_are_jobs_that_are_managed_here() {
    let owned = |kind: &str, api_version: &str| {
        let mut object = workload(json!({}));
        let owner = json!([{"apiVersion": api_version, "kind": kind, "name": "train", "uid": "u", "controller": true}]);
        object.metadata.owner_references = serde_json::from_value(owner).unwrap();
        object
    };
    let kinds = rules().kinds;
    let of = |object: &Workload| {
        owner(object, &kinds).map(|(adapter, name)| format!("{} {name}", adapter.kind))
    };
    assert_eq!(of(&owned("Job", "batch/v1")), Ok("Job train".to_owned()));
    let pod = "No multikueue adapter found for owner kind \"/v1, Kind=Pod\"";
    assert_eq!(of(&owned("Pod", "v1")), Err(pod.to_owned()));
    let nobody = "No multikueue adapter found";
    assert_eq!(of(&workload(json!({}))), Err(nobody.to_owned()));
}

#[test]
fn groups_of_one_job_follow_the_first_to_one_cluster() {
    let siblings = |complete, first, clusters: &[&str]| Siblings {
        complete,
        first,
        clusters: clusters.iter().map(|name| (*name).to_owned()).collect(),
    };
    let all = &["nominate north south", "offer north", "offer south"][..];
    let cases: [(&str, Siblings, &[&str]); 6] = [
        ("one is missing", siblings(false, true, &[]), &[]),
        ("not the first", siblings(true, false, &[]), &[]),
        ("the first", siblings(true, true, &[]), all),
        (
            "the first is in the south",
            siblings(true, false, &["south"]),
            &["nominate south", "offer south"],
        ),
        (
            "nobody hears from there",
            siblings(true, false, &["west"]),
            &["! assigned worker cluster \"west\" is not available"],
        ),
        (
            "apart",
            siblings(true, false, &["north", "south"]),
            &["! component workloads assigned to different clusters: {\"north\", \"south\"}"],
        ),
    ];
    for (name, siblings, want) in cases {
        let remotes = vec![("north", Remote::default()), ("south", Remote::default())];
        let mut scene = Scene::new(reserved(&json!({})), CheckState::Pending, remotes);
        scene.siblings = Some(siblings);
        assert_eq!(scene.play(), want, "{name}");
    }
}
