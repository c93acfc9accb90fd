//! Whether an `AdmissionCheck` of ours can be asked: it can if its configuration is there. Reference section 4.16, "AC condition".

use jiff::Timestamp;
use kube::api::Api;
use kueue_api::Condition;
use kueue_api::conditions::{condition, find, queue};
use kueue_api::names::PROVISIONING_CONTROLLER;
use kueue_api::v1beta2::{AdmissionCheck, ProvisioningRequestConfig};

use crate::context::Context;
use crate::error::ReconcileError;
use crate::key::Key;
use crate::watch::Seen;

/// The configuration of a check. `get` finds one by its name.
///
/// # Errors
/// In the words of the reference, when there is none.
pub fn configuration<T>(
    check: &AdmissionCheck,
    get: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let named = check.spec.configuration("ProvisioningRequestConfig");
    let name = named.map_err(|error| error.to_string())?;
    get(name).ok_or_else(|| format!("provisioningrequestconfigs.kueue.x-k8s.io {name:?} not found"))
}

/// The condition `Active` of a check.
#[must_use]
pub fn active(check: &AdmissionCheck, found: Result<(), String>, now: Timestamp) -> Condition {
    let (is_active, reason, message) = match found {
        Ok(()) => (true, "Active", "The admission check is active".to_owned()),
        Err(why) => (false, "BadParametersRef", why),
    };
    let generation = check.metadata.generation;
    condition(queue::ACTIVE, is_active, reason, &message, generation, now)
}

/// Writes the condition of a check, if it is one of ours and says something else.
pub async fn reconcile(context: &Context, check: &AdmissionCheck) -> Result<(), ReconcileError> {
    if check.spec.controller_name != PROVISIONING_CONTROLLER {
        return Ok(());
    }
    let configs = &context.world.stores.provisioning_configs;
    let found = configuration(check, |name| configs.get(&Key::cluster(name)));
    let condition = active(check, found.map(drop), (context.clock)());
    let mut status = check.status.clone().unwrap_or_default();
    let known = find(&status.conditions, queue::ACTIVE);
    if known.is_some_and(|known| known.status == condition.status) {
        return Ok(());
    }
    kueue_api::conditions::set(&mut status.conditions, condition);
    let api: Api<AdmissionCheck> = Api::all(context.client.0.clone());
    let written = context.writer.replace_status(check, api, &status).await?;
    context.world.on_check(Seen::Object(Box::new(written)));
    Ok(())
}

/// The configuration that a check names, if it can be used.
pub(super) fn named(
    context: &Context,
    check: &AdmissionCheck,
) -> Option<std::sync::Arc<ProvisioningRequestConfig>> {
    let configs = &context.world.stores.provisioning_configs;
    configuration(check, |name| configs.get(&Key::cluster(name))).ok()
}
