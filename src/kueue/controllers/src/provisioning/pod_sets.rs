//! What of a Workload an autoscaler is asked for: which podsets, which of them as one, and in what form. Reference section 4.16, "Is a request
//! needed?" and "PR content".

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplate, PodTemplateSpec};
use kueue_api::ObjectMeta;
use kueue_api::names::labels;
use kueue_api::v1beta2::{
    PodSet, PodSetAssignment, PodSetMergePolicy, PodSetUpdate, ProvisioningRequestConfigSpec,
    ResourceFlavorSpec, Workload,
};

use super::request::{Request, template_name};

/// What pods are told of their request.
const CONSUMES: &str = "autoscaling.x-k8s.io/consume-provisioning-request";
const CLASS: &str = "autoscaling.x-k8s.io/provisioning-class-name";

/// Why nothing can be asked for.
#[derive(Debug, thiserror::Error)]
pub enum Unfit {
    #[error("inconsistent podSet assignments: missing assignment for PodSet {0:?}")]
    Assignment(String),
    #[error(transparent)]
    Flavor(#[from] jobs::UnknownFlavor),
    #[error(transparent)]
    Conflict(#[from] jobs::InjectError),
}

/// Podsets that are asked for as one: the first of them, and how many pods there are in all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merged<'a> {
    pub set: &'a PodSet,
    pub assignment: &'a PodSetAssignment,
    pub count: i32,
}

fn assignment<'a>(workload: &'a Workload, set: &PodSet) -> Result<&'a PodSetAssignment, Unfit> {
    let status = workload.status.as_ref();
    let admission = status.and_then(|status| status.admission.as_ref());
    let mut all = admission.iter().flat_map(|one| &one.pod_set_assignments);
    let found = all.find(|one| one.name == set.name);
    found.ok_or_else(|| Unfit::Assignment(set.name.clone()))
}

/// The podsets that use something the autoscaler is to provide.
fn wanted<'a>(
    workload: &'a Workload,
    config: &'a ProvisioningRequestConfigSpec,
) -> impl Iterator<Item = &'a PodSet> {
    let managed = &config.managed_resources;
    let sets = workload.spec.pod_sets.iter();
    sets.filter(move |set| {
        let spec = set.template.spec.as_ref();
        set.count > 0 && (managed.is_empty() || spec.is_some_and(|spec| uses(spec, managed)))
    })
}

fn uses(spec: &PodSpec, managed: &[String]) -> bool {
    let of = |container: &Container| {
        let resources = container.resources.clone().unwrap_or_default();
        let (asked, most) = (resources.requests, resources.limits);
        let mut names = asked.into_iter().chain(most).flat_map(BTreeMap::into_keys);
        names.any(|name| managed.contains(&name))
    };
    let init = spec.init_containers.iter().flatten();
    init.chain(&spec.containers).any(of)
}

/// Whether anything has to be asked for.
///
/// # Errors
/// When a podset has no assignment.
pub fn is_needed(
    workload: &Workload,
    config: &ProvisioningRequestConfigSpec,
) -> Result<bool, Unfit> {
    for set in wanted(workload, config) {
        let assignment = assignment(workload, set)?;
        if assignment.count.unwrap_or(set.count) > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is asked for, in the order of the podsets.
///
/// # Errors
/// When a podset has no assignment.
pub fn merged<'a>(
    workload: &'a Workload,
    config: &'a ProvisioningRequestConfigSpec,
) -> Result<Vec<Merged<'a>>, Unfit> {
    let mut all: Vec<Merged<'a>> = Vec::new();
    for set in wanted(workload, config) {
        let assignment = assignment(workload, set)?;
        let count = assignment.count.unwrap_or(set.count);
        if count <= 0 {
            continue;
        }
        let policy = config.pod_set_merge_policy;
        let same = |one: &&mut Merged<'_>| policy.is_some_and(|policy| alike(one.set, set, policy));
        match all.iter_mut().find(same) {
            Some(one) => one.count += count,
            None => all.push(Merged {
                set,
                assignment,
                count,
            }),
        }
    }
    Ok(all)
}

fn alike(one: &PodSet, other: &PodSet, policy: PodSetMergePolicy) -> bool {
    match policy {
        PodSetMergePolicy::IdenticalPodTemplates => one.template == other.template,
        PodSetMergePolicy::IdenticalWorkloadSchedulingRequirements => {
            needs(&one.template) == needs(&other.template)
        }
    }
}

/// What of a template decides where its pods can run.
fn needs(template: &PodTemplateSpec) -> PodSpec {
    let spec = template.spec.clone().unwrap_or_default();
    let lean = |container: Container| {
        let requests = container.resources.and_then(|all| all.requests);
        Container {
            resources: Some(k8s_openapi::api::core::v1::ResourceRequirements {
                requests,
                ..Default::default()
            }),
            ..Container::default()
        }
    };
    let init = spec.init_containers.unwrap_or_default();
    PodSpec {
        containers: spec.containers.into_iter().map(lean).collect(),
        init_containers: Some(init.into_iter().map(lean).collect()),
        resources: spec.resources,
        node_selector: spec.node_selector,
        tolerations: spec.tolerations,
        affinity: spec.affinity,
        resource_claims: spec.resource_claims,
        ..PodSpec::default()
    }
}

/// The template of a podset as its pods will be: with the labels of its flavors' nodes, and limits as requests where these are missing.
///
/// # Errors
/// When a flavor is missing, or says something else than the template.
pub fn template(
    workload: &Workload,
    name: String,
    merged: &Merged<'_>,
    flavors: &BTreeMap<String, ResourceFlavorSpec>,
) -> Result<PodTemplate, Unfit> {
    let info = jobs::PodSetInfo::of_flavors(merged.assignment, merged.set, flavors, false)?;
    let mut template = merged.set.template.clone();
    info.merge_into(&mut template)?;
    if let Some(spec) = template.spec.as_mut() {
        cache::limits_as_requests(spec);
    }
    Ok(PodTemplate {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: workload.metadata.namespace.clone(),
            labels: Some(managed()),
            owner_references: Some(vec![super::owner_of(workload)]),
            ..ObjectMeta::default()
        },
        template: Some(template),
    })
}

/// The label of everything that is made here.
pub fn managed() -> BTreeMap<String, String> {
    BTreeMap::from([(labels::MANAGED.to_owned(), "true".to_owned())])
}

/// What the pods of each podset are told once there are nodes for them.
#[must_use]
pub fn updates(
    workload: &Workload,
    request: &Request,
    config: &ProvisioningRequestConfigSpec,
) -> Vec<PodSetUpdate> {
    let told = config.pod_set_updates.iter();
    let selector: BTreeMap<String, String> = told
        .flat_map(|updates| &updates.node_selector)
        .filter_map(|one| {
            let details = &request.status.provisioning_class_details;
            let value = details.get(&one.value_from_provisioning_class_detail)?;
            Some((one.key.clone(), value.clone()))
        })
        .collect();
    let class = &request.spec.provisioning_class_name;
    let of = |pods: &super::request::RequestedPods| {
        let named =
            |set: &&PodSet| template_name(request.name(), &set.name) == pods.pod_template_ref.name;
        let set = workload.spec.pod_sets.iter().find(named);
        PodSetUpdate {
            name: set.map(|set| set.name.clone()).unwrap_or_default(),
            annotations: BTreeMap::from([
                (CONSUMES.to_owned(), request.name().to_owned()),
                (CLASS.to_owned(), class.clone()),
            ]),
            node_selector: selector.clone(),
            ..PodSetUpdate::default()
        }
    };
    request.spec.pod_sets.iter().map(of).collect()
}
