//! What an environment is right now, from its files and its supervisor.

use std::fs;

use super::Inner;
use super::acts::settings_of;
use super::kubeconfig::{self, IN_SANDBOX, server_on};
use super::layout::Layout;
use super::record::{Record, Runtime, Wanted};
use crate::control::{self, Answer, Request};
use crate::kind;
use crate::pki::{ADMIN, Pki, TRAINEE};
use crate::provider::{Environment, EnvironmentId, EnvironmentState, ProviderError};

pub(super) async fn list(inner: &Inner) -> Result<Vec<Environment>, ProviderError> {
    let mut found = Vec::new();
    for id in ids(inner) {
        if let Ok(environment) = get(inner, &id).await {
            found.push(environment);
        }
    }
    Ok(found)
}

/// Every folder whose name is an id, in order.
pub(super) fn ids(inner: &Inner) -> Vec<EnvironmentId> {
    let entries = fs::read_dir(inner.environments())
        .into_iter()
        .flatten()
        .flatten();
    let mut ids: Vec<EnvironmentId> = entries
        .filter_map(|entry| {
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
        })
        .collect();
    ids.sort();
    ids
}

pub(super) async fn get(inner: &Inner, id: &EnvironmentId) -> Result<Environment, ProviderError> {
    let layout = inner.layout(id);
    if !layout.dir().is_dir() {
        return Err(ProviderError::Unknown(id.clone()));
    }
    let record = Record::read(&layout).map_err(|error| failed(id, "read", error.to_string()))?;
    let state = state(&layout, &record).await;
    keep_kubeconfigs(inner, &layout);
    Ok(Environment {
        id: id.clone(),
        state,
        dir: layout.dir().to_owned(),
        admin_kubeconfig: layout.kubeconfig(ADMIN.file),
        trainee_kubeconfig: layout.kubeconfig(TRAINEE.file),
        api_socket: layout.api_socket(),
        shells: settings_of(inner, record.kind)
            .and_then(|settings| kind::shells::network(&settings, layout.dir())),
        profile_name: record.profile.name.to_string(),
        created: record.created,
    })
}

pub(super) fn alive(layout: &Layout) -> bool {
    Runtime::read(layout).is_some_and(|runtime| runtime.process().is_alive())
}

async fn state(layout: &Layout, record: &Record) -> EnvironmentState {
    if alive(layout) {
        return match control::request(&layout.control_socket(), Request::Status).await {
            Ok(Answer::Status(status)) => status.state,
            // Alive and not yet, or no longer, listening.
            _ => EnvironmentState::Starting,
        };
    }
    match record.wanted {
        Wanted::Stopped => EnvironmentState::Stopped,
        Wanted::Created => EnvironmentState::Broken {
            reason: "its creation was broken off".to_owned(),
        },
        Wanted::Running => EnvironmentState::Broken {
            reason: "its supervisor has ended".to_owned(),
        },
    }
}

/// Somebody may have deleted a kubeconfig under the platform; all that is in it is known.
fn keep_kubeconfigs(inner: &Inner, layout: &Layout) {
    let Some(port) = Runtime::read(layout).and_then(|runtime| runtime.port) else {
        return;
    };
    for (identity, server) in [(ADMIN, server_on(port)), (TRAINEE, IN_SANDBOX.to_owned())] {
        let path = layout.kubeconfig(identity.file);
        if path.exists() {
            continue;
        }
        let written = Pki::ensure(&layout.pki(), (inner.now)())
            .map_err(|error| error.to_string())
            .and_then(|pki| {
                kubeconfig::write(layout, &pki, identity, &server)
                    .map_err(|error| error.to_string())
            });
        match written {
            Ok(path) => {
                tracing::warn!(path = %path.display(), "kubeconfig was missing and is written again");
            }
            Err(error) => tracing::warn!(%error, "kubeconfig is missing and cannot be written"),
        }
    }
}

pub(super) fn failed(id: &EnvironmentId, act: &'static str, reason: String) -> ProviderError {
    ProviderError::Failed {
        id: id.clone(),
        act,
        phase: None,
        reason,
    }
}
