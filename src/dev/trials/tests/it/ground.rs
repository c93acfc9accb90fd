//! A bare plane with our controller on it, and what a test does with objects.

use std::path::Path;
use std::time::Duration;

use k8s_openapi::ByteString;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Programs;
use trials::manager::{Manager, Settings};
use trials::plane::Plane;
use trials::{crds, programs};

const PATIENCE: Duration = Duration::from_secs(90);

/// See the module.
pub(crate) struct Ground {
    plane: Plane,
    manager: Manager,
    client: Client,
    _dir: TempDir,
}

/// Group and version of a kind.
fn group_of(kind: &str) -> (&'static str, &'static str) {
    match kind {
        "Job" => ("batch", "v1"),
        "Namespace" | "Secret" | "Pod" | "PodTemplate" => ("", "v1"),
        "CustomResourceDefinition" => ("apiextensions.k8s.io", "v1"),
        "ProvisioningRequest" => ("autoscaling.x-k8s.io", "v1"),
        _ => ("kueue.x-k8s.io", "v1beta2"),
    }
}

/// None where the programs are missing, which is said.
pub(crate) async fn open() -> Option<Ground> {
    Programs::find()?;
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let dir = TempDir::with_prefix_in("trial-", "/tmp").expect("a folder in /tmp");
    let tools = programs::tools().await.expect("the tools");
    let plane = Plane::open(&tools, dir.path())
        .await
        .expect("a control plane");
    let client = plane.client().await.expect("a client");
    let folder = programs::repository().join("manifests/kueue/crds");
    crds::install(&client, &folder).await.expect("definitions");
    let settings = Settings {
        more: json!({"featureGates": {"VisibilityOnDemand": false}}),
        ..Settings::without_limit()
    };
    let program = programs::manager(None).expect("our manager");
    let manager = Manager::start(&plane, &program, &settings)
        .await
        .expect("a manager that is ready");
    Some(Ground {
        plane,
        manager,
        client,
        _dir: dir,
    })
}

impl Ground {
    pub(crate) async fn close(self) {
        self.manager.stop().await.expect("the manager stops");
        self.plane.stop().await.expect("the plane stops");
    }

    fn api(&self, kind: &str) -> Api<DynamicObject> {
        let (group, version) = group_of(kind);
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        match kind {
            "Job" | "Pod" | "PodTemplate" | "LocalQueue" | "Workload" | "ProvisioningRequest" => {
                Api::namespaced_with(self.client.clone(), "default", &resource)
            }
            "Secret" => Api::namespaced_with(self.client.clone(), "kueue-system", &resource),
            _ => Api::all_with(self.client.clone(), &resource),
        }
    }

    /// Creates or changes an object.
    pub(crate) async fn apply(&self, kind: &str, name: &str, rest: Value) {
        self.write(kind, name, rest, false).await;
    }

    /// Writes a status, as whoever runs the object would.
    pub(crate) async fn status(&self, kind: &str, name: &str, status: Value) {
        self.write(kind, name, json!({ "status": status }), true)
            .await;
    }

    async fn write(&self, kind: &str, name: &str, mut object: Value, status: bool) {
        let api = self.api(kind);
        object["apiVersion"] = json!(match group_of(kind) {
            ("", version) => version.to_owned(),
            (group, version) => format!("{group}/{version}"),
        });
        object["kind"] = json!(kind);
        object["metadata"]["name"] = json!(name);
        let (parameters, patch) = (PatchParams::apply("test").force(), Patch::Apply(&object));
        let written = if status {
            api.patch_status(name, &parameters, &patch).await
        } else {
            api.patch(name, &parameters, &patch).await
        };
        written.unwrap_or_else(|error| panic!("{kind} {name}: {error}"));
    }

    /// All objects of a kind.
    pub(crate) async fn list(&self, kind: &str) -> Vec<Value> {
        let all = self.api(kind).list(&kube::api::ListParams::default()).await;
        let all = all.expect("a list").items.into_iter();
        all.map(|object| serde_json::to_value(object).expect("JSON"))
            .collect()
    }

    /// One object; null if it is not there.
    pub(crate) async fn get(&self, kind: &str, name: &str) -> Value {
        let found = self.api(kind).get_opt(name).await.expect("an answer");
        serde_json::to_value(found).expect("JSON")
    }

    /// A kubeconfig that needs no files beside it.
    pub(crate) fn kubeconfig(&self) -> String {
        let text = std::fs::read_to_string(self.plane.kubeconfig()).expect("a kubeconfig");
        let mut config: Value = serde_json::from_str(&text).expect("JSON");
        let inline = |place: &mut Value, names: &[&str]| {
            for name in names {
                let path = place[*name].take();
                let bytes =
                    std::fs::read(Path::new(path.as_str().expect("a path"))).expect("a file");
                place[format!("{name}-data")] = json!(ByteString(bytes));
                place.as_object_mut().expect("an object").remove(*name);
            }
        };
        inline(
            &mut config["clusters"][0]["cluster"],
            &["certificate-authority"],
        );
        inline(
            &mut config["users"][0]["user"],
            &["client-certificate", "client-key"],
        );
        config.to_string()
    }

    /// A queue of four cpus, with these admission checks.
    pub(crate) async fn queue(&self, checks: &[&str]) {
        let checks: Vec<_> = checks.iter().map(|name| json!({"name": name})).collect();
        let quota = json!([{"coveredResources": ["cpu"], "flavors": [{"name": "plain", "resources": [{"name": "cpu", "nominalQuota": "4"}]}]}]);
        let mut spec = json!({"namespaceSelector": {}, "resourceGroups": quota});
        if !checks.is_empty() {
            spec["admissionChecksStrategy"] = json!({ "admissionChecks": checks });
        }
        self.apply("ResourceFlavor", "plain", json!({"spec": {}}))
            .await;
        self.apply("ClusterQueue", "cq", json!({ "spec": spec }))
            .await;
        self.apply("LocalQueue", "lq", json!({"spec": {"clusterQueue": "cq"}}))
            .await;
    }

    /// How much of the quota is in use, as the ClusterQueue says.
    pub(crate) async fn used(&self) -> Value {
        let queue = self.get("ClusterQueue", "cq").await;
        queue["status"]["flavorsUsage"][0]["resources"][0]["total"].clone()
    }
}

/// A condition of an object that is true.
pub(crate) fn is(object: &Value, kind: &str) -> bool {
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| one["type"] == kind && one["status"] == "True")
}

/// Waits for something to be so.
pub(crate) async fn until(what: &str, so: impl AsyncFn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        let mut looks = tokio::time::interval(Duration::from_millis(100));
        while !so().await {
            looks.tick().await;
        }
    });
    assert!(waited.await.is_ok(), "it did not come to this: {what}");
}
