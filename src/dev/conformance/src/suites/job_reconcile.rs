//! Reconcile cases of job kinds: one pass of the reference's generic reconciler, on the objects of the case. Our controller takes one step
//! at a time and asks again until nothing is left; here it stops where the reference's pass ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use controllers::job::decide::{self, Parent, Rules, Standing, Step, View};
use controllers::job::effects::{self, Effect};
use controllers::job::priority_among;
use jobs::ancestors::{self, Ancestor, Astray};
use jobs::integrations::Integrations;
use jobs::{Change, GenericJob, JobKind};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta, OwnerReference};
use kueue_api::features::{Features, gate};
use kueue_api::v1beta2::{ResourceFlavor, ResourceFlavorSpec, Workload, WorkloadPriorityClass};
use kueue_api::workload::slices;
use serde_json::{Value, json};

use crate::compare;
use crate::corpus::{Case, each, now, parse, read};
use crate::store::{Store, WORKLOAD_NOISE, named, normal};
use crate::verdict::Verdict;

/// Steps until nothing is left; more would be going in circles.
const ROUNDS: usize = 12;

/// Options of the reference's reconciler.
#[derive(Debug, Default)]
pub(super) struct Options {
    unnamed: bool,
    /// In the form of a selector's text; none is every namespace.
    namespaces: Option<String>,
    pods_ready: bool,
    labels: Vec<String>,
    annotations: Vec<String>,
    keep_deactivated: Option<std::time::Duration>,
}

impl Options {
    pub(super) fn read(list: &Value) -> Self {
        let mut options = Self::default();
        for one in list.as_array().into_iter().flatten() {
            options.unnamed |= one["manageJobsWithoutQueueName"] == true;
            options.pods_ready |= one["waitForPodsReady"] == true;
            options
                .labels
                .extend(read::<Vec<_>>(&one["labelKeysToCopy"]));
            options
                .annotations
                .extend(read::<Vec<_>>(&one["annotationsToCopy"]));
            if let Some(text) = one["managedJobsNamespaceSelector"].as_str() {
                options.namespaces = Some(text.to_owned());
            }
            if let Some(text) = one["workloadRetentionPolicy"]["afterDeactivatedByKueue"].as_str() {
                let seconds: jiff::SignedDuration = text.parse().unwrap();
                options.keep_deactivated = Some(seconds.unsigned_abs());
            }
        }
        options
    }
}

/// A job being reconciled.
pub(super) struct Run {
    pub(super) store: Store,
    kind: &'static JobKind,
    namespace: String,
    name: String,
    rules: Rules,
    options: Options,
    integrations: Integrations,
}

/// What became of a pass.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) error: Option<String>,
}

impl Run {
    pub(super) fn new(
        store: Store,
        kind: &'static JobKind,
        (namespace, name): (&str, &str),
        options: Options,
        features: &Features,
    ) -> Self {
        let rules = rules(&options, features);
        let every: Vec<_> = jobs::KINDS
            .iter()
            .map(|kind| kind.framework.to_owned())
            .collect();
        Self {
            store,
            kind,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            rules,
            options,
            integrations: Integrations::new(&every, &[]),
        }
    }

    pub(super) fn job(&self) -> Option<Box<dyn GenericJob>> {
        let value = self
            .store
            .value(self.kind.kind, &self.namespace, &self.name)?;
        let mut job = (self.kind.read)(value.clone()).unwrap();
        complete(&self.store, job.as_mut());
        Some(job)
    }

    /// One pass.
    pub(super) fn pass(&mut self) -> Ended {
        let mut ended = Ended::default();
        for _ in 0..ROUNDS {
            let step = match self.job() {
                None => self.orphans(),
                Some(job) => match self.step(job.as_ref()) {
                    Ok(step) => step,
                    Err(astray) => {
                        ended.error = Some(astray.to_string());
                        return ended;
                    }
                },
            };
            let last = ends_pass(&step, &mut ended);
            if let Err(error) = self.carry_out(step) {
                ended.error = Some(error);
                return ended;
            }
            if last {
                break;
            }
        }
        ended
    }

    /// The job is not there: its Workloads are orphans.
    fn orphans(&mut self) -> Step {
        let workloads = self.owned();
        decide::orphaned(&workloads, &self.rules)
    }

    fn owned(&self) -> Vec<Arc<Workload>> {
        let is_of = |workload: &Workload| {
            let owner = ancestors::controller(&workload.metadata);
            owner.is_some_and(|owner| self.kind.owns(owner) && owner.name == self.name)
                && workload.namespace() == self.namespace
        };
        let all: Vec<Workload> = self.store.list();
        all.into_iter().filter(is_of).map(Arc::new).collect()
    }

    fn workloads(&self, job: &dyn GenericJob) -> Vec<Arc<Workload>> {
        match job.prebuilt_workload(self.rules.annotated_names) {
            Some(name) => {
                let found = self.store.get::<Workload>(&self.namespace, name);
                found.map(Arc::new).into_iter().collect()
            }
            None => self.owned(),
        }
    }

    fn step(&self, job: &dyn GenericJob) -> Result<Step, Astray> {
        self.with_view(job, decide::next)
    }

    fn with_view<T>(
        &self,
        job: &dyn GenericJob,
        then: impl FnOnce(&View<'_>) -> T,
    ) -> Result<T, Astray> {
        let flavors: Vec<ResourceFlavor> = self.store.list();
        let mut flavors: BTreeMap<String, ResourceFlavorSpec> = flavors
            .into_iter()
            .map(|flavor| (flavor.name().to_owned(), flavor.spec))
            .collect();
        flavors.entry("default".to_owned()).or_default();
        let classes: Vec<WorkloadPriorityClass> = self.store.list();
        let pod_classes = self.store.list();
        let priority = priority_among(job, &classes, &pod_classes);
        let workloads = self.workloads(job);
        Ok(then(&View {
            job,
            standing: self.standing(job)?,
            workloads: &workloads,
            flavors: &flavors,
            priority: priority.as_ref(),
            rules: &self.rules,
            now: now(),
        }))
    }

    fn standing(&self, job: &dyn GenericJob) -> Result<Standing, Astray> {
        if !self.in_managed_namespace() {
            return Ok(Standing::Foreign);
        }
        let found = ancestors::find(
            job.meta(),
            self.options.unnamed,
            |owner| self.integrations.known(owner),
            |owner| self.look_up(owner),
        );
        Ok(match found {
            Ok(Some(ancestor)) => {
                let elastic = self.rules.workloads.elastic
                    && (slices::is_marked(job.meta()) || slices::is_marked(&ancestor.meta));
                Standing::Child(self.parent(&ancestor).seen_by_child(elastic))
            }
            Ok(None) if self.options.unnamed || job.queue_name().is_some() => Standing::Top,
            Ok(None) => Standing::Foreign,
            Err(Astray::TooDeep) => Standing::TooDeep,
            Err(astray) => return Err(astray),
        })
    }

    fn in_managed_namespace(&self) -> bool {
        let Some(text) = &self.options.namespaces else {
            return true;
        };
        let labels: BTreeMap<String, String> = self
            .store
            .value("Namespace", "", &self.namespace)
            .map(|namespace| read(&namespace["metadata"]["labels"]))
            .unwrap_or_default();
        kueue_api::validation::matches_selector(&selector(text), &labels)
    }

    fn look_up(&self, owner: &OwnerReference) -> Option<ObjectMeta> {
        let found = self.store.value(&owner.kind, &self.namespace, &owner.name);
        found.map(|object| parse(&object["metadata"]))
    }

    fn parent(&self, ancestor: &Ancestor) -> Parent {
        let is_of = |workload: &&Workload| {
            let owner = ancestors::controller(&workload.metadata);
            owner.is_some_and(|owner| {
                owner.name == ancestor.owner.name && owner.kind == ancestor.owner.kind
            }) && !workload.is_finished()
        };
        let all: Vec<Workload> = self.store.list();
        let mut open = all.iter().filter(is_of);
        match open.next_back() {
            None => Parent::Missing,
            Some(workload) if workload.is_admitted() => Parent::Admitted,
            Some(workload) if workload.is_evicted() => Parent::Leaving,
            Some(_) => Parent::Waiting,
        }
    }

    fn carry_out(&mut self, step: Step) -> Result<(), String> {
        let effects = match self.job() {
            Some(job) => self.with_view(job.as_ref(), |view| effects::of(view, step)),
            None => {
                // Only the Workloads of a job that is not there are written.
                let nobody = (self.kind.read)(json!({"metadata": {}})).unwrap();
                self.with_view(nobody.as_ref(), |view| effects::of(view, step))
            }
        };
        let effects = effects
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        for effect in effects {
            self.effect(effect);
        }
        Ok(())
    }

    fn effect(&mut self, effect: Effect) {
        let place =
            |workload: &Workload| (workload.namespace().to_owned(), workload.name().to_owned());
        let (namespace, name) = (self.namespace.clone(), self.name.clone());
        let store = &mut self.store;
        match effect {
            Effect::Tell {
                warning,
                reason,
                note,
            } => store.tell(&namespace, &name, warning, reason, &note),
            Effect::Create(workload) => {
                store.create(workload.as_ref());
            }
            Effect::Change { workload, patch } => {
                let (ns, name) = place(&workload);
                store.patch("Workload", &ns, &name, &patch);
            }
            Effect::Status { workload, status } => {
                let (ns, name) = place(&workload);
                store.apply_status("Workload", &ns, &name, status.as_ref());
            }
            Effect::Reclaim { workload, pods } => {
                let (ns, name) = place(&workload);
                let status = json!({ "reclaimablePods": pods });
                store.apply_status("Workload", &ns, &name, &status);
            }
            Effect::Delete(workload) => {
                let (ns, name) = place(&workload);
                store.delete("Workload", &ns, &name);
                release(store, &ns, &name);
            }
            Effect::Release(workload) => {
                let (ns, name) = place(&workload);
                release(store, &ns, &name);
            }
            Effect::Job(patch) => {
                store.patch(self.kind.kind, &namespace, &name, &patch);
            }
            Effect::Stop { infos, message } => self.stop(infos.as_deref(), &message),
            Effect::DeleteJob => {
                store.delete(self.kind.kind, &namespace, &name);
            }
        }
    }

    fn stop(&mut self, infos: Option<&[jobs::PodSetInfo]>, message: &str) {
        let Some(mut job) = self.job() else { return };
        let mut runs = !job.is_suspended();
        while let Some(change) = job.stop_step(infos) {
            let (Change::Object(patch) | Change::Status(patch)) = change;
            self.store
                .patch(self.kind.kind, &self.namespace, &self.name, &patch);
            job = self.job().unwrap();
            if runs && job.is_suspended() {
                runs = false;
                let (namespace, name) = (&self.namespace, &self.name);
                self.store
                    .event(namespace, name, "Normal", "Stopped", message);
            }
        }
    }
}

pub(super) fn release(store: &mut Store, namespace: &str, name: &str) {
    let Some(workload) = store.value("Workload", namespace, name) else {
        return;
    };
    let mut finalizers: Vec<String> = read(&workload["metadata"]["finalizers"]);
    finalizers.retain(|one| one != kueue_api::names::RESOURCE_IN_USE_FINALIZER);
    let patch = json!({"metadata": {"finalizers": finalizers}});
    store.patch("Workload", namespace, name, &patch);
}

/// Where one pass of the reference ends, and with which error.
fn ends_pass(step: &Step, ended: &mut Ended) -> bool {
    if let Step::Delete { stop, .. } = step {
        let text = if stop.is_some() {
            "no matching workloads"
        } else {
            "extra workloads"
        };
        ended.error = Some(text.to_owned());
    }
    let goes_on = matches!(
        step,
        Step::Adopt { .. }
            | Step::Update { .. }
            | Step::Resize { .. }
            | Step::FinishSlices { .. }
            | Step::SetGates { .. }
            | Step::SetPriority { .. }
            | Step::Release { .. }
            | Step::LetGo { .. }
    );
    // Only a job that was never let run is left alone after it is stopped.
    let stops = matches!(step, Step::Stop { message, .. } if message != decide::NOT_ADMITTED);
    let out_of_sync = matches!(step, Step::Finish { reason, .. } if ["OutOfSync", "OwnerNotFound"].contains(reason));
    !(goes_on || stops || out_of_sync)
}

pub(super) fn rules(options: &Options, features: &Features) -> Rules {
    let topology = features.on(gate::TOPOLOGY_AWARE_SCHEDULING);
    let custom = features.on("CustomMetricLabels");
    Rules {
        workloads: jobs::construct::Options {
            label_keys_to_copy: options.labels.clone(),
            annotations_to_copy: options
                .annotations
                .clone()
                .into_iter()
                .filter(|_| custom)
                .collect(),
            admission_gates: features.on(gate::ADMISSION_GATED_BY),
            partial: features.on(gate::PARTIAL_ADMISSION),
            topology,
            elastic: features.on(gate::ELASTIC_JOBS),
            longest_name: jobs::naming::longest(features),
        },
        marks: jobs::Marks {
            topology,
            slices: features.on(gate::ELASTIC_JOBS),
            queues: features.on(gate::ASSIGN_QUEUE_LABELS_FOR_PODS),
        },
        track_pods_ready: options.pods_ready,
        reclaim: features.on(gate::RECLAIMABLE_PODS),
        finish_orphans: features.on(gate::FINISH_ORPHANED_WORKLOADS),
        annotated_names: features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS),
        keep_deactivated: options.keep_deactivated,
    }
}

/// The few forms of selectors that the corpus writes as texts.
pub(super) fn selector(text: &str) -> LabelSelector {
    let requirement = |key: &str, operator: &str, values: &str| {
        let values: Vec<_> = values.split(',').map(str::trim).collect();
        json!({"matchExpressions": [{"key": key.trim(), "operator": operator, "values": values}]})
    };
    let value = if text.is_empty() {
        json!({})
    } else if let Some((key, values)) = text.split_once(" notin (") {
        requirement(key, "NotIn", values.trim_end_matches(')'))
    } else if let Some((key, values)) = text.split_once(" in (") {
        requirement(key, "In", values.trim_end_matches(')'))
    } else {
        let (key, value) = text.split_once('=').unwrap();
        requirement(key, "In", value)
    };
    parse(&value)
}

/// One pass over a job.
pub(super) fn reconciler(case: Case<'_>) -> Verdict {
    let features = Features::with(case.gates());
    let mut store = Store::of([
        &case.common["testNamespace"],
        &case.input["setup"],
        &case.input["job"],
        &case.input["trainJob"],
        &case.input["sparkApp"],
        &case.common["testCtr"],
        &case.input["otherJobs"],
        &case.input["priorityClasses"],
        &case.input["initObjects"],
    ]);
    let job = job_of(case);
    let annotated = features.on(gate::WORKLOAD_IDENTIFIER_ANNOTATIONS);
    let prebuilt = job.is_object()
        && super::jobs::parsed(job)
            .prebuilt_workload(annotated)
            .is_some();
    for workload in each::<Value>(&case.input["workloads"]) {
        store.add(&owned(workload, job, prebuilt));
    }
    let (kind, key) = key(case);
    let options = Options::read(&case.input["reconcilerOptions"]);
    let mut run = Run::new(store, kind, (&key.0, &key.1), options, &features);
    let ended = run.pass();
    let got = run.store.value(kind.kind, &key.0, &key.1).cloned();
    let batch = kind.framework == jobs::kind::BATCH_JOB.framework;
    let mut noise = vec!["metadata.ownerReferences", "metadata.resourceVersion"];
    noise.extend(["metadata.annotations", "apiVersion", "kind"]);
    if !batch {
        noise.push("metadata");
    }
    let got = got.unwrap_or_else(|| json!({}));
    let wanted = ["wantJob", "wantTrainJob"].map(|name| &case.want[name]);
    let wanted = wanted.into_iter().find(|wanted| wanted.is_object());
    // Some tables look at nothing but the Workloads.
    let wanted = match wanted {
        None if case.input["sparkApp"].is_object() => got.clone(),
        wanted => wanted.cloned().unwrap_or_default(),
    };
    let jobs = [got, wanted].map(|job| normal(&[job], &noise));
    let want = &case.want["wantWorkloads"];
    let workloads = if batch {
        let known = &case.input["workloads"];
        run.store.same_workloads(want, known, prebuilt)
    } else {
        let noise = [WORKLOAD_NOISE, OTHER_KINDS_NOISE].concat();
        run.store.same("Workload", want, &noise)
    };
    let events = || run.store.same_events(&case.want["wantEvents"]);
    Verdict::all([
        failed(&ended, &case.want["wantErr"]),
        named("job", Verdict::same(&jobs[0], &jobs[1])),
        workloads,
        if batch { events() } else { Verdict::Passed },
    ])
}

/// Hands a job what describes its pods, if that is elsewhere.
pub(super) fn complete(store: &Store, job: &mut dyn GenericJob) {
    let Some(of) = job.runtime_ref() else { return };
    let namespace = of.namespace.as_deref().unwrap_or_default();
    let kinds = jobs::train_job::RUNTIMES.iter();
    let found = kinds.filter_map(|(kind, _)| store.value(kind, namespace, &of.name));
    if let Some(runtime) = found.into_iter().next() {
        job.set_runtime(Arc::new(runtime.clone()));
    }
}

/// The job, whatever the table calls it.
fn job_of(case: Case<'_>) -> &Value {
    let names = ["job", "trainJob", "sparkApp"].iter();
    let mut all = names.map(|name| &case.input[*name]);
    all.find(|job| job.is_object()).unwrap_or(&Value::Null)
}

/// What the tables of the other kinds do not compare of Workloads; they name no events either.
const OTHER_KINDS_NOISE: &[&str] = &[
    "metadata.name",
    "metadata.labels",
    "metadata.ownerReferences",
    "metadata.finalizers",
    "spec.priority",
    "spec.podSets.*.template",
];

pub(super) fn failed(ended: &Ended, want: &Value) -> Verdict {
    let (got, want) = (ended.error.is_some(), !compare::is_empty(want));
    if got == want {
        Verdict::Passed
    } else {
        Verdict::Failed(format!("error: {:?}, expected {want}", ended.error))
    }
}

/// The reference makes the job the controller of each Workload that has none.
fn owned(mut workload: Value, job: &Value, prebuilt: bool) -> Value {
    let controlled = workload["metadata"]["ownerReferences"]
        .as_array()
        .into_iter()
        .flatten()
        .any(|owner| owner["controller"] == true);
    if !prebuilt && !controlled && job.is_object() {
        let owner = super::jobs::parsed(job).owner_reference();
        workload["metadata"]["ownerReferences"] = json!([owner]);
    }
    workload
}

fn key(case: Case<'_>) -> (&'static JobKind, (String, String)) {
    let job = job_of(case);
    let kind = if job.is_object() {
        super::jobs::kind(job)
    } else {
        &jobs::kind::BATCH_JOB
    };
    let given = &case.input["reconcileKey"];
    let key = given.as_str().and_then(|text| text.split_once('/'));
    let key = key.map(|(namespace, name)| (namespace.to_owned(), name.to_owned()));
    let of = |meta: &Value| (read(&meta["namespace"]), read(&meta["name"]));
    let own = || {
        if given.is_object() {
            of(given)
        } else {
            of(&job["metadata"])
        }
    };
    (kind, key.unwrap_or_else(own))
}
