//! Where the pod templates of an object are: as its wrapper declares it, or as its kind has them. Paths begin with `template`, which is the object.

use serde_json::Value;

const COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// One pod template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) replicas: i32,
    /// How its pods are numbered, and in which groups.
    pub(super) pod_index_label: Option<String>,
    pub(super) sub_group_index_label: Option<String>,
    pub(super) sub_group_count: Option<i32>,
}

/// The JSON pointer of a path, from the object on; none if it is no path.
pub(super) fn pointer(path: &str) -> Option<String> {
    let rest = path.strip_prefix("template")?;
    let mut pointer = String::new();
    for step in rest.split('.').enumerate() {
        let (name, indexes) = match step {
            // What comes right after `template` can only be an index.
            (0, step) => ("", step),
            (_, step) => step.split_at(step.find('[').unwrap_or(step.len())),
        };
        if !name.is_empty() {
            pointer.push('/');
            pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        } else if step.0 > 0 {
            return None;
        }
        for index in indexes.split_terminator(']') {
            let index: usize = index.strip_prefix('[')?.parse().ok()?;
            pointer.push('/');
            pointer.push_str(&index.to_string());
        }
    }
    Some(pointer)
}

/// What somebody wrote down.
pub(super) fn declared(list: &Value) -> Vec<Place> {
    let all = list.as_array().into_iter().flatten();
    all.map(|one| {
        let note = |name: &str| {
            let key = format!("workload.codeflare.dev.appwrapper/{name}");
            one["annotations"][&key].as_str().map(str::to_owned)
        };
        Place {
            path: one["path"].as_str().unwrap_or_default().to_owned(),
            replicas: number(&one["replicas"]).unwrap_or(1),
            pod_index_label: note("tas-pod-index-label"),
            sub_group_index_label: note("tas-sub-group-index-label"),
            sub_group_count: note("tas-sub-group-count").and_then(|text| text.parse().ok()),
        }
    })
    .collect()
}

fn number(value: &Value) -> Option<i32> {
    value.as_i64().and_then(|number| i32::try_from(number).ok())
}

/// The pods of a batch Job, which are no more than it has to complete.
fn pods_of_job(spec: &Value) -> i32 {
    let parallelism = number(&spec["parallelism"]).unwrap_or(1);
    number(&spec["completions"]).map_or(parallelism, |most| most.min(parallelism))
}

/// What the kind of an object says. Nothing for kinds that are not known here.
pub(super) fn inferred(object: &Value) -> Vec<Place> {
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let spec = &object["spec"];
    let plain = |path: &str, replicas: i32| Place {
        path: path.to_owned(),
        replicas,
        ..Place::default()
    };
    match (text("apiVersion"), text("kind")) {
        ("v1", "Pod") => vec![plain("template", 1)],
        ("apps/v1", "Deployment" | "StatefulSet") => {
            let replicas = number(&spec["replicas"]).unwrap_or(1);
            vec![plain("template.spec.template", replicas)]
        }
        ("batch/v1", "Job") => vec![Place {
            pod_index_label: Some(COMPLETION_INDEX.to_owned()),
            ..plain("template.spec.template", pods_of_job(spec))
        }],
        ("jobset.x-k8s.io/v1alpha2", "JobSet") => of_job_set(spec),
        ("kubeflow.org/v1", "PyTorchJob") => of_pytorch(spec),
        ("ray.io/v1", "RayCluster") => of_ray(spec, "template.spec."),
        ("ray.io/v1", "RayJob") => of_ray(&spec["rayClusterSpec"], "template.spec.rayClusterSpec."),
        _ => Vec::new(),
    }
}

fn of_job_set(spec: &Value) -> Vec<Place> {
    let jobs = spec["replicatedJobs"].as_array().into_iter().flatten();
    let jobs = jobs
        .enumerate()
        .filter(|(_, job)| job["template"].is_object());
    jobs.map(|(index, job)| {
        let replicas = number(&job["replicas"]).unwrap_or(1);
        Place {
            path: format!("template.spec.replicatedJobs[{index}].template.spec.template"),
            replicas: replicas.saturating_mul(pods_of_job(&job["template"]["spec"])),
            pod_index_label: Some(COMPLETION_INDEX.to_owned()),
            sub_group_index_label: Some("jobset.sigs.k8s.io/job-index".to_owned()),
            sub_group_count: Some(replicas),
        }
    })
    .collect()
}

fn of_pytorch(spec: &Value) -> Vec<Place> {
    let roles = ["Master", "Worker"].into_iter();
    let roles = roles.map(|role| (role, &spec["pytorchReplicaSpecs"][role]));
    let there = roles.filter(|(_, own)| own["template"].is_object());
    there
        .map(|(role, own)| Place {
            path: format!("template.spec.pytorchReplicaSpecs.{role}.template"),
            replicas: number(&own["replicas"]).unwrap_or(1),
            pod_index_label: Some("training.kubeflow.org/replica-index".to_owned()),
            ..Place::default()
        })
        .collect()
}

fn of_ray(cluster: &Value, at: &str) -> Vec<Place> {
    let head = Place {
        path: format!("{at}headGroupSpec.template"),
        replicas: 1,
        ..Place::default()
    };
    let groups = cluster["workerGroupSpecs"].as_array().into_iter().flatten();
    let groups = groups
        .enumerate()
        .filter(|(_, own)| own["template"].is_object());
    let groups = groups.map(|(index, own)| Place {
        path: format!("{at}workerGroupSpecs[{index}].template"),
        replicas: number(&own["replicas"]).unwrap_or(1),
        ..Place::default()
    });
    [head].into_iter().chain(groups).collect()
}
