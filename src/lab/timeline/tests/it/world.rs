//! A cluster in a few words: each call is something that happened, and becomes an entry.

use course::{Known, Lab, LabRules, QuestionId};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use timeline::{Entry, LabVerdicts, ObjectEntry, Seen, State, Timeline, Verb, Verdict, What};

pub(crate) const NAMESPACE: &str = "equipe-vision";

#[derive(Clone)]
pub(crate) struct World {
    pub(crate) entries: Vec<Entry>,
    now: Timestamp,
    version: u64,
    listed: bool,
    /// Object → uid and present state.
    objects: BTreeMap<String, (String, Value)>,
    births: u64,
}

/// The reasons for which a Workload waits, admitted or not, in words.
#[derive(Clone, Copy)]
pub(crate) enum Is<'a> {
    New,
    Queued(&'a str),
    Reserved(&'a str),
    Admitted(&'a str),
    /// Evicted for that reason, its quota not yet given back.
    Evicted(&'a str),
    /// Preempted by the job of that name.
    Preempted(&'a str),
    Requeued,
    Finished,
}

/// Ends a chain of calls in a closure.
pub(crate) fn done(_: &mut World) {}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            now: Timestamp::from_second(1_800_000_000).expect("a time"),
            version: 100,
            listed: false,
            objects: BTreeMap::new(),
            births: 0,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, seconds: f64) -> &mut Self {
        self.now = self
            .now
            .saturating_add(SignedDuration::from_secs_f64(seconds))
            .expect("a time");
        self
    }

    /// From now on changes are found by listing (or seen again).
    pub(crate) fn listing(&mut self, listed: bool) -> &mut Self {
        self.listed = listed;
        self
    }

    pub(crate) fn push(&mut self, what: What) -> &mut Self {
        let seq = u64::try_from(self.entries.len()).expect("few") + 1;
        self.entries.push(Entry {
            seq,
            at: self.now,
            what,
        });
        self
    }

    pub(crate) fn tick(&mut self) -> &mut Self {
        self.push(What::Tick)
    }

    pub(crate) fn gap(&mut self, since: f64) -> &mut Self {
        let from = self
            .now
            .saturating_sub(SignedDuration::from_secs_f64(since))
            .expect("a time");
        let kinds = vec!["Job".to_owned(), "Workload".to_owned()];
        self.push(What::Gap {
            kinds,
            from,
            to: self.now,
        })
    }

    pub(crate) fn answer(&mut self, question: &str, value: impl Into<Value>) -> &mut Self {
        let question = QuestionId::new(question).expect("an id");
        self.push(What::Answer {
            question,
            value: value.into(),
        })
    }

    /// An object appears or changes.
    pub(crate) fn object(
        &mut self,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        object: Value,
    ) -> &mut Self {
        self.version += 1;
        let key = format!("{kind}/{name}");
        let (verb, uid) = match self.objects.get(&key) {
            Some((uid, _)) => (Verb::Modified, uid.clone()),
            None => {
                self.births += 1;
                (
                    Verb::Added,
                    format!("{}-{}", key.to_lowercase(), self.births),
                )
            }
        };
        let object = merged(object, &json!({"metadata": {"name": name, "uid": uid}}));
        self.objects.insert(key, (uid.clone(), object.clone()));
        self.entry(verb, kind, namespace, name, (uid, object))
    }

    fn entry(
        &mut self,
        verb: Verb,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
        (uid, object): (String, Value),
    ) -> &mut Self {
        let entry = ObjectEntry {
            verb,
            seen: if self.listed {
                Seen::Listed
            } else {
                Seen::Watched
            },
            kind: kind.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
            uid,
            version: self.version.to_string(),
            object,
        };
        self.push(What::Object(entry))
    }

    pub(crate) fn gone(&mut self, kind: &str, namespace: Option<&str>, name: &str) -> &mut Self {
        self.version += 1;
        let (uid, object) = self
            .objects
            .remove(&format!("{kind}/{name}"))
            .expect("it exists");
        self.entry(Verb::Deleted, kind, namespace, name, (uid, object))
    }

    pub(crate) fn cluster_queue(&mut self, name: &str, cpu: u32) -> &mut Self {
        let spec = json!({"cohortName": "cassiopee", "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
            {"name": "cpu", "resources": [{"name": "cpu", "nominalQuota": cpu.to_string()}]}]}]});
        let status = json!({"conditions": [{"type": "Active", "status": "True", "reason": "Ready", "message": ""}]});
        self.object(
            "ClusterQueue",
            None,
            name,
            json!({"spec": spec, "status": status}),
        )
    }

    fn job(&mut self, name: &str, suspended: bool, status: &Value) -> &mut Self {
        self.object(
            "Job",
            Some(NAMESPACE),
            name,
            json!({"spec": {"suspend": suspended}, "status": status}),
        )
    }

    /// Submitted to Kueue: suspended.
    pub(crate) fn submit(&mut self, name: &str) -> &mut Self {
        self.job(name, true, &json!({}))
    }

    pub(crate) fn starts(&mut self, name: &str) -> &mut Self {
        self.job(name, false, &json!({"active": 1}))
    }

    pub(crate) fn suspends(&mut self, name: &str) -> &mut Self {
        self.job(name, true, &json!({}))
    }

    pub(crate) fn runs_on(&mut self, name: &str, node: &str) -> &mut Self {
        let uid = self.uid("Job", name);
        let owner = json!([{"kind": "Job", "name": name, "uid": uid, "controller": true}]);
        let pod = format!("{name}-pod");
        let object = json!({"metadata": {"ownerReferences": owner}, "spec": {"nodeName": node},
            "status": {"phase": "Running"}});
        self.object("Pod", Some(NAMESPACE), &pod, object)
    }

    pub(crate) fn ends(&mut self, name: &str) -> &mut Self {
        let condition = json!({"type": "Complete", "status": "True", "reason": "CompletionsReached", "message": ""});
        self.job(
            name,
            false,
            &json!({"succeeded": 1, "conditions": [condition]}),
        )
    }

    pub(crate) fn fails(&mut self, name: &str) -> &mut Self {
        let condition = json!({"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": ""});
        self.job(
            name,
            false,
            &json!({"failed": 1, "conditions": [condition]}),
        )
    }

    /// The job is deleted, and its Workload with it.
    pub(crate) fn deleted(&mut self, name: &str) -> &mut Self {
        self.gone("Job", Some(NAMESPACE), name);
        if self.objects.contains_key(&format!("Workload/job-{name}")) {
            self.gone("Workload", Some(NAMESPACE), &format!("job-{name}"));
        }
        self
    }

    pub(crate) fn uid(&self, kind: &str, name: &str) -> String {
        self.objects
            .get(&format!("{kind}/{name}"))
            .map(|(uid, _)| uid.clone())
            .expect("it exists")
    }

    /// The job's Workload is now so.
    #[expect(clippy::too_many_lines, reason = "one arm a state")]
    pub(crate) fn workload(&mut self, job: &str, is: Is<'_>) -> &mut Self {
        let name = format!("job-{job}");
        let before = self
            .objects
            .get(&format!("Workload/{name}"))
            .map(|(_, object)| object.clone());
        let mut conditions: BTreeMap<String, Value> = before
            .as_ref()
            .and_then(|object| object["status"]["conditions"].as_array().cloned())
            .unwrap_or_default()
            .into_iter()
            .map(|condition| {
                (
                    condition["type"].as_str().expect("a type").to_owned(),
                    condition,
                )
            })
            .collect();
        let mut admission = before
            .as_ref()
            .map_or(Value::Null, |object| object["status"]["admission"].clone());
        let mut evictions = before.as_ref().map_or(Value::Null, |object| {
            object["status"]["schedulingStats"].clone()
        });
        let stamp = self.now.to_string();
        let mut set = |kind: &str, truth: bool, reason: &str, message: &str| {
            let status = if truth { "True" } else { "False" };
            let last = conditions
                .get(kind)
                .filter(|old| old["status"] == status)
                .map(|old| old["lastTransitionTime"].clone());
            let since = last.unwrap_or_else(|| stamp.clone().into());
            conditions.insert(
                kind.to_owned(),
                json!({"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": since}),
            );
        };
        match is {
            Is::New => {}
            Is::Queued(reason) => set("QuotaReserved", false, reason, "couldn't assign flavors"),
            Is::Reserved(queue) | Is::Admitted(queue) => {
                for kind in ["Evicted", "Preempted"] {
                    set(
                        kind,
                        false,
                        "QuotaReserved",
                        "Previously: Preempted to accommodate a workload",
                    );
                }
                set("QuotaReserved", true, "QuotaReserved", "Quota reserved");
                if matches!(is, Is::Admitted(_)) {
                    set("Admitted", true, "Admitted", "The workload is admitted");
                }
                admission = json!({"clusterQueue": queue, "podSetAssignments": [
                    {"name": "main", "flavors": {"cpu": "cpu"}, "resourceUsage": {"cpu": "2"}}]});
            }
            Is::Evicted(reason) => {
                set("Evicted", true, reason, "evicted");
                evictions = counted(&evictions, reason);
            }
            Is::Preempted(by) => {
                let message = format!(
                    "Preempted to accommodate a workload (UID: {}, JobUID: {}) due to prioritization",
                    self.uid("Workload", &format!("job-{by}")),
                    self.uid("Job", by)
                );
                set("Preempted", true, "InClusterQueue", &message);
                set("Evicted", true, "Preempted", &message);
                evictions = counted(&evictions, "Preempted");
            }
            Is::Requeued => {
                set("Requeued", true, "Preempted", "");
                set("QuotaReserved", false, "PendingEvaluation", "");
                set("Admitted", false, "NoReservation", "");
                admission = Value::Null;
            }
            Is::Finished => set("Finished", true, "Succeeded", "Job finished successfully"),
        }
        let owner =
            json!([{"kind": "Job", "name": job, "uid": self.uid("Job", job), "controller": true}]);
        let conditions: Vec<Value> = conditions.into_values().collect();
        let status =
            json!({"conditions": conditions, "admission": admission, "schedulingStats": evictions});
        let object = json!({"metadata": {"ownerReferences": owner}, "spec": {"queueName": "vision", "active": true},
            "status": status});
        self.object("Workload", Some(NAMESPACE), &name, object)
    }

    /// Submitted, seen by Kueue, waiting for quota.
    pub(crate) fn queues(&mut self, job: &str) -> &mut Self {
        self.submit(job)
            .workload(job, Is::New)
            .workload(job, Is::Queued("WaitingForQuota"))
    }

    /// Reserved, admitted, started.
    pub(crate) fn admits(&mut self, job: &str) -> &mut Self {
        self.workload(job, Is::Reserved("vision"))
            .workload(job, Is::Admitted("vision"))
            .starts(job)
    }

    pub(crate) fn timeline(&self) -> Timeline {
        Timeline::from_entries(&self.entries)
    }

    /// The verdicts of these criteria now.
    pub(crate) fn judge(&self, criteria: &str) -> LabVerdicts {
        timeline::verdict(&self.timeline(), &rules(criteria), self.now)
    }

    /// The one verdict of a lab with one criterion.
    pub(crate) fn verdict(&self, criterion: &str) -> Verdict {
        let verdicts = self.judge(criterion);
        verdicts.all().next().cloned().expect("one criterion")
    }

    pub(crate) fn state(&self, criterion: &str) -> State {
        self.verdict(criterion).state
    }

    /// State and reason in one word each.
    pub(crate) fn told(&self, criterion: &str) -> String {
        let verdict = self.verdict(criterion);
        format!("{} {}", verdict.state.key(), verdict.reason)
    }
}

fn counted(before: &Value, reason: &str) -> Value {
    let mut all: Vec<Value> = before["evictions"].as_array().cloned().unwrap_or_default();
    match all.iter_mut().find(|one| one["reason"] == reason) {
        Some(one) => one["count"] = json!(one["count"].as_u64().unwrap_or(0) + 1),
        None => all.push(json!({"reason": reason, "underlyingCause": "", "count": 1})),
    }
    json!({"evictions": all})
}

fn merged(mut object: Value, more: &Value) -> Value {
    if let (Some(left), Some(right)) = (object.as_object_mut(), more.as_object()) {
        for (key, value) in right {
            let inner = left.remove(key).unwrap_or(Value::Null);
            left.insert(
                key.clone(),
                if inner.is_object() {
                    merged(inner, value)
                } else {
                    value.clone()
                },
            );
        }
    }
    object
}

/// A lab of one step whose criteria are these YAML maps, one a line; ids and points are added.
pub(crate) fn rules(criteria: &str) -> LabRules {
    let mut yaml = String::from(
        "format: 1\nid: essai\nday: 1\nhalf: am\nminutes: 1\nprofile: p\nnamespace: equipe-vision\nsteps:\n  - id: etape\n    minutes: 1\n    questions:\n      - { id: q, kind: text }\n    criteria:\n",
    );
    for (number, criterion) in criteria
        .lines()
        .filter(|line| !line.trim().is_empty())
        .enumerate()
    {
        let inner = criterion.trim();
        let line = format!("      - {{ id: c{number}, points: 1, {inner} }}\n");
        yaml.push_str(&line);
    }
    let known = Known {
        profiles: vec!["p".to_owned()],
    };
    Lab::rules_only(&yaml, &known).unwrap_or_else(|findings| panic!("{yaml}\n{findings}"))
}
