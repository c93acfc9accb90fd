//! A Deployment: each of its pods is a job of its own. The webhook says so in the pod template, and passes queue and priority on.

use k8s_openapi::api::apps::v1::Deployment;
use kueue_api::features::Features;
use kueue_api::field::FieldError;
use kueue_api::names::labels;

use super::{DEPLOYMENT, change_problems, hold_back};
use crate::admission::{Surroundings, default_names, label, set_label, should_manage};

/// Applies the defaults.
pub fn default(deployment: &mut Deployment, around: Surroundings) {
    let meta = &mut deployment.metadata;
    default_names(meta, around);
    if meta.deletion_timestamp.is_some() || !should_manage(meta, around) {
        return;
    }
    let template = &mut deployment.spec.template;
    hold_back(template, &DEPLOYMENT);
    let pods = template.metadata.get_or_insert_default();
    set_label(pods, labels::MANAGED, labels::MANAGED_VALUE);
    for key in [labels::QUEUE_NAME, labels::PRIORITY_CLASS] {
        if let Some(value) = label(meta, key) {
            set_label(pods, key, value);
        }
    }
}

/// What is wrong with a new one.
#[must_use]
pub fn validate_create(deployment: &Deployment, features: &Features) -> Vec<FieldError> {
    super::problems(&deployment.metadata, &DEPLOYMENT, features)
}

/// What is wrong with a change.
#[must_use]
pub fn validate_update(old: &Deployment, new: &Deployment, features: &Features) -> Vec<FieldError> {
    let ready = old.status.as_ref().and_then(|status| status.ready_replicas);
    let idle = ready.unwrap_or_default() == 0;
    let metas = (&old.metadata, &new.metadata);
    change_problems(metas, &DEPLOYMENT, idle, features)
}
