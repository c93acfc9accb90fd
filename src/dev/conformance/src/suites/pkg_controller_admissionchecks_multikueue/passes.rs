//! Whole passes: what a plan does to the objects of the manager and of its workers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use controllers::multikueue::decide::{
    Act, Answer, Dispatcher, Plan, Remote, Round, Rules, Tone, Trouble, View, answered, next_round,
    opened, owner, plan, refuse,
};
use controllers::multikueue::stray;
use jobs::multikueue::{Adapter, is_of_origin};
use kueue_api::features::gate;
use kueue_api::names::{gates, labels};
use kueue_api::v1beta2::{CheckState, Workload, WorkloadStatus};
use serde_json::{Value, json};

use crate::corpus::{Case, each, now, parse, read};
use crate::suites::jobs::features;
use crate::suites::multikueue::is_elastic;
use crate::verdict::Verdict;

const ORIGIN: &str = "multikueue";

/// The tables know one adapter.
fn kinds() -> BTreeSet<&'static str> {
    BTreeSet::from(["Job"])
}

fn rules(case: Case<'_>, dispatcher: Dispatcher) -> Rules {
    let features = features(case);
    Rules {
        origin: ORIGIN.to_owned(),
        worker_lost_timeout: Duration::from_mins(5),
        dispatcher,
        gated: features.on(gate::MULTIKUEUE_ORCHESTRATED_PREEMPTION),
        annotated: features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
        kinds: kinds(),
        boost: false,
    }
}

/// The objects of a case, in the manager's cluster and in the workers'.
#[derive(Default)]
struct Clusters {
    workloads: Vec<Value>,
    jobs: Vec<Value>,
    workers: BTreeMap<String, Worker>,
    events: Vec<Value>,
}

#[derive(Default)]
struct Worker {
    workloads: Vec<Value>,
    jobs: Vec<Value>,
    fails: bool,
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or_default()
}

impl Clusters {
    fn view_of(
        &self,
        workload: &Workload,
        adapter: &Adapter,
        job: &str,
    ) -> (Vec<Value>, BTreeMap<String, Remote>) {
        let of = |jobs: &[Value]| -> Vec<Value> {
            let kind = |one: &&Value| one["kind"] == adapter.kind && name(one) == job;
            jobs.iter().filter(kind).cloned().collect()
        };
        let remotes = self.workers.iter().map(|(cluster, worker)| {
            let copy = worker
                .workloads
                .iter()
                .find(|one| name(one) == workload.name());
            let remote = Remote {
                workload: copy.map(parse),
                jobs: of(&worker.jobs),
            };
            (cluster.clone(), remote)
        });
        (of(&self.jobs), remotes.collect())
    }

    /// Does what a plan says, up to the first thing that fails.
    fn carry_out(
        &mut self,
        workload: &Workload,
        check: &str,
        acts: Vec<Act>,
    ) -> Result<(), String> {
        let mut failed = Ok(());
        for act in acts {
            if let Act::Offer(cluster, _) = &act
                && self.workers[cluster].fails
            {
                failed = Err("fake error".to_owned());
                continue;
            }
            self.act(workload, check, act);
        }
        failed
    }

    fn act(&mut self, workload: &Workload, check: &str, act: Act) {
        let own = workload.name();
        let find = |list: &mut Vec<Value>| list.iter().position(|one| name(one) == own);
        match act {
            Act::Remove(cluster) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                worker.workloads.retain(|one| name(one) != own);
                worker.jobs.retain(|job| !is_of_origin(job, ORIGIN));
            }
            Act::Offer(cluster, copy) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                worker.workloads.push(json!(*copy));
            }
            Act::Respecify(cluster, spec) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                let at = find(&mut worker.workloads).unwrap();
                worker.workloads[at]["spec"] = json!(*spec);
            }
            Act::OpenGate(cluster) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                let at = find(&mut worker.workloads).unwrap();
                let status: WorkloadStatus = parse(&worker.workloads[at]["status"]);
                worker.workloads[at]["status"] = json!(opened(status, gates::MULTIKUEUE, now()));
            }
            Act::Deactivate(cluster, words) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                let at = find(&mut worker.workloads).unwrap();
                let copy: Workload = parse(&worker.workloads[at]);
                let status =
                    cache::Draft::of(&copy, now()).targeted("EvictedOnManagerCluster", &words);
                worker.workloads[at]["status"] = json!(status.done());
            }
            Act::CreateJob(cluster, job) => self.workers.get_mut(&cluster).unwrap().jobs.push(job),
            Act::ChangeJob(cluster, of, patch) => {
                let worker = self.workers.get_mut(&cluster).unwrap();
                let job = worker.jobs.iter_mut().find(|job| name(job) == of);
                jobs::merge::apply(job.unwrap(), &patch);
            }
            Act::JobStatus(of, status) => {
                let job = self.jobs.iter_mut().find(|job| name(job) == of);
                job.unwrap()["status"] = status;
            }
            Act::Finish { reason, message } => self.status(own, |status| {
                cache::Draft::from_status(status, None, now())
                    .finished(&reason, &message)
                    .done()
            }),
            Act::Nominate(clusters) => self.status(own, |status| WorkloadStatus {
                nominated_cluster_names: clusters,
                ..status
            }),
            Act::Round => {}
            Act::Answer(answer) => {
                self.tell(workload, &answer);
                self.status(own, |status| answered(status, check, &answer, now()));
            }
        }
    }

    fn tell(&mut self, workload: &Workload, answer: &Answer) {
        let tone = match answer.event {
            Some(Tone::Normal) => "Normal",
            Some(Tone::Warning) => "Warning",
            None => return,
        };
        let key = format!("{}/{}", workload.namespace(), workload.name());
        self.events.push(json!({"eventType": tone, "key": key, "message": answer.message, "reason": "MultiKueue"}));
    }

    fn status(&mut self, own: &str, change: impl FnOnce(WorkloadStatus) -> WorkloadStatus) {
        let workload = self
            .workloads
            .iter_mut()
            .find(|one| name(one) == own)
            .unwrap();
        let status = parse::<Option<WorkloadStatus>>(&workload["status"]);
        workload["status"] = json!(change(status.unwrap_or_default()));
    }
}

/// One pass over a Workload.
pub(super) fn workload(case: Case<'_>) -> Verdict {
    if is_elastic(case) {
        return Verdict::not_built("ElasticJobsViaWorkloadSlices");
    }
    let mut clusters = Clusters {
        workloads: each(&case.input["managersWorkloads"]),
        jobs: each(&case.input["managersJobs"]),
        ..Clusters::default()
    };
    let mut lost = BTreeMap::new();
    let second = case.input["useSecondWorker"] == true;
    for worker in ["worker1", "worker2"]
        .into_iter()
        .take(if second { 2 } else { 1 })
    {
        let field = |what: &str| &case.input[format!("{worker}{what}")];
        if *field("Reconnecting") == true {
            lost.insert(worker.to_owned(), parse(field("DisconnectedSince")));
            continue;
        }
        let own = Worker {
            workloads: each(field("Workloads")),
            jobs: each(field("Jobs")),
            fails: field("OnCreateError").is_string(),
        };
        clusters.workers.insert(worker.to_owned(), own);
        if field("OnGetError").is_string() {
            // Nothing is decided without having read everything.
            return Verdict::equal(
                "error",
                &"fake error",
                &case.want["wantError"].as_str().unwrap(),
            );
        }
    }
    let done = pass(case, &mut clusters, &lost);
    compare(case, &clusters, done)
}

fn pass(
    case: Case<'_>,
    clusters: &mut Clusters,
    lost: &BTreeMap<String, Option<jiff::Timestamp>>,
) -> Result<Option<Duration>, String> {
    let key: String = read(&case.input["reconcileFor"]);
    let gone: Vec<Value> = each(&case.input["managersDeletedWorkloads"]);
    let find = |list: &[Value]| list.iter().find(|one| name(one) == key).cloned();
    let there = find(&clusters.workloads);
    let leaving = there.is_none();
    let Some(workload) = there.or_else(|| find(&gone)) else {
        return Ok(None);
    };
    let workload: Workload = parse(&workload);
    let leaving = leaving || workload.metadata.deletion_timestamp.is_some();
    let states = workload
        .status
        .iter()
        .flat_map(|status| &status.admission_checks);
    let check = states
        .filter(|check| check.name == "ac1")
        .find(|check| check.state != CheckState::Rejected);
    let Some(check) = check else {
        return Ok(None);
    };
    let rules = rules(case, Dispatcher::AllAtOnce);
    let (adapter, job) = match owner(&workload, &kinds()) {
        Ok(found) => found,
        Err(why) => {
            let plan = refuse(check, &why);
            return clusters
                .carry_out(&workload, &check.name, plan.acts)
                .map(|()| None);
        }
    };
    let (jobs, remotes) = clusters.view_of(&workload, adapter, job);
    let decided = plan(View {
        workload: &workload,
        check,
        leaving,
        adapter,
        jobs: &jobs,
        remotes,
        lost,
        order: &[],
        round: None,
        siblings: None,
        rules: &rules,
        now: now(),
    });
    let Plan {
        acts,
        after,
        trouble,
    } = decided;
    clusters.carry_out(&workload, &check.name, acts)?;
    match trouble {
        Some(trouble) => Err(trouble.to_string()),
        None => Ok(after),
    }
}

fn compare(case: Case<'_>, clusters: &Clusters, done: Result<Option<Duration>, String>) -> Verdict {
    let lean = |objects: &[Value]| -> Value {
        let mut objects = objects.to_vec();
        for object in &mut objects {
            for field in ["conditions", "admissionChecks", "preemptionGates"] {
                let list = object["status"]
                    .get_mut(field)
                    .and_then(Value::as_array_mut);
                for entry in list.into_iter().flatten() {
                    entry
                        .as_object_mut()
                        .unwrap()
                        .shift_remove("lastTransitionTime");
                    entry
                        .as_object_mut()
                        .unwrap()
                        .shift_remove("observedGeneration");
                }
            }
            if let Some(status) = object["status"].as_object_mut() {
                status.shift_remove("nominatedClusterNames");
            }
            if object["status"].is_null() {
                object.as_object_mut().unwrap().shift_remove("status");
            }
        }
        objects.sort_by_key(|object| name(object).to_owned());
        json!(objects)
    };
    let same = |got: &[Value], field: &str| {
        let want: Vec<Value> = each(&case.want[field]);
        Verdict::same(&lean(got), &lean(&want))
    };
    let error = done.as_ref().err().cloned();
    let want: Option<String> = read(&case.want["wantError"]);
    let mut verdicts = vec![
        Verdict::equal("error", &error, &want),
        same(&clusters.workloads, "wantManagersWorkloads"),
        same(&clusters.jobs, "wantManagersJobs"),
        Verdict::same(&clusters.events, &case.want["wantEvents"]),
    ];
    for (cluster, worker) in &clusters.workers {
        let field = |what: &str| format!("wantW{}{what}", &cluster[1..]);
        verdicts.push(same(&worker.workloads, &field("Workloads")));
        verdicts.push(same(&worker.jobs, &field("Jobs")));
    }
    if let Some(wait) = case.want["wantResult"]["requeueAfter"].as_str() {
        let want = kueue_api::config::parse_duration(wait).unwrap();
        verdicts.push(Verdict::equal(
            "next look",
            &done.ok().flatten(),
            &Some(want),
        ));
    }
    Verdict::all(verdicts)
}

/// The dispatchers, called by themselves.
pub(super) fn nominate(case: Case<'_>) -> Verdict {
    let local = &case.input["setup"]["local"];
    let mut local = if local.is_null() {
        json!({"metadata": {"name": "wl", "namespace": "ns"}})
    } else {
        local.clone()
    };
    let nominated = &case.input["nominatedWorkers"];
    if nominated.is_array() {
        local["status"]["nominatedClusterNames"] = nominated.clone();
    }
    let mode: String = read(&case.input["dispatcherMode"]);
    let dispatcher = if mode.ends_with("all-at-once") {
        Dispatcher::AllAtOnce
    } else {
        Dispatcher::External
    };
    let workload: Workload = parse(&local);
    let given: BTreeMap<String, Value> = read(&case.input["remotes"]);
    // The table's code says which clusters are connected: those that hold something, or are given something.
    let mut names: Vec<String> = read(&case.want["wantCreated"]);
    names.extend(given.keys().cloned());
    let remotes = names.iter().map(|name| {
        let workload = given.get(name).filter(|one| one.is_object()).map(parse);
        (
            name.clone(),
            Remote {
                workload,
                jobs: Vec::new(),
            },
        )
    });
    let (lost, rules) = (BTreeMap::new(), rules(case, dispatcher));
    let check = kueue_api::v1beta2::AdmissionCheckState {
        name: "ac1".to_owned(),
        ..Default::default()
    };
    let view = View {
        workload: &workload,
        check: &check,
        leaving: false,
        adapter: jobs::multikueue::of("batch/v1", "Job").unwrap(),
        jobs: &[],
        remotes: remotes.collect(),
        lost: &lost,
        order: &[],
        round: None,
        siblings: None,
        rules: &rules,
        now: now(),
    };
    let plan = controllers::multikueue::decide::offer(&view);
    let created: Vec<_> = plan
        .acts
        .iter()
        .filter_map(|act| match act {
            Act::Offer(cluster, _) => Some(cluster.clone()),
            _ => None,
        })
        .collect();
    let nominated = plan.acts.iter().find_map(|act| match act {
        Act::Nominate(names) => Some(names.clone()),
        _ => None,
    });
    let before = workload.status.unwrap_or_default().nominated_cluster_names;
    let told = &case.want["wantNominatedClusterNames"];
    let named = nominated.unwrap_or(before);
    let named = if told.is_null() {
        Verdict::Passed
    } else {
        Verdict::same(&named, told)
    };
    Verdict::all([
        Verdict::same(&created, &case.want["wantCreated"]),
        Verdict::equal(
            "error",
            &plan.trouble.is_some(),
            &(case.want["wantErr"] == true),
        ),
        named,
    ])
}

/// What is left over in a worker cluster goes.
pub(super) fn collect(case: Case<'_>) -> Verdict {
    let here: Vec<Workload> = each(&case.input["managersWorkloads"]);
    let mut jobs: Vec<Value> = each(&case.input["workersJobs"]);
    let mut copies: Vec<Value> = each(&case.input["workersWorkloads"]);
    copies.retain(|copy| {
        let workload: Workload = parse(copy);
        let ours = copy["metadata"]["labels"][labels::MULTIKUEUE_ORIGIN] == ORIGIN;
        let own = here.iter().find(|one| one.name() == workload.name());
        let goes = ours && stray(own);
        if goes && let Ok((adapter, job)) = owner(&workload, &kinds()) {
            jobs.retain(|one| {
                !(one["kind"] == adapter.kind && name(one) == job && is_of_origin(one, ORIGIN))
            });
        }
        !goes
    });
    Verdict::all([
        Verdict::same(&copies, &case.want["wantWorkersWorkloads"]),
        Verdict::same(&jobs, &case.want["wantWorkersJobs"]),
    ])
}

/// One round of the incremental dispatcher.
pub(super) fn incremental(case: Case<'_>) -> Verdict {
    let features = features(case);
    let named: Vec<String> = read(&case.input["workload"]["status"]["nominatedClusterNames"]);
    let clusters: Vec<String> = read(&case.input["remoteClusters"]);
    let step = case.input["cfg"]["stepSize"].as_u64();
    let step = step.filter(|_| features.on(gate::MULTIKUEUE_DISPATCHER_CONFIG));
    let step = usize::try_from(step.unwrap_or(3)).unwrap();
    let in_order = features.on(gate::MULTIKUEUE_DISPATCHER_ORDER);
    // The table begins a round with those that are named.
    let begun = (!named.is_empty()).then(now);
    let hour = jiff::SignedDuration::from_hours(i64::from(case.input["advanceRoundTime"] == true));
    let later = now().checked_add(hour).unwrap();
    let (got, error) = match next_round(begun, later, &named, &clusters, step, in_order) {
        Round::Wait(_) => (named, None),
        Round::More(more) => (more, None),
        Round::Nobody => (named, Some(Trouble::NoMoreWorkers.to_string())),
    };
    let want: Option<String> = read(&case.want["wantErr"]);
    Verdict::all([
        Verdict::equal("error", &error, &want),
        Verdict::same(&got, &case.want["wantNominatedClusters"]),
    ])
}
