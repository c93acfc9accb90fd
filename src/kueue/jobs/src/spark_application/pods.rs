//! The pods that the operator makes, from the fields in which an application describes them. Only what decides about quota and places is here.

use k8s_openapi::api::core::v1::{PodTemplateSpec, Volume, VolumeMount};
use serde_json::{Map, Value, json};

use super::SPARK_APPLICATION;
use crate::error::JobError;
use crate::untyped::Untyped;

/// Volumes of this name are directories of the node that the operator mounts by itself.
const LOCAL_DIRECTORIES: &str = "spark-local-dir-";

/// Fields of a role that are fields of a pod under the same name.
const SAME: [&str; 4] = ["nodeSelector", "affinity", "tolerations", "initContainers"];

/// A part of an application.
#[derive(Debug)]
pub(super) struct Role {
    /// The field that describes it; its podset is called the same.
    pub(super) field: &'static str,
    /// The container that Spark runs in.
    container: &'static str,
}

/// All of them, in the order of their podsets.
pub(super) const ROLES: [Role; 2] = [
    Role {
        field: "driver",
        container: "spark-kubernetes-driver",
    },
    Role {
        field: "executor",
        container: "spark-kubernetes-executor",
    },
];

impl Role {
    /// A template that says nothing but which container is Spark's.
    pub(super) fn empty_template(&self) -> Value {
        json!({"spec": {"containers": [{"name": self.container}]}})
    }

    /// What its pods look like.
    pub(super) fn template(&self, application: &Untyped) -> Result<PodTemplateSpec, JobError> {
        let own = |field: &str| application.get(&format!("/spec/{}/{field}", self.field));
        let mut spec = Map::new();
        for field in SAME {
            if let Some(value) = own(field) {
                spec.insert(field.to_owned(), value.clone());
            }
        }
        if let Some(class) = own("priorityClassName").filter(|class| *class != "") {
            spec.insert("priorityClassName".to_owned(), class.clone());
        }
        let mut container =
            json!({"name": self.container, "resources": self.resources(application)?});
        let volumes = list(application.get("/spec/volumes"));
        let volumes: Vec<Volume> = read(&volumes)?;
        let mounts: Vec<VolumeMount> = read(&list(own("volumeMounts")))?;
        let (volumes, mounts) = mounted(&volumes, &mounts);
        if !mounts.is_empty() {
            container["volumeMounts"] = json!(mounts);
            spec.insert("volumes".to_owned(), json!(volumes));
        }
        let sidecars = list(own("sidecars"));
        let all = [container].into_iter().chain(sidecars).collect();
        spec.insert("containers".to_owned(), Value::Array(all));
        let meta = self.metadata(application);
        read(&json!({"metadata": meta, "spec": spec}))
    }

    /// Labels and annotations of the role over those of its template.
    fn metadata(&self, application: &Untyped) -> Value {
        let mut meta = Map::new();
        for field in ["labels", "annotations"] {
            let mut all = Map::new();
            for place in [format!("template/metadata/{field}"), field.to_owned()] {
                let found = application.get(&format!("/spec/{}/{place}", self.field));
                all.extend(
                    found
                        .and_then(Value::as_object)
                        .cloned()
                        .unwrap_or_default(),
                );
            }
            if !all.is_empty() {
                meta.insert(field.to_owned(), Value::Object(all));
            }
        }
        Value::Object(meta)
    }

    fn resources(&self, application: &Untyped) -> Result<Value, JobError> {
        let own = |field: &str| application.text(&format!("/spec/{}/{field}", self.field));
        let mut resources = json!({});
        let amounts = [
            ("requests", "cpu", "coreRequest"),
            ("limits", "cpu", "coreLimit"),
            ("requests", "memory", "memory"),
            ("limits", "memory", "memoryLimit"),
        ];
        for (part, resource, field) in amounts {
            let Some(text) = own(field) else { continue };
            let amount = if resource == "memory" {
                memory(text)
            } else {
                text.to_owned()
            };
            if amount.parse::<quantity::Quantity>().is_err() {
                return Err(JobError::Value {
                    place: format!("spec.{}.{field}", self.field),
                    value: text.to_owned(),
                    wanted: "is not an amount",
                });
            }
            resources[part][resource] = json!(amount);
        }
        let gpus = application.number(&format!("/spec/{}/gpu/quantity", self.field));
        if let (Some(name), Some(count)) = (own("gpu/name"), gpus.filter(|count| *count > 0)) {
            resources["limits"][name] = json!(count.to_string());
        }
        Ok(resources)
    }
}

fn list(value: Option<&Value>) -> Vec<Value> {
    value.and_then(Value::as_array).cloned().unwrap_or_default()
}

fn read<T: serde::de::DeserializeOwned>(
    value: &(impl serde::Serialize + ?Sized),
) -> Result<T, JobError> {
    let kind = SPARK_APPLICATION.kind;
    let value = serde_json::to_value(value).map_err(|source| JobError::Write { kind, source })?;
    serde_json::from_value(value).map_err(|source| JobError::Read { kind, source })
}

/// An amount of memory as Java writes it, in the form of Kubernetes; others stay as they are.
fn memory(text: &str) -> String {
    let lower = text.to_lowercase();
    let bare = lower.strip_suffix('b').unwrap_or(&lower);
    let units = [
        ("k", "Ki"),
        ("m", "Mi"),
        ("g", "Gi"),
        ("t", "Ti"),
        ("p", "Pi"),
    ];
    let found = units.iter().find_map(|(unit, wanted)| {
        let number = bare.strip_suffix(unit)?;
        Some(format!("{number}{wanted}"))
    });
    found.unwrap_or_else(|| text.to_owned())
}

/// The volumes that are mounted, each once, and the mounts whose volumes there are.
#[must_use]
pub fn mounted(volumes: &[Volume], mounts: &[VolumeMount]) -> (Vec<Volume>, Vec<VolumeMount>) {
    let mut used: Vec<Volume> = Vec::new();
    let mut kept = Vec::new();
    for mount in mounts {
        let found = volumes.iter().rfind(|volume| volume.name == mount.name);
        let Some(volume) = found.filter(|_| !mount.name.starts_with(LOCAL_DIRECTORIES)) else {
            continue;
        };
        if !used.iter().any(|one| one.name == volume.name) {
            used.push(volume.clone());
        }
        kept.push(mount.clone());
    }
    (used, kept)
}
