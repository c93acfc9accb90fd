//! What is submitted to the first controller, and what has to become of it there.

use anyhow::Context as _;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use kube::{Client, ResourceExt as _};
use kueue_api::v1beta2::{LocalQueue, Workload};
use serde_json::{Value, json};

use crate::clock;

/// How many pods of a Job have succeeded as soon as it runs.
pub(super) const SUCCEEDED: &str = "migration/succeeded";

/// What is there, who comes first, who comes then, who comes last.
pub(super) const STAGES: &[&str] = &[
    include_str!("queues.yaml"),
    include_str!("first.yaml"),
    include_str!("second.yaml"),
    include_str!("third.yaml"),
];

/// How a Workload stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Runs,
    /// It has its quota, and waits for a check.
    Reserved,
    Waits,
    /// It had to leave, and waits.
    Left,
    Inactive,
    Finished,
}

/// Under the first controller, by the name of the Job, pod or group.
pub(super) const EXPECTED: &[(&str, State)] = &[
    ("borrows", State::Runs),
    ("owns", State::Runs),
    ("waits", State::Waits),
    ("left", State::Left),
    ("urgent", State::Runs),
    ("approved", State::Runs),
    ("asked", State::Reserved),
    ("placed", State::Runs),
    ("placed-too", State::Runs),
    ("placed-waits", State::Waits),
    ("partial", State::Runs),
    ("reclaims", State::Runs),
    ("reclaimed", State::Runs),
    ("held", State::Waits),
    ("inactive", State::Inactive),
    ("finished", State::Finished),
    ("timed", State::Runs),
    ("group", State::Runs),
    ("single", State::Waits),
];

/// Who is never finished.
pub(super) const NEVER: &[&str] = &["inactive"];

/// Creates all objects of a stage. Nodes and admission checks get their status too, for nobody else would write it.
pub(super) async fn apply(client: &Client, stage: &str) -> anyhow::Result<()> {
    for text in stage.split("\n---\n") {
        let object: Value = serde_saphyr::from_str(text)?;
        let typed: DynamicObject = serde_json::from_value(object.clone())?;
        let (name, types) = (typed.name_any(), typed.types.clone());
        let types = types.context("kind and version")?;
        let kind = GroupVersionKind::try_from(&types)?;
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = match typed.namespace() {
            Some(namespace) => Api::namespaced_with(client.clone(), &namespace, &resource),
            None => Api::all_with(client.clone(), &resource),
        };
        let created = api.create(&PostParams::default(), &typed).await;
        created.with_context(|| format!("create {} {name}", kind.kind))?;
        if kind.kind == "Node" {
            // The API server marks every new one as not ready.
            let patch = Patch::Merge(json!({"spec": {"taints": null}}));
            api.patch(&name, &PatchParams::default(), &patch).await?;
        }
        if !object["status"].is_null() {
            let patch = Patch::Merge(json!({ "status": object["status"] }));
            api.patch_status(&name, &PatchParams::default(), &patch)
                .await?;
        }
    }
    Ok(())
}

async fn of_job(client: &Client, job: &str) -> anyhow::Result<Workload> {
    let all = Api::<Workload>::default_namespaced(client.clone());
    let all = all.list(&kube::api::ListParams::default()).await?.items;
    let mut all = all.into_iter();
    all.find(|one| {
        one.owner_references()
            .first()
            .is_some_and(|owner| owner.name == job)
    })
    .with_context(|| format!("{job} has no Workload"))
}

/// The check of a Workload says yes.
pub(super) async fn answer(client: &Client, job: &str) -> anyhow::Result<()> {
    let workload = of_job(client, job).await?;
    let now = clock::stamp();
    let check = json!({
        "name": "approval", "state": "Ready", "message": "granted", "lastTransitionTime": now,
    });
    let patch = json!({"status": {"admissionChecks": [check]}});
    let api = Api::<Workload>::default_namespaced(client.clone());
    api.patch_status(
        &workload.name_any(),
        &PatchParams::default(),
        &Patch::Merge(patch),
    )
    .await?;
    Ok(())
}

/// Somebody switches a Workload off.
pub(super) async fn deactivate(client: &Client, job: &str) -> anyhow::Result<()> {
    let workload = of_job(client, job).await?;
    let api = Api::<Workload>::default_namespaced(client.clone());
    let patch = Patch::Merge(json!({"spec": {"active": false}}));
    api.patch(&workload.name_any(), &PatchParams::default(), &patch)
        .await?;
    Ok(())
}

/// The LocalQueue that was stopped goes on.
pub(super) async fn resume(client: &Client) -> anyhow::Result<()> {
    let api = Api::<LocalQueue>::default_namespaced(client.clone());
    let patch = Patch::Merge(json!({"spec": {"stopPolicy": "None"}}));
    api.patch("held", &PatchParams::default(), &patch).await?;
    Ok(())
}
