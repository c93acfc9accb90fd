//! Volumes of a kind cluster: each claim of the usual class gets a folder of the environment, which every worker sees, so that
//! a training that starts again on another node finds its checkpoints. The folder goes with the claim.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use futures::{StreamExt as _, stream};
use k8s_openapi::api::core::v1::{PersistentVolume, PersistentVolumeClaim};
use k8s_openapi::api::storage::v1::StorageClass;
use kube::api::{DeleteParams, PostParams};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Where a worker sees the environment's folder of volumes.
pub(super) const IN_NODE: &str = "/var/lib/atelier/dossiers";
const CLASS: &str = "standard";
const PROVISIONER: &str = "atelier.kueue/dossiers";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";

/// The class, which the published node image fills with a provisioner of its own.
pub(super) async fn class(client: &Client) -> Result<(), kube::Error> {
    let classes = Api::<StorageClass>::all(client.clone());
    if let Some(there) = classes.get_opt(CLASS).await? {
        if there.provisioner == PROVISIONER {
            return Ok(());
        }
        // What a class says of its provisioner cannot be changed.
        classes.delete(CLASS, &DeleteParams::default()).await?;
    }
    let class: StorageClass = serde_json::from_value(json!({
        "metadata": {"name": CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": PROVISIONER,
    }))
    .map_err(kube::Error::SerdeError)?;
    classes
        .create(&PostParams::default(), &class)
        .await
        .map(drop)
}

/// Gives claims their volumes and takes released ones away, until cancelled.
pub(crate) async fn provide(client: Client, folders: PathBuf, cancel: CancellationToken) {
    let config = watcher::Config::default;
    let claims = watcher(Api::<PersistentVolumeClaim>::all(client.clone()), config());
    let volumes = watcher(Api::<PersistentVolume>::all(client.clone()), config());
    let claims = claims.default_backoff().applied_objects();
    let volumes = volumes.default_backoff().applied_objects();
    let mut changes = stream::select(
        claims
            .map(|claim| claim.map(|claim| Change::Claim(Box::new(claim))))
            .boxed(),
        volumes
            .map(|volume| volume.map(|volume| Change::Volume(Box::new(volume))))
            .boxed(),
    );
    loop {
        let change = tokio::select! {
            () = cancel.cancelled() => return,
            change = changes.next() => change,
        };
        let done = match change {
            None => return,
            Some(Err(error)) => Err(error.to_string()),
            Some(Ok(Change::Claim(claim))) => give(&client, &folders, &claim).await,
            Some(Ok(Change::Volume(volume))) => take_back(&client, &folders, &volume).await,
        };
        if let Err(error) = done {
            tracing::warn!(error, "volumes of the environment");
        }
    }
}

enum Change {
    Claim(Box<PersistentVolumeClaim>),
    Volume(Box<PersistentVolume>),
}

async fn give(
    client: &Client,
    folders: &Path,
    claim: &PersistentVolumeClaim,
) -> Result<(), String> {
    let Some(volume) = volume_for(claim) else {
        return Ok(());
    };
    let name = volume["metadata"]["name"].as_str().unwrap_or_default();
    make(&folders.join(name)).map_err(|error| format!("make the folder of {name}: {error}"))?;
    let volume: PersistentVolume =
        serde_json::from_value(volume).map_err(|error| error.to_string())?;
    let volumes = Api::<PersistentVolume>::all(client.clone());
    match volumes.create(&PostParams::default(), &volume).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        result => result.map(drop).map_err(|error| error.to_string()),
    }
}

/// Containers of any user write into it; who may mount it is decided by the claim's namespace.
fn make(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))
}

/// Pure: the volume that a claim waits for, or nothing if it is not ours to give.
pub(super) fn volume_for(claim: &PersistentVolumeClaim) -> Option<Value> {
    let spec = claim.spec.as_ref()?;
    let phase = claim.status.as_ref()?.phase.as_deref();
    let ours = spec.storage_class_name.as_deref() == Some(CLASS);
    let waits = phase == Some("Pending") && spec.volume_name.is_none();
    if !ours || !waits || claim.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let uid = claim.metadata.uid.as_deref()?;
    let name = format!("pvc-{uid}");
    let size = spec.resources.as_ref()?.requests.as_ref()?.get("storage")?;
    Some(json!({
        "metadata": {"name": name, "annotations": {PROVISIONED_BY: PROVISIONER}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": spec.access_modes,
            "volumeMode": "Filesystem",
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": CLASS,
            "hostPath": {"path": format!("{IN_NODE}/{name}"), "type": "Directory"},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": claim.namespace(),
                "name": claim.name_any(),
                "uid": uid,
            },
        },
    }))
}

async fn take_back(
    client: &Client,
    folders: &Path,
    volume: &PersistentVolume,
) -> Result<(), String> {
    let released = volume
        .status
        .as_ref()
        .and_then(|status| status.phase.as_deref())
        == Some("Released");
    let ours = volume
        .annotations()
        .get(PROVISIONED_BY)
        .is_some_and(|by| by == PROVISIONER);
    if !released || !ours || volume.metadata.deletion_timestamp.is_some() {
        return Ok(());
    }
    let name = volume.name_any();
    match fs::remove_dir_all(folders.join(&name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(format!("remove the folder of {name}: {error}"));
        }
        _ => {}
    }
    let volumes = Api::<PersistentVolume>::all(client.clone());
    let deleted = volumes.delete(&name, &DeleteParams::default()).await;
    deleted.map(drop).map_err(|error| error.to_string())
}
