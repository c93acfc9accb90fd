//! Pods and containers that the operator of Ray adds by itself, so that nobody's object mentions them: who submits the job, who scales the
//! cluster, who cleans up behind it. They are charged like all others.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::error::JobError;

type Amounts = BTreeMap<String, Quantity>;

/// The container that submits the job, where nothing else is said.
pub(super) fn submitter() -> Container {
    Container {
        name: "ray-job-submitter".to_owned(),
        resources: Some(ResourceRequirements {
            limits: Some(amounts("1", "1Gi")),
            requests: Some(amounts("500m", "200Mi")),
            ..ResourceRequirements::default()
        }),
        ..Container::default()
    }
}

/// The pod that submits the job, where nothing else is said.
pub(super) fn submitter_template() -> PodTemplateSpec {
    PodTemplateSpec {
        spec: Some(PodSpec {
            containers: vec![submitter()],
            restart_policy: Some("Never".to_owned()),
            ..PodSpec::default()
        }),
        ..PodTemplateSpec::default()
    }
}

/// The container that scales the cluster, with what the object gives it.
pub(super) fn autoscaler(own: Option<ResourceRequirements>) -> Container {
    let usual = || ResourceRequirements {
        limits: Some(amounts("500m", "512Mi")),
        requests: Some(amounts("500m", "512Mi")),
        ..ResourceRequirements::default()
    };
    Container {
        name: "autoscaler".to_owned(),
        resources: Some(own.unwrap_or_else(usual)),
        ..Container::default()
    }
}

/// The head asks for at least what the pod needs that cleans up once the cluster is gone.
pub(super) fn make_room_to_clean_up(head: &mut PodTemplateSpec) -> Result<(), JobError> {
    let spec = head.spec.as_mut();
    let first = spec.and_then(|spec| spec.containers.first_mut());
    let container = first.ok_or(JobError::NoHead)?;
    let resources = container.resources.get_or_insert_default();
    let requests = resources.requests.get_or_insert_default();
    for (resource, least) in amounts("200m", "256Mi") {
        let own = requests.get(&resource).and_then(parsed);
        if own < parsed(&least) {
            requests.insert(resource, least);
        }
    }
    Ok(())
}

fn parsed(quantity: &Quantity) -> Option<quantity::Quantity> {
    quantity.0.parse().ok()
}

fn amounts(cpu: &str, memory: &str) -> Amounts {
    let amount = |(name, amount): (&str, &str)| (name.to_owned(), Quantity(amount.to_owned()));
    [("cpu", cpu), ("memory", memory)].map(amount).into()
}
