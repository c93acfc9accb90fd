//! A job of a script as real objects: a Job where one can express it, else a Workload that has no owner and is stopped and finished by hand.

use kueue_api::v1beta2 as api;
use serde_json::{Value, json};

use super::cluster::{Cluster, place};
use super::kinds::{JOB, Kind, PRIORITY_CLASS, WORKLOAD};
use crate::clock;

/// A job that was submitted.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) kind: Kind,
    pods: i64,
}

const QUEUE: &str = "kueue.x-k8s.io/queue-name";
const CLASS: &str = "kueue.x-k8s.io/priority-class";
const PARALLELISM: &str = "kueue.x-k8s.io/job-min-parallelism";
const TOPOLOGY: [(&str, &str); 4] = [
    ("required", "kueue.x-k8s.io/podset-required-topology"),
    ("preferred", "kueue.x-k8s.io/podset-preferred-topology"),
    (
        "podSetSliceRequiredTopology",
        "kueue.x-k8s.io/podset-slice-required-topology",
    ),
    ("podSetSliceSize", "kueue.x-k8s.io/podset-slice-size"),
];

/// Creates it.
pub(super) async fn submit(cluster: &Cluster, workload: &api::Workload) -> anyhow::Result<Task> {
    let object = serde_json::to_value(workload)?;
    let kind = match object["spec"]["podSets"].as_array().map(Vec::as_slice) {
        Some([_]) => JOB,
        _ => WORKLOAD,
    };
    let made = if kind == JOB {
        if let Some(priority) = object["spec"]["priority"].as_i64() {
            class(cluster, priority).await?;
        }
        job(&object)
    } else {
        bare(&object)
    };
    cluster.create(kind, &made).await?;
    let (namespace, name) = place(&made);
    Ok(Task {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        kind,
        pods: made["spec"]["parallelism"].as_i64().unwrap_or(1),
    })
}

fn bare(workload: &Value) -> Value {
    json!({
        "apiVersion": workload["apiVersion"],
        "kind": "Workload",
        "metadata": {
            "name": workload["metadata"]["name"],
            "namespace": namespace_of(workload),
            "labels": workload["metadata"]["labels"],
        },
        "spec": workload["spec"],
    })
}

fn namespace_of(workload: &Value) -> &str {
    workload["metadata"]["namespace"]
        .as_str()
        .unwrap_or("default")
}

fn job(workload: &Value) -> Value {
    let set = &workload["spec"]["podSets"][0];
    let mut labels = json!({ QUEUE: workload["spec"]["queueName"] });
    if let Some(priority) = workload["spec"]["priority"].as_i64() {
        labels[CLASS] = json!(class_name(priority));
    }
    let mut annotations = json!({});
    if let Some(least) = set["minCount"].as_i64() {
        annotations[PARALLELISM] = json!(least.to_string());
    }
    let mut template = set["template"].clone();
    template["spec"]["restartPolicy"] = json!("Never");
    for (field, annotation) in TOPOLOGY {
        match &set["topologyRequest"][field] {
            Value::Null => {}
            Value::String(text) => template["metadata"]["annotations"][annotation] = json!(text),
            other => template["metadata"]["annotations"][annotation] = json!(other.to_string()),
        }
    }
    if set["topologyRequest"]["unconstrained"] == json!(true) {
        template["metadata"]["annotations"]["kueue.x-k8s.io/podset-unconstrained-topology"] =
            json!("true");
    }
    limits(&mut template);
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": workload["metadata"]["name"],
            "namespace": namespace_of(workload),
            "labels": labels,
            "annotations": annotations,
        },
        "spec": { "suspend": true, "parallelism": set["count"], "completions": set["count"], "template": template },
    })
}

/// Extended resources need limits that equal their requests.
fn limits(template: &mut Value) {
    let containers = template["spec"]["containers"].as_array_mut();
    for container in containers.into_iter().flatten() {
        container["image"] = json!("pause");
        let requests = container["resources"]["requests"].clone();
        let extended = requests.as_object().into_iter().flatten();
        let extended: serde_json::Map<_, _> = extended
            .filter(|(name, _)| name.contains('/'))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        if !extended.is_empty() {
            container["resources"]["limits"] = Value::Object(extended);
        }
    }
}

fn class_name(priority: i64) -> String {
    format!("p{priority}").replace('-', "m")
}

async fn class(cluster: &Cluster, priority: i64) -> anyhow::Result<()> {
    let object = json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": { "name": class_name(priority) },
        "value": priority,
    });
    cluster.apply(PRIORITY_CLASS, &object).await
}

impl Task {
    fn place(&self) -> (&str, &str) {
        (&self.namespace, &self.name)
    }

    /// Its Workload, if there is one.
    pub(super) async fn workload(&self, cluster: &Cluster) -> anyhow::Result<Option<Value>> {
        let all = cluster.list(WORKLOAD).await?;
        Ok(all.into_iter().find(|workload| {
            let owner = workload.pointer("/metadata/ownerReferences/0/name");
            let name = owner.or(workload.pointer("/metadata/name"));
            place(workload).0 == self.namespace && name == Some(&json!(self.name))
        }))
    }

    /// It ends well.
    pub(super) async fn finish(&self, cluster: &Cluster) -> anyhow::Result<()> {
        let now = clock::now().round(jiff::Unit::Second)?.to_string();
        let condition = |kind: &str, reason: &str, message: &str| {
            json!({ "type": kind, "status": "True", "reason": reason, "message": message,
                    "lastTransitionTime": now, "lastProbeTime": now })
        };
        if self.kind == JOB {
            let met = condition(
                "SuccessCriteriaMet",
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            );
            let complete = condition(
                "Complete",
                "CompletionsReached",
                "Reached expected number of succeeded pods",
            );
            let status = json!({ "startTime": now, "completionTime": now, "succeeded": self.pods,
                                 "conditions": [met, complete] });
            return cluster
                .merge(JOB, self.place(), &json!({ "status": status }))
                .await;
        }
        let Some(workload) = self.workload(cluster).await? else {
            return Ok(());
        };
        let mut conditions = conditions_of(&workload);
        let mut finished = condition("Finished", "Succeeded", "Job finished successfully");
        if let Some(fields) = finished.as_object_mut() {
            fields.remove("lastProbeTime");
        }
        conditions.push(finished);
        let patch = json!({ "status": { "conditions": conditions } });
        cluster.merge(WORKLOAD, self.place(), &patch).await
    }

    /// Somebody switches its Workload off or on.
    pub(super) async fn active(&self, cluster: &Cluster, active: bool) -> anyhow::Result<()> {
        if let Some(workload) = self.workload(cluster).await? {
            let patch = json!({ "spec": { "active": active } });
            cluster.merge(WORKLOAD, place(&workload), &patch).await?;
        }
        Ok(())
    }

    /// It matters more or less from now on.
    pub(super) async fn priority(&self, cluster: &Cluster, priority: i64) -> anyhow::Result<()> {
        if self.kind == JOB {
            class(cluster, priority).await?;
            let patch = json!({ "metadata": { "labels": { CLASS: class_name(priority) } } });
            return cluster.merge(JOB, self.place(), &patch).await;
        }
        let patch = json!({ "spec": { "priority": priority } });
        cluster.merge(WORKLOAD, self.place(), &patch).await
    }

    /// It goes away, with its Workload, as the garbage collector would do it.
    pub(super) async fn delete(&self, cluster: &Cluster) -> anyhow::Result<()> {
        let workload = self.workload(cluster).await?;
        cluster
            .delete(self.kind, &self.namespace, &self.name)
            .await?;
        if let Some(workload) = workload.filter(|_| self.kind == JOB) {
            let (namespace, name) = place(&workload);
            cluster.delete(WORKLOAD, namespace, name).await?;
        }
        Ok(())
    }
}

fn conditions_of(workload: &Value) -> Vec<Value> {
    let conditions = workload["status"]["conditions"].as_array();
    conditions.cloned().unwrap_or_default()
}

/// Whether a condition of the Workload is true.
pub(super) fn is(workload: &Value, kind: &str) -> bool {
    let conditions = conditions_of(workload);
    conditions
        .iter()
        .any(|one| one["type"] == kind && one["status"] == "True")
}

/// An evicted Workload without an owner gives its quota back, as a controller of some other kind of job would.
pub(super) async fn stop_if_evicted(cluster: &Cluster, workload: &Value) -> anyhow::Result<()> {
    let owned = workload.pointer("/metadata/ownerReferences/0").is_some();
    if owned || !is(workload, "Evicted") || workload["status"]["admission"].is_null() {
        return Ok(());
    }
    let now = clock::now().round(jiff::Unit::Second)?.to_string();
    let evicted = conditions_of(workload);
    let reason = evicted.iter().find(|one| one["type"] == "Evicted");
    let reason = reason.map_or(Value::Null, |one| one["reason"].clone());
    let mut conditions = conditions_of(workload);
    conditions.retain(|one| one["type"] != "Requeued");
    for condition in &mut conditions {
        if condition["type"] == "QuotaReserved" || condition["type"] == "Admitted" {
            condition["status"] = json!("False");
            condition["reason"] = json!("Pending");
            condition["message"] = json!("evicted");
            condition["lastTransitionTime"] = json!(now);
        }
    }
    let again = reason == "Preempted" || reason == "PodsReadyTimeout" || reason == "AdmissionCheck";
    conditions.push(
        json!({ "type": "Requeued", "status": if again { "True" } else { "False" },
                            "reason": reason, "message": "", "lastTransitionTime": now }),
    );
    let patch = json!({ "status": { "admission": null, "conditions": conditions } });
    cluster.merge(WORKLOAD, place(workload), &patch).await
}
