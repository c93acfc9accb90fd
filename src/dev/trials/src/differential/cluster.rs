//! One control plane as a player sees it: objects as JSON, in and out.

use std::time::Duration;

use anyhow::Context as _;
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt as _};
use serde_json::{Value, json};

use super::kinds::{COMPARED, EVENT, Kind, NODE, PRIORITY_CLASS};

const MANAGER: &str = "trial";
/// How long finalizers may take before they are taken away.
const PATIENCE: Duration = Duration::from_secs(15);

/// A client and what to do with it.
#[derive(Clone)]
pub(super) struct Cluster {
    client: Client,
}

impl Cluster {
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    fn api(&self, kind: Kind, namespace: &str) -> Api<DynamicObject> {
        if kind.namespaced {
            Api::namespaced_with(self.client.clone(), namespace, &kind.resource())
        } else {
            self.all(kind)
        }
    }

    fn all(&self, kind: Kind) -> Api<DynamicObject> {
        Api::all_with(self.client.clone(), &kind.resource())
    }

    /// Creates or changes an object; of a Node its status too, for nobody else would write it.
    pub(super) async fn apply(&self, kind: Kind, object: &Value) -> anyhow::Result<()> {
        let (namespace, name) = place(object);
        let mut bare = object.clone();
        if let Some(fields) = bare.as_object_mut() {
            fields.remove("status");
        }
        let api = self.api(kind, namespace);
        let parameters = PatchParams::apply(MANAGER).force();
        let applied = api.patch(name, &parameters, &Patch::Apply(&bare)).await;
        applied.with_context(|| format!("apply {} {name}", kind.name))?;
        if kind == NODE
            && let Some(status) = object.get("status")
        {
            let patch = json!({ "status": status });
            api.patch_status(name, &PatchParams::default(), &Patch::Merge(&patch))
                .await?;
        }
        Ok(())
    }

    /// Creates an object as a user would.
    pub(super) async fn create(&self, kind: Kind, object: &Value) -> anyhow::Result<()> {
        let (namespace, name) = place(object);
        let typed: DynamicObject = serde_json::from_value(object.clone())?;
        let created = self.api(kind, namespace);
        let created = created.create(&PostParams::default(), &typed).await;
        created.with_context(|| format!("create {} {name}", kind.name))?;
        Ok(())
    }

    /// Merges a patch into an object, or into its status.
    pub(super) async fn merge(
        &self,
        kind: Kind,
        (namespace, name): (&str, &str),
        patch: &Value,
    ) -> anyhow::Result<()> {
        let (api, patch, parameters) = (
            self.api(kind, namespace),
            Patch::Merge(patch),
            PatchParams::default(),
        );
        let Patch::Merge(body) = &patch else {
            return Ok(());
        };
        let changed = if body.get("status").is_some() {
            api.patch_status(name, &parameters, &patch).await
        } else {
            api.patch(name, &parameters, &patch).await
        };
        changed.with_context(|| format!("change {} {name}", kind.name))?;
        Ok(())
    }

    /// Deletes an object; one that is gone already is no error.
    pub(super) async fn delete(
        &self,
        kind: Kind,
        namespace: &str,
        name: &str,
    ) -> anyhow::Result<()> {
        let deleted = self.api(kind, namespace);
        match deleted.delete(name, &DeleteParams::background()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            other => Ok(other.map(|_| ())?),
        }
    }

    /// All objects of a kind.
    pub(super) async fn list(&self, kind: Kind) -> anyhow::Result<Vec<Value>> {
        let found = self.all(kind).list(&ListParams::default()).await?;
        let objects = found.items.into_iter().map(serde_json::to_value);
        Ok(objects.collect::<Result<_, _>>()?)
    }

    /// Everything that is compared.
    pub(super) async fn everything(&self) -> anyhow::Result<Vec<(&'static str, Value)>> {
        let mut all = Vec::new();
        for kind in COMPARED {
            let found = self.list(kind).await?;
            all.extend(found.into_iter().map(|object| (kind.name, object)));
        }
        Ok(all)
    }

    /// Takes everything away that a script has made.
    pub(super) async fn clear(&self) -> anyhow::Result<()> {
        for kind in COMPARED.into_iter().chain([NODE, PRIORITY_CLASS, EVENT]) {
            let api = self.all(kind);
            for object in api.list(&ListParams::default()).await?.items {
                let namespace = object.namespace().unwrap_or_default();
                self.delete(kind, &namespace, &object.name_any()).await?;
            }
            let gone = tokio::time::timeout(PATIENCE, self.gone(kind)).await;
            if gone.is_err() {
                self.free(kind).await?;
            }
        }
        Ok(())
    }

    async fn gone(&self, kind: Kind) -> anyhow::Result<()> {
        while !self.list(kind).await?.is_empty() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Takes finalizers away that nobody took.
    async fn free(&self, kind: Kind) -> anyhow::Result<()> {
        for object in self.list(kind).await? {
            let patch = json!({ "metadata": { "finalizers": null } });
            let _ = self.merge(kind, place(&object), &patch).await;
        }
        Ok(())
    }
}

/// Namespace and name.
pub(super) fn place(object: &Value) -> (&str, &str) {
    let text = |path| object.pointer(path).and_then(Value::as_str);
    (
        text("/metadata/namespace").unwrap_or_default(),
        text("/metadata/name").unwrap_or_default(),
    )
}
