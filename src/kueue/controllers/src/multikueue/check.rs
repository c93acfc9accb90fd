//! Whether an `AdmissionCheck` of ours can be asked: it can if one of the clusters of its configuration can be reached. Reference section 4.17,
//! "`AdmissionCheck` status".

use jiff::Timestamp;
use kube::api::Api;
use kueue_api::Condition;
use kueue_api::conditions::{self, condition, is_true, queue};
use kueue_api::names::MULTIKUEUE_CONTROLLER;
use kueue_api::v1beta2::{AdmissionCheck, MultiKueueConfig};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;

/// The configuration of a check. `get` finds one by its name.
///
/// # Errors
/// In the words of the reference, when it names none of ours or there is none.
pub fn configuration<T>(
    check: &AdmissionCheck,
    get: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let named = check.spec.configuration("MultiKueueConfig");
    let name = named.map_err(|error| error.to_string())?;
    get(name).ok_or_else(|| format!("there is no MultiKueueConfig {name:?}"))
}

/// The condition `Active` of a check. `is_active` says of a cluster whether it can be reached, and nothing if there is no such cluster.
#[must_use]
pub fn active(
    check: &AdmissionCheck,
    config: Result<&MultiKueueConfig, String>,
    is_active: impl Fn(&str) -> Option<bool>,
    now: Timestamp,
) -> Condition {
    let generation = check.metadata.generation;
    let say = |status, reason, message: &str| {
        condition(queue::ACTIVE, status, reason, message, generation, now)
    };
    let config = match config {
        Ok(config) => config,
        Err(why) => {
            let message = format!("Cannot load the AdmissionChecks parameters: {why}");
            return say(false, "BadConfig", &message);
        }
    };
    let of = |state: Option<bool>| {
        let clusters = config.spec.clusters.iter().map(String::as_str);
        clusters
            .filter(|name| is_active(name) == state)
            .collect::<Vec<_>>()
    };
    let (missing, inactive) = (of(None), of(Some(false)));
    let parts = [
        ("Missing clusters", &missing),
        ("Inactive clusters", &inactive),
    ];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let message: Vec<_> = parts
        .map(|(what, names)| format!("{what}: [{}]", names.join(" ")))
        .collect();
    match missing.len() + inactive.len() {
        0 => say(true, "Active", "The admission check is active"),
        all if all == config.spec.clusters.len() => {
            say(false, "NoUsableClusters", &message.join(", "))
        }
        _ => say(true, "SomeActiveClusters", &message.join(", ")),
    }
}

/// Writes the condition of a check, if it is one of ours and says something else.
pub async fn reconcile(context: &Context, check: &AdmissionCheck) -> Result<(), ReconcileError> {
    let ours = check.spec.controller_name == MULTIKUEUE_CONTROLLER;
    if !ours || context.settings.multikueue.is_none() {
        return Ok(());
    }
    let stores = &context.world.stores;
    let config = configuration(check, |name| stores.configs.get(&Key::cluster(name)));
    let config = config.as_deref().map_err(Clone::clone);
    let is_active = |name: &str| {
        let cluster = stores.clusters.get(&Key::cluster(name))?;
        let status = cluster.status.as_ref();
        Some(status.is_some_and(|status| is_true(&status.conditions, queue::ACTIVE)))
    };
    let condition = active(check, config, is_active, (context.clock)());
    let mut status = check.status.clone().unwrap_or_default();
    if conditions::set(&mut status.conditions, condition) {
        let api: Api<AdmissionCheck> = Api::all(context.client.0.clone());
        let written = context.writer.replace_status(check, api, &status).await?;
        context.world.on_check(Seen::Object(Box::new(written)));
    }
    Ok(())
}
