//! What an autoscaler is asked for: one pass over a Workload with its requests in memory, and the parts of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use controllers::provisioning::check::{active, configuration};
use controllers::provisioning::decide::{Act, View, current, failed, plan};
use controllers::provisioning::pod_sets::{is_needed, merged};
use controllers::provisioning::request::Request;
use kueue_api::names::PROVISIONING_CONTROLLER;
use kueue_api::v1beta2::{
    AdmissionCheck, AdmissionCheckState, ProvisioningRequestConfig, ProvisioningRequestConfigSpec,
    ResourceFlavor, ResourceFlavorSpec, Workload,
};
use serde_json::{Value, json};

use super::File;
use crate::corpus::{Case, each, now, parse, read};
use crate::verdict::{Skip, Verdict};

pub(super) const FILES: &[File] = &[
    ("TestActiveOrLastPRForChecks", last),
    ("TestIndexAdmissionChecks", index),
    ("TestIndexProvisioningRequests", index),
    ("TestIndexWorkload", index),
    ("TestIsMissingInCache", index),
    ("TestMergePodSetsSkipsZeroCounts", counts),
    ("TestReconcile", reconcile),
    ("TestReconcileAdmissionCheck", check),
    ("TestReqIsNeeded", needed),
    ("TestUpdateCheckMessage", |_| {
        Verdict::Skipped(Skip::Internal("whether one text differs from another"))
    }),
];

fn index(_: Case<'_>) -> Verdict {
    Verdict::Skipped(Skip::Internal("an index of the reference's client"))
}

/// The condition of an `AdmissionCheck`.
fn check(case: Case<'_>) -> Verdict {
    let check: AdmissionCheck = parse(&case.input["check"]);
    let configs: Vec<ProvisioningRequestConfig> = each(&case.input["configs"]);
    let get = |name: &str| configs.iter().find(|config| config.name() == name);
    let found = configuration(&check, get).map(drop);
    let mut got = json!(active(&check, found, now()));
    got.as_object_mut().unwrap().remove("lastTransitionTime");
    Verdict::same(&got, &case.want["wantCondition"])
}

fn needed(case: Case<'_>) -> Verdict {
    let config: ProvisioningRequestConfig = parse(&case.common["prc"]);
    let workload: Workload = parse(&case.input["workload"]);
    let got = is_needed(&workload, &config.spec);
    let wanted = case.want["wantErr"].as_str();
    let says = |text: &str| {
        let error = got.as_ref().err().map(ToString::to_string);
        error.is_some_and(|error| error.starts_with(text))
    };
    match wanted {
        Some(text) => Verdict::equal("error", &says(text), &true),
        None => Verdict::equal("needed", &got.ok(), &case.want["want"].as_bool()),
    }
}

fn counts(case: Case<'_>) -> Verdict {
    let workload: Workload = parse(&case.input["workload"]);
    let config: ProvisioningRequestConfigSpec =
        read(&json!({"podSetMergePolicy": case.input["mergePolicy"]}));
    let all = merged(&workload, &config).unwrap();
    let names: Vec<_> = all.iter().map(|one| one.set.name.clone()).collect();
    let counts: Vec<_> = all.iter().map(|one| one.count).collect();
    Verdict::all([
        Verdict::same(&names, &case.want["wantNames"]),
        Verdict::same(&counts, &case.want["wantCounts"]),
    ])
}

fn last(case: Case<'_>) -> Verdict {
    let setup = &case.input["setup"];
    let workload: Workload = parse(&setup["workload"]);
    let names: Vec<AdmissionCheck> = each(&setup["checks"]);
    let configs: BTreeMap<String, Option<ProvisioningRequestConfig>> = read(&setup["checkConfig"]);
    let spec = |name: &String| configs.get(name).cloned().flatten().map(|one| one.spec);
    let names = names.iter().map(|check| check.name().to_owned());
    let checks: Vec<_> = names.map(|name| (name.clone(), spec(&name))).collect();
    let requests: Vec<Request> = each(&case.input["requests"]);
    let requests: Vec<_> = requests.into_iter().map(Arc::new).collect();
    let got = current(&View {
        workload: &workload,
        checks: &checks,
        requests: &requests,
        flavors: &BTreeMap::new(),
        cleans_up: false,
        now: now(),
    });
    let got = got.unwrap().into_iter();
    let got: BTreeMap<_, _> = got
        .map(|(check, one)| (check, one.name().to_owned()))
        .collect();
    let wanted = case.want["wantResult"].as_object().into_iter().flatten();
    let name = |request: &Value| read::<String>(&request["metadata"]["name"]);
    let wanted: BTreeMap<_, _> = wanted
        .map(|(check, one)| (check.clone(), name(one)))
        .collect();
    Verdict::equal("requests", &got, &wanted)
}

/// The objects around one Workload.
struct World {
    workload: Value,
    requests: BTreeMap<String, Value>,
    templates: BTreeMap<String, Value>,
    events: Vec<Value>,
    /// What the reference's client is made to fail with.
    fails: String,
}

fn named(list: &Value) -> BTreeMap<String, Value> {
    let all = each::<Value>(list).into_iter();
    all.map(|object| (read(&object["metadata"]["name"]), object))
        .collect()
}

impl World {
    fn of(case: Case<'_>) -> Self {
        Self {
            workload: case.input["workload"].clone(),
            requests: named(&case.input["requests"]),
            templates: named(&case.input["templates"]),
            events: Vec::new(),
            fails: read(&case.want["wantReconcileError"]),
        }
    }

    fn tell(&mut self, kind: &str, reason: &str, message: &str) {
        let meta = &self.workload["metadata"];
        let key = format!(
            "{}/{}",
            read::<String>(&meta["namespace"]),
            read::<String>(&meta["name"])
        );
        self.events
            .push(json!({"eventType": kind, "key": key, "message": message, "reason": reason}));
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Answer { states, told } => {
                self.workload["status"]["admissionChecks"] = json!(states);
                for note in told {
                    self.tell("Normal", "AdmissionCheckUpdated", &note);
                }
            }
            Act::Delete(name) => {
                self.requests.remove(&name);
            }
            Act::Create {
                check,
                request,
                templates,
            } => self.create(&check, &request, templates),
            Act::Own(request) => self.own(&request),
        }
    }

    fn create(
        &mut self,
        check: &str,
        request: &Request,
        templates: Vec<k8s_openapi::api::core::v1::PodTemplate>,
    ) {
        for template in templates {
            let name = template.metadata.name.clone().unwrap();
            if self.fails.contains("PodTemplate") {
                return self.failed(check, "PodTemplate", &name);
            }
            let mut object = json!(template);
            object["apiVersion"] = json!("v1");
            object["kind"] = json!("PodTemplate");
            self.templates.entry(name).or_insert(object);
        }
        if self.fails.contains("ProvisioningRequest") {
            return self.failed(check, "ProvisioningRequest", request.name());
        }
        let mut object = json!(request);
        object["apiVersion"] = json!("autoscaling.x-k8s.io/v1");
        object["kind"] = json!("ProvisioningRequest");
        self.requests.insert(request.name().to_owned(), object);
        let note = format!("Created ProvisioningRequest: {:?}", request.name());
        self.tell("Normal", "ProvisioningRequestCreated", &note);
        self.own(request);
    }

    fn failed(&mut self, check: &str, kind: &str, name: &str) {
        let note = format!("Error creating {kind} {name:?}: {}", self.fails);
        self.tell("Warning", "FailedCreate", &note);
        let states: Vec<AdmissionCheckState> = each(&self.workload["status"]["admissionChecks"]);
        let states = failed(&states, check, &note, now());
        self.workload["status"]["admissionChecks"] = json!(states);
    }

    fn own(&mut self, request: &Request) {
        for pods in &request.spec.pod_sets {
            if let Some(template) = self.templates.get_mut(&pods.pod_template_ref.name) {
                template["metadata"]["ownerReferences"] = json!([{"apiVersion": "autoscaling.x-k8s.io/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ProvisioningRequest", "name": request.name()}]);
            }
        }
    }
}

/// One pass over a Workload.
fn reconcile(case: Case<'_>) -> Verdict {
    let mut world = World::of(case);
    if world.fails.contains("already exists") {
        let why = "an object that the reference's client does not know yet: what is there is taken as it is";
        return Verdict::Skipped(Skip::Internal(why));
    }
    let workload: Workload = parse(&world.workload);
    let all: Vec<AdmissionCheck> = each(&case.input["checks"]);
    let configs: Vec<ProvisioningRequestConfig> = each(&case.input["configs"]);
    let get = |name: &str| configs.iter().find(|config| config.name() == name);
    let states = workload
        .status
        .iter()
        .flat_map(|status| &status.admission_checks);
    let ours = states.filter_map(|state| {
        let check = all.iter().find(|check| check.name() == state.name)?;
        let ours = check.spec.controller_name == PROVISIONING_CONTROLLER;
        let config = || {
            configuration(check, get)
                .ok()
                .map(|config| config.spec.clone())
        };
        ours.then(|| (state.name.clone(), config()))
    });
    let checks: Vec<_> = ours.collect();
    let requests = each::<Request>(&case.input["requests"]).into_iter();
    let requests: Vec<_> = requests.map(Arc::new).collect();
    let flavors = each::<ResourceFlavor>(&case.input["flavors"]).into_iter();
    let flavors: BTreeMap<String, ResourceFlavorSpec> = flavors
        .map(|one| (one.name().to_owned(), one.spec))
        .collect();
    let acts = plan(&View {
        workload: &workload,
        checks: &checks,
        requests: &requests,
        flavors: &flavors,
        cleans_up: case.gate("CleanupProvisioningRequestsOnEviction"),
        now: now(),
    });
    acts.unwrap().into_iter().for_each(|act| world.act(act));
    compared(case, &world)
}

/// Only the objects that a case names are compared.
fn compared(case: Case<'_>, world: &World) -> Verdict {
    let objects = |wanted: &Value, own: &BTreeMap<String, Value>| {
        let all = wanted.as_object().into_iter().flatten();
        let own = |name: &String| own.get(name).cloned().unwrap_or_default();
        let all = all.map(|(name, object)| Verdict::same(&lean(own(name)), &lean(object.clone())));
        Verdict::all(all.collect::<Vec<_>>())
    };
    let workloads = BTreeMap::from([(
        read::<String>(&world.workload["metadata"]["name"]),
        world.workload.clone(),
    )]);
    let gone: Vec<String> = read(&case.want["wantRequestsNotFound"]);
    let there: Vec<_> = gone
        .iter()
        .filter(|name| world.requests.contains_key(*name))
        .collect();
    Verdict::all([
        objects(&case.want["wantWorkloads"], &workloads),
        objects(&case.want["wantRequests"], &world.requests),
        objects(&case.want["wantTemplates"], &world.templates),
        Verdict::equal("still there", &there.len(), &0),
        Verdict::same(
            &world.events,
            &json!(each::<Value>(&case.want["wantEvents"])),
        ),
    ])
}

/// What the reference's test does not compare.
fn lean(mut object: Value) -> Value {
    if object["kind"] == "ProvisioningRequest" {
        // A request of which the table holds nothing was not made.
        if object["spec"].is_null() {
            return Value::Null;
        }
        object["metadata"] = json!({"labels": object["metadata"]["labels"]});
        object.as_object_mut().unwrap().remove("status");
    }
    if object["kind"] == "PodTemplate" {
        let spec = object
            .pointer_mut("/template/spec")
            .and_then(Value::as_object_mut);
        spec.map(|spec| spec.remove("restartPolicy"));
    }
    let checks = object
        .pointer_mut("/status/admissionChecks")
        .and_then(Value::as_array_mut);
    for check in checks.into_iter().flatten() {
        check.as_object_mut().unwrap().remove("lastTransitionTime");
    }
    object
}
