//! What all job kinds share: whose they are, their defaults, what is refused, their Workloads.

use jobs::admission::{default_names, should_manage, validate_create, validate_update};
use jobs::{GenericJob, PodSetInfo, construct};
use k8s_openapi::api::core::v1::PodSpec;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kueue_api::features::{Features, gate};
use kueue_api::field::Path;
use kueue_api::names::labels;
use kueue_api::v1beta2::PodSet;
use serde_json::{Value, json};

use super::File;
use super::job_defaults::{Place, default_job};
use super::job_reconcile::{Options, Run, failed};
use super::jobs::{features, object, parsed};
use crate::compare::{self, Also, faults};
use crate::corpus::{Case, each, parse, read};
use crate::store::{Store, named};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestApplyDefaultLocalQueue", default_queue),
    ("TestApplyDefaultWorkloadPriorityClass", default_class),
    ("TestBaseWebhookDefault", default_job),
    ("TestEnabledIntegrationsDependencies", registry),
    (
        "TestExtractPriorityReportsMissingWorkloadPriorityClass",
        missing_class,
    ),
    ("TestFindAncestorJobManagedByKueue", ancestor),
    ("TestForEach", registry),
    ("TestGenerateWorkloadNameWithExtra", slice_name),
    ("TestGenerateWorkloadNameWithGeneration", generations),
    ("TestGetJobTypeForOwner", registry),
    ("TestGetWorkloadNameForVariant", variants),
    ("TestImplicitlyEnabledIntegrations", registry),
    ("TestPodSetTopologyRequestBuilder", topology),
    ("TestProcessOptions", registry),
    ("TestReconcileGenericJob", reconcile),
    (
        "TestReconcileGenericJobWithCustomWorkloadActivation",
        registry,
    ),
    ("TestReconcileGenericJobWithWaitForPodsReady", pods_ready),
    ("TestRecordWorkloadCreationLatency", registry),
    ("TestSanitizePodSets", tidy),
    ("TestSetupControllers", registry),
    ("TestSetupIndexes", registry),
    ("TestUpdateWorkloadPriority", priorities),
    ("TestValidateImmutablePodSpec", shape),
    ("TestValidateJobOnCreate", create),
    ("TestValidateJobOnUpdate", update),
    ("TestValidateOnCreate", own_create),
    ("TestValidateOnUpdate", own_update),
    (
        "TestValidateRemoteObjectOwnership",
        super::multikueue::owned,
    ),
    (
        "TestValidateSliceRequiredTopologyConstraintsAnnotation",
        slices,
    ),
    ("TestValidateSliceSizeAnnotationUpperBound", slices),
    ("TestWorkloadShouldBeSuspended", suspended),
];

fn registry(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("the reference's registry of integrations"))
}

/// Names of slices. Of most cases only what two of them have to do with each other is compared, or how they begin.
fn slice_name(case: Case<'_>) -> Verdict {
    let text = |field: &str| case.input[field].as_str().unwrap_or_default();
    if let Some(same) = case.want["wantEqual"].as_bool() {
        let [one, other] = ["extra1", "extra2"].map(|extra| made("job", "uid", text(extra)));
        return Verdict::equal("same", &(one == other), &same);
    }
    let longest = jobs::naming::longest(&features(case));
    let (owner, uid, extra) = (text("ownerName"), text("ownerUID"), text("extra"));
    let kind = &jobs::kind::BATCH_JOB;
    let got = if extra.is_empty() {
        jobs::naming::workload_name(kind, owner, uid, longest)
    } else {
        jobs::naming::slice_name(kind, owner, uid, extra, longest)
    };
    match case.want["wantPrefix"].as_str() {
        Some(prefix) => Verdict::equal("prefix", &got.starts_with(prefix), &true),
        None => Verdict::same(&got, &case.want["want"]),
    }
}

fn made(name: &str, uid: &str, extra: &str) -> String {
    let longest = jobs::naming::MAX_NAME;
    jobs::naming::slice_name(&jobs::kind::BATCH_JOB, name, uid, extra, longest)
}

fn generations(case: Case<'_>) -> Verdict {
    let [one, other] = ["1", "2"].map(|at| {
        let of = |field: &str| case.input[format!("{field}{at}")].clone();
        let (name, uid) = (of("ownerName"), of("uid"));
        let extra = of("generation").to_string();
        made(name.as_str().unwrap(), uid.as_str().unwrap(), &extra)
    });
    Verdict::equal("same", &(one == other), &(case.want["wantEqual"] == true))
}

fn priorities(_: Case<'_>) -> Verdict {
    let why = "writes that meet a conflict or fail, by code: ours reads again and decides anew";
    Verdict::Skipped(Skip::Internal(why))
}

fn variants(_: Case<'_>) -> Verdict {
    Verdict::not_built("ConcurrentAdmission")
}

fn named_meta(case: Case<'_>, place: &Place) -> ObjectMeta {
    let mut meta: ObjectMeta = parse(&object(case)["metadata"]);
    let mut around = place.around(&meta);
    around.has_default_priority_class &=
        features(case).on(gate::WORKLOAD_PRIORITY_CLASS_DEFAULTING);
    default_names(&mut meta, around);
    meta
}

fn default_queue(case: Case<'_>) -> Verdict {
    let mut place = Place::of(case);
    place.default_queue = true;
    let namespaces = [
        &case.common["managedNamespace"],
        &case.common["unmanagedNamespace"],
    ];
    namespaces.iter().for_each(|one| place.store.add(one));
    let got = label(&named_meta(case, &place), labels::QUEUE_NAME);
    Verdict::equal("queue", &got, &read(&case.want["wantQueueLabel"]))
}

fn default_class(case: Case<'_>) -> Verdict {
    let mut place = Place::of(case);
    place.store = Store::of([&case.common["parent"], &case.input["wpcObjects"]]);
    place.integrations = jobs::integrations::Integrations::new(&["batch/job".to_owned()], &[]);
    let got = label(&named_meta(case, &place), labels::PRIORITY_CLASS);
    let want = read(&case.want["wantPriorityClassLabel"]);
    Verdict::equal("priority class", &got, &want)
}

fn label(meta: &ObjectMeta, key: &str) -> String {
    let own = meta.labels.as_ref().and_then(|own| own.get(key));
    own.cloned().unwrap_or_default()
}

/// A class that is named and not there: no Workload, and a warning if the class is one of ours.
fn missing_class(case: Case<'_>) -> Verdict {
    let error: String = read(&case.want["wantErr"]);
    if error.contains("forbidden") {
        return Verdict::Skipped(Skip::Internal("a class that may not be read"));
    }
    let mut job = case.input["job"].clone();
    let sets: Vec<PodSet> = each(&case.input["podSets"]);
    if let Some(set) = sets.first() {
        job["spec"]["template"] = serde_json::to_value(&set.template).unwrap();
    }
    let store = Store::of([&job, &case.input["objects"]]);
    let key = (
        job["metadata"]["namespace"].as_str().unwrap(),
        job["metadata"]["name"].as_str().unwrap(),
    );
    let kind = super::jobs::kind(&job);
    let options = Options::read(&json!([{"manageJobsWithoutQueueName": true}]));
    let mut run = Run::new(store, kind, key, options, &features(case));
    run.pass();
    let made = !run.store.values("Workload").is_empty();
    if made {
        let events = &case.want["wantEvents"];
        return Verdict::equal(
            "made",
            &(error.is_empty() && compare::is_empty(events)),
            &true,
        );
    }
    Verdict::all([
        Verdict::equal("not made", &!error.is_empty(), &true),
        run.store.same_events(&case.want["wantEvents"]),
    ])
}

fn ancestor(case: Case<'_>) -> Verdict {
    let place = Place::of(case);
    let meta: ObjectMeta = parse(&object(case)["metadata"]);
    let found = place.ancestor(&meta);
    let error = Verdict::equal(
        "astray",
        &found.is_err(),
        &!compare::is_empty(&case.want["wantErr"]),
    );
    let got = found.ok().flatten().map(|meta| (meta.name, meta.uid));
    let want = &case.want["wantManaged"]["metadata"];
    let want = want
        .is_object()
        .then(|| (read(&want["name"]), read(&want["uid"])));
    Verdict::all([error, Verdict::equal("ancestor", &got, &want)])
}

fn topology(case: Case<'_>) -> Verdict {
    let meta: ObjectMeta = read(&case.input["meta"]);
    let leak = |value: &Value| -> Option<&'static str> {
        let text = value.as_str()?;
        Some(Box::leak(text.to_owned().into_boxed_str()))
    };
    let input = case.input;
    let ranks = jobs::topology_request::Ranks {
        pod_index_label: leak(&input["podIndexLabel"]),
        sub_groups: leak(&input["subGroupIndexLabel"])
            .map(|label| (label, read(&input["subGroupCount"]))),
    };
    match jobs::topology_request::of(Some(&meta), &ranks) {
        Ok(request) => Verdict::all([
            Verdict::equal("read", &true, &compare::is_empty(&case.want["wantErr"])),
            Verdict::same(&request, &case.want["wantReq"]),
        ]),
        Err(_) => Verdict::equal("refused", &true, &case.want["wantErr"].is_string()),
    }
}

/// The reference's job says its podsets itself; ours has them in its template.
fn with_pod_sets(case: Case<'_>) -> Value {
    let mut job = case.input["job"].clone();
    let sets: Vec<PodSet> = each(&case.input["podSets"]);
    job["spec"]["template"] = serde_json::to_value(&sets[0].template).unwrap();
    job["spec"]["parallelism"] = json!(sets[0].count);
    job
}

fn reconcile(case: Case<'_>) -> Verdict {
    let job = with_pod_sets(case);
    let features = features(case);
    let key = (
        job["metadata"]["namespace"].as_str().unwrap(),
        job["metadata"]["name"].as_str().unwrap(),
    );
    let kind = super::jobs::kind(&job);
    let options = Options::read(&case.input["reconcilerOptions"]);
    let store = Store::of([&job, &case.input["objs"]]);
    let mut run = Run::new(store, kind, key, options, &features);
    run.pass();
    // The reference's own job does not number its pods.
    run.store
        .forget("Workload", "spec.podSets.*.topologyRequest");
    let workloads =
        run.store
            .same_workloads(&case.want["wantWorkloads"], &case.input["objs"], true);
    let events = &case.want["wantEvents"];
    let events = if events.is_array() {
        run.store.same_events(events)
    } else {
        Verdict::Passed
    };
    Verdict::all([workloads, events, started(&run, &job, case)])
}

/// What the job was started with.
fn started(run: &Run, before: &Value, case: Case<'_>) -> Verdict {
    let want = &case.want["wantPodSets"];
    if compare::is_empty(want) {
        return Verdict::Passed;
    }
    let mut wanted = parsed(before);
    let infos: Vec<PodSetInfo> = super::jobs::infos(want);
    wanted.run_with(&infos).unwrap();
    let got = run.job().unwrap().to_value().unwrap();
    named("job", Verdict::same(&got, &wanted.to_value().unwrap()))
}

fn pods_ready(case: Case<'_>) -> Verdict {
    if case.want["wantError"].is_string() {
        return Verdict::Skipped(Skip::Internal("a write that fails"));
    }
    let job = &case.input["job"];
    let key = (
        job["metadata"]["namespace"].as_str().unwrap(),
        job["metadata"]["name"].as_str().unwrap(),
    );
    let store = Store::of([job, &case.input["workload"], &case.input["setup"]]);
    let options = Options::read(&json!([{"waitForPodsReady": true}]));
    let kind = super::jobs::kind(job);
    let mut run = Run::new(store, kind, key, options, &features(case));
    let ended = run.pass();
    let workloads = run.store.values("Workload");
    let conditions = &workloads[0]["status"]["conditions"];
    let mut all = conditions.as_array().into_iter().flatten();
    let told = all.any(|one| one["type"] == "PodsReady" && one["status"] == "True");
    Verdict::all([
        failed(&ended, &case.want["wantError"]),
        Verdict::equal("ready", &told, &true),
    ])
}

fn tidy(case: Case<'_>) -> Verdict {
    let mut sets: Vec<PodSet> = each(&case.input["podSets"]);
    sets.iter_mut().for_each(construct::tidy);
    Verdict::same(&sets, &case.want["expectedPodSets"])
}

fn shape(case: Case<'_>) -> Verdict {
    let spec = |name: &str| -> PodSpec {
        let mut value = case.input[name].clone();
        if value.is_null() {
            value = json!({});
        }
        for list in ["containers", "initContainers"] {
            let containers = value[list].as_array_mut().into_iter().flatten();
            containers.for_each(|container| container["name"] = json!("c"));
        }
        if value["containers"].is_null() {
            value["containers"] = json!([]);
        }
        parse(&value)
    };
    let (old, new) = (spec("oldPodSpec"), spec("newPodSpec"));
    let mut got = jobs::serving::same_shape(&old, &new, &Path::new("spec"));
    got.sort_by(|a, b| a.field.cmp(&b.field));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

/// A job of the kind that a case names; the object itself is always a Job.
fn of_kind(case: Case<'_>, name: &str) -> Box<dyn GenericJob> {
    let mut value = case.input[name].clone();
    let gvk: String = read(&case.input["gvk"]);
    let kind = jobs::KINDS.iter().find(|kind| kind.gvk() == gvk);
    let kind = kind.copied().unwrap_or(&jobs::kind::BATCH_JOB);
    value["kind"] = json!(kind.kind);
    value["apiVersion"] = json!(kind.api_version());
    (kind.read)(value).unwrap()
}

fn create(case: Case<'_>) -> Verdict {
    let job = of_kind(case, "job");
    let around = Place::of(case).around(job.meta());
    let got = validate_create(job.as_ref(), around, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn update(case: Case<'_>) -> Verdict {
    let (old, new) = (of_kind(case, "oldJob"), of_kind(case, "newJob"));
    let mut around = Place::of(case).around(new.meta());
    around.has_default_queue = case.input["nsHasDefaultQueue"] == true;
    let got = validate_update(old.as_ref(), new.as_ref(), around, &features(case));
    faults(&got, &case.want["wantErr"], Also::Nothing)
}

fn made_up() -> Verdict {
    Verdict::Skipped(Skip::Internal("checks of a kind made up for the test"))
}

fn own_create(case: Case<'_>) -> Verdict {
    let input = case.input;
    if !input["customValidationFailure"].is_null() || !input["customValidationError"].is_null() {
        return made_up();
    }
    let job = of_kind(case, "job");
    let around = Place::of(case).around(job.meta());
    let got = validate_create(job.as_ref(), around, &features(case));
    faults(&got, &case.want["wantError"], Also::Detail)
}

fn own_update(case: Case<'_>) -> Verdict {
    let args = &case.input["args"];
    if !args["customValidationFailure"].is_null() || !args["customValidationError"].is_null() {
        return made_up();
    }
    let (old, new) = (parsed(&args["oldObj"]), parsed(&args["newObj"]));
    let around = Place::of(case).around(new.meta());
    let got = validate_update(old.as_ref(), new.as_ref(), around, &Features::default());
    faults(&got, &case.want["wantError"], Also::Detail)
}

fn slices(case: Case<'_>) -> Verdict {
    let count = case.input["podSetCount"].as_i64().unwrap_or(1 << 20);
    let mut pod_set = PodSet {
        count: i32::try_from(count).unwrap(),
        ..PodSet::default()
    };
    pod_set.template.metadata = Some(parse(&json!({"annotations": case.input["annotations"]})));
    let path = Path::new("spec").child("template").child("metadata");
    let templates = [jobs::admission::topology::Template { path, pod_set }];
    let layers = features(case).on(gate::TAS_MULTI_LAYER_TOPOLOGY);
    let mut got = jobs::admission::topology::problems(&templates, layers);
    // The two functions look at slices only.
    got.retain(|fault| fault.field.contains("podset-slice"));
    let want: usize = read(&case.want["wantErrNum"]);
    match got.len() {
        found if found == want => Verdict::Passed,
        _ => Verdict::Failed(format!("{got:?}, expected {want} faults")),
    }
}

/// An object that is being deleted is nobody's to hold back; the reference looks for its ancestors in some settings even then.
fn suspended(case: Case<'_>) -> Verdict {
    let mut place = Place::of(case);
    place.integrations = jobs::integrations::Integrations::new(&["batch/job".to_owned()], &[]);
    let meta: ObjectMeta = parse(&case.input["obj"]["metadata"]);
    let got = meta.deletion_timestamp.is_none()
        && place.ancestor(&meta).is_ok()
        && should_manage(&meta, place.around(&meta));
    let want = case.want["wantSuspend"] == true;
    let astray = place.ancestor(&meta).is_err() && meta.deletion_timestamp.is_none();
    let error = case.want["wantErr"].is_string() && meta.deletion_timestamp.is_none();
    Verdict::all([
        Verdict::equal("held back", &got, &want),
        Verdict::equal("astray", &astray, &error),
    ])
}
