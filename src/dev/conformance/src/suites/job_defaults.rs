//! Defaulting webhooks of job kinds: the surroundings that a case describes, then the rule of `jobs::admission`.

use std::collections::BTreeMap;

use jobs::admission::{Surroundings, default, default_managed_by};
use jobs::ancestors::{self, Astray, Known};
use jobs::integrations::Integrations;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::config::NAMESPACE_NAME_LABEL;
use kueue_api::features::gate;
use kueue_api::v1beta2::{AdmissionCheck, ClusterQueue, LocalQueue, WorkloadPriorityClass};
use kueue_api::validation::matches_selector;
use kueue_api::workload::checks;
use serde_json::Value;

use super::job_reconcile::selector;
use super::jobs::{features, object, parsed};
use crate::corpus::{Case, each, parse, read};
use crate::store::{Store, normal};
use crate::verdict::Verdict;

/// Everything around a job that a case says.
pub(super) struct Place {
    pub(super) store: Store,
    pub(super) integrations: Integrations,
    pub(super) unnamed: bool,
    pub(super) selector: Option<String>,
    pub(super) default_queue: bool,
}

impl Place {
    pub(super) fn of(case: Case<'_>) -> Self {
        let input = case.input;
        let mut frameworks: Vec<String> = read(&input["enableIntegrations"]);
        frameworks.extend(read::<Vec<String>>(&input["integrations"]));
        // Every job kind's own integration is on in its test, by being tested.
        Self {
            store: Store::of(common(case).into_iter().chain([
                &input["objs"],
                &input["initObjs"],
                &input["ancestors"],
                &input["namespaces"],
                &input["wpcObjects"],
                &input["setup"],
            ])),
            integrations: Integrations::new(
                &frameworks,
                &read::<Vec<_>>(&input["externalFrameworks"]),
            ),
            unnamed: input["manageJobsWithoutQueueName"] == true || input["manageAll"] == true,
            selector: input["managedJobsNamespaceSelector"]
                .as_str()
                .or(input["managedJobsNamespacesSelector"].as_str())
                .or(case.common["namespaceSelector"].as_str())
                .map(str::to_owned),
            default_queue: input["defaultLqExist"] == true
                || input["withDefaultLocalQueue"] == true,
        }
    }

    pub(super) fn look_up(&self, namespace: &str, owner: &OwnerReference) -> Option<ObjectMeta> {
        let found = self.store.value(&owner.kind, namespace, &owner.name);
        found.map(|object| parse(&object["metadata"]))
    }

    pub(super) fn ancestor(&self, meta: &ObjectMeta) -> Result<Option<ObjectMeta>, Astray> {
        let namespace = meta.namespace.clone().unwrap_or_default();
        let found = ancestors::find(
            meta,
            self.unnamed,
            |owner| self.integrations.known(owner),
            |owner| self.look_up(&namespace, owner),
        )?;
        Ok(found.map(|ancestor| ancestor.meta))
    }

    pub(super) fn around(&self, meta: &ObjectMeta) -> Surroundings {
        let namespace = meta.namespace.clone().unwrap_or_default();
        let labels: BTreeMap<String, String> = self
            .store
            .value("Namespace", "", &namespace)
            .map(|namespace| read(&namespace["metadata"]["labels"]))
            .unwrap_or_else(|| [(NAMESPACE_NAME_LABEL.to_owned(), namespace.clone())].into());
        let managed = self
            .selector
            .as_ref()
            .is_none_or(|text| matches_selector(&selector(text), &labels));
        let classes: Vec<WorkloadPriorityClass> = self.store.list();
        let owner = ancestors::controller(meta);
        Surroundings {
            namespace_managed: managed,
            has_default_queue: self.default_queue,
            has_default_priority_class: classes.iter().any(|class| class.name() == "default"),
            owner_managed: owner
                .is_some_and(|owner| self.integrations.known(owner) == Known::Managed),
            ancestor_managed: self.ancestor(meta).is_ok_and(|found| found.is_some()),
            manage_without_queue_name: self.unnamed,
        }
    }
}

/// Fixtures of a file that are objects.
fn common(case: Case<'_>) -> Vec<&Value> {
    let all = case
        .common
        .as_object()
        .into_iter()
        .flat_map(|map| map.values());
    all.filter(|one| one["kind"].is_string()).collect()
}

/// A new job with its defaults.
pub(super) fn default_job(case: Case<'_>) -> Verdict {
    let features = features(case);
    let before = object(case);
    let mut job = parsed(&before);
    let place = Place::of(case);
    let mut around = place.around(job.meta());
    around.has_default_priority_class &= features.on(gate::WORKLOAD_PRIORITY_CLASS_DEFAULTING);
    default(job.as_mut(), around);
    let namespace = job.namespace().to_owned();
    default_managed_by(job.as_mut(), &features, |queue| {
        leads_elsewhere(case, &namespace, queue)
    });
    job.default_own(&features);
    let wanted = ["want", "newJob", "wantTrainJob", "wantSparkApp"].map(|name| &case.want[name]);
    let Some(wanted) = wanted.into_iter().find(|wanted| wanted.is_object()) else {
        let got = job.managed_by().unwrap_or_default();
        return Verdict::same(got, &case.want["wantManagedBy"]);
    };
    let got = normal(&[job.to_value().unwrap()], &[]);
    let want = normal(&[parsed(wanted).to_value().unwrap()], &[]);
    Verdict::same(&got, &want)
}

fn leads_elsewhere(case: Case<'_>, namespace: &str, name: &str) -> bool {
    if case.input["withMultiKueueAdmissionCheck"] == true {
        return true;
    }
    let queues: Vec<LocalQueue> = each(&case.input["queues"]);
    let clusters: Vec<ClusterQueue> = each(&case.input["clusterQueues"]);
    let check = &case.input["admissionCheck"];
    let known: Vec<AdmissionCheck> = check
        .is_object()
        .then(|| parse(check))
        .into_iter()
        .collect();
    let mut queues = queues.iter();
    let queue = queues.find(|queue| {
        queue.name() == name && queue.metadata.namespace.as_deref() == Some(namespace)
    });
    let cluster = queue.and_then(|queue| {
        let mut clusters = clusters.iter();
        clusters.find(|cluster| cluster.name() == queue.spec.cluster_queue())
    });
    cluster.is_some_and(|cluster| checks::leads_elsewhere(cluster, &known))
}
