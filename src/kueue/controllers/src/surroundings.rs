//! What the webhooks ask about the cluster, answered from the stores.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::IntoResponse;
use jobs::RuntimeRef;
use jobs::serving::{LEADER_WORKER_SET, STATEFUL_SET};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kueue_api::config::NAMESPACE_NAME_LABEL;
use kueue_api::names::{DEFAULT_LOCAL_QUEUE, DEFAULT_WORKLOAD_PRIORITY_CLASS};
use kueue_api::v1beta2::Workload;
use kueue_api::workload::checks::leads_elsewhere;
use serde_json::Value;
use webhooks::Cluster;

use crate::context::Context;
use crate::key::Key;

/// Lets a router answer only once every watch has told what there is: an answer from half-filled stores would let jobs
/// through that are to be held back.
pub fn when_complete(router: Router, context: Arc<Context>) -> Router {
    router.layer(from_fn_with_state(
        context,
        |State(context): State<Arc<Context>>, request: Request, next: Next| async move {
            if context.world.is_complete() {
                next.run(request).await
            } else {
                (StatusCode::SERVICE_UNAVAILABLE, "starting").into_response()
            }
        },
    ))
}

/// The stores as webhooks see them.
#[derive(Clone, Debug)]
pub struct Surroundings(pub Arc<Context>);

impl Cluster for Surroundings {
    fn namespace_labels(&self, namespace: &str) -> Option<BTreeMap<String, String>> {
        // A namespace made a moment ago may not have been seen; the API server gives each this label.
        let own = || [(NAMESPACE_NAME_LABEL.to_owned(), namespace.to_owned())].into();
        Some(
            self.0
                .world
                .stores
                .namespace_labels(namespace)
                .unwrap_or_else(own),
        )
    }

    fn has_default_local_queue(&self, namespace: &str) -> bool {
        self.0
            .world
            .stores
            .local_queues
            .get(&Key::new(namespace, DEFAULT_LOCAL_QUEUE))
            .is_some()
    }

    fn owner(&self, namespace: &str, owner: &OwnerReference) -> Option<ObjectMeta> {
        let stores = &self.0.world.stores;
        let key = Key::new(namespace, &owner.name);
        if STATEFUL_SET.owns(owner) {
            let set = stores.stateful_sets.get(&key)?;
            return Some(set.metadata.clone());
        }
        if LEADER_WORKER_SET.owns(owner) {
            let set = stores.leader_worker_sets.get(&key)?;
            return Some(set.metadata.clone());
        }
        let (_, jobs) = stores.jobs_of(owner)?;
        let job = jobs.objects.get(&key)?;
        Some(job.0.meta().clone())
    }

    fn has_default_priority_class(&self) -> bool {
        self.0
            .world
            .stores
            .classes
            .get(&Key::cluster(DEFAULT_WORKLOAD_PRIORITY_CLASS))
            .is_some()
    }

    fn leads_elsewhere(&self, namespace: &str, queue: &str) -> bool {
        let stores = &self.0.world.stores;
        let local = stores.local_queues.get(&Key::new(namespace, queue));
        let name = local.map(|local| local.spec.cluster_queue().to_owned());
        let cluster = name.and_then(|name| stores.cluster_queues.get(&Key::cluster(&name)));
        let checks = stores.checks.list();
        cluster.is_some_and(|cluster| leads_elsewhere(&cluster, checks.iter().map(AsRef::as_ref)))
    }

    fn runtime(&self, of: &RuntimeRef) -> Option<Arc<Value>> {
        let found = self.0.world.stores.runtime(of)?;
        Some(found.object.clone())
    }

    fn workload(&self, namespace: &str, name: &str) -> Option<Arc<Workload>> {
        let stores = &self.0.world.stores;
        stores.workloads.get(&Key::new(namespace, name))
    }
}
