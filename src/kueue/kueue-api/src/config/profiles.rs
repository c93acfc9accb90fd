//! By which programs a manager gets into the clusters of `ClusterProfile`s. Checked as the reference checks it; without the gate
//! `MultiKueueClusterProfile`, which is not built, it has no effect there either. Reference section 2, `multiKueue.clusterProfile`.

use serde::Deserialize;

use super::read::{Reader, path};
use crate::field::{FieldError, Path};

const MODES: [&str; 3] = ["Never", "IfAvailable", "Always"];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Provider {
    name: String,
    exec_config: Program,
}

/// A credential plugin as kubeconfigs name it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Program {
    command: String,
    api_version: String,
    interactive_mode: String,
    env: Vec<Variable>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Variable {
    name: String,
}

pub(super) fn check(r: &mut Reader) {
    const ACCESS: &str = "multiKueue.clusterProfile.accessProviders";
    const OLDER: &str = "multiKueue.clusterProfile.credentialsProviders";
    let [access, older]: [Vec<Provider>; 2] = [ACCESS, OLDER].map(|at| r.or(at, Vec::new()));
    if !access.is_empty() && !older.is_empty() {
        let detail = "must not be specified when accessProviders is specified";
        r.fault(FieldError::forbidden(&path(OLDER), detail));
    }
    let (at, providers) = if access.is_empty() {
        (OLDER, older)
    } else {
        (ACCESS, access)
    };
    for provider in &providers {
        problems(&path(at), provider)
            .into_iter()
            .for_each(|fault| r.fault(fault));
    }
}

fn problems(at: &Path, provider: &Provider) -> Vec<FieldError> {
    let program = &provider.exec_config;
    let exec = at.child("execConfig");
    let mode = program.interactive_mode.as_str();
    let needed = [
        (at.child("name"), provider.name.is_empty()),
        (exec.child("command"), program.command.is_empty()),
        (exec.child("apiVersion"), program.api_version.is_empty()),
        (
            exec.child("env").child("name"),
            program.env.iter().any(|one| one.name.is_empty()),
        ),
        (exec.child("interactiveMode"), mode.is_empty()),
    ];
    let missing = needed.iter().filter(|(_, missing)| *missing);
    let missing = missing.map(|(at, _)| FieldError::required(at, "must be specified"));
    let mut errors: Vec<_> = missing.collect();
    if !mode.is_empty() && !MODES.contains(&mode) {
        let at = exec.child("interactiveMode");
        errors.push(FieldError::not_supported(&at, mode, MODES));
    }
    errors
}
