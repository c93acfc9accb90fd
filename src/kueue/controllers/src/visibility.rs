//! The visibility API's lists, from the cache, and who may read them: people whom the API server's front proxy names, and bearers of
//! a token. The protocol is in `webhooks::visibility`.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use k8s_openapi::api::authentication::v1::UserInfo;
use kube::Client;
use kueue_api::visibility::{Page, PendingMeta, PendingWorkload};
use webhooks::tls::Peer;
use webhooks::visibility::{Asked, Queues, asked, failure, forbidden, unauthorized};

use crate::access;
use crate::context::Context;
use crate::front_proxy::FrontProxy;
use crate::key::Key;

/// Asked by probes, which have no name.
const OPEN: [&str; 3] = ["/healthz", "/livez", "/readyz"];

/// The world as the lists see it.
#[derive(Clone, Debug)]
pub struct Waiting(pub Arc<Context>);

impl Queues for Waiting {
    fn is_complete(&self) -> bool {
        self.0.world.is_complete()
    }

    fn of_cluster_queue(&self, name: &str, page: Page) -> Option<Vec<PendingWorkload>> {
        let name = cache::ClusterQueueName::new(name);
        let cache = self.0.world.cache.lock();
        let listed = cache.pending_page(&name, page.offset, page.limit)?;
        drop(cache);
        Some(self.show(&listed))
    }

    fn of_local_queue(
        &self,
        namespace: &str,
        name: &str,
        page: Page,
    ) -> Option<Vec<PendingWorkload>> {
        let door = cache::LocalQueueKey::new(namespace, name);
        let cache = self.0.world.cache.lock();
        let listed = cache.pending_page_of(&door, page.offset, page.limit)?;
        drop(cache);
        Some(self.show(&listed))
    }
}

impl Waiting {
    /// Those that are gone in the meantime are left out.
    fn show(&self, listed: &[cache::PendingWorkload]) -> Vec<PendingWorkload> {
        let place = |position: usize| i32::try_from(position).unwrap_or(i32::MAX);
        let shown = listed.iter().filter_map(|one| {
            let key = Key::new(one.key.namespace.as_str(), &one.key.name);
            let workload = self.0.world.stores.workloads.get(&key)?;
            Some(PendingWorkload {
                metadata: PendingMeta::of(&workload.metadata),
                priority: workload.spec.priority.unwrap_or_default(),
                local_queue_name: one.local_queue.name.to_string(),
                position_in_cluster_queue: place(one.position_in_cluster_queue),
                position_in_local_queue: place(one.position_in_local_queue),
            })
        });
        shown.collect()
    }
}

struct Gate {
    client: Client,
    proxy: Arc<FrontProxy>,
}

/// Puts the check before every path of a router.
pub fn guard(router: Router, client: Client, proxy: Arc<FrontProxy>) -> Router {
    router.layer(from_fn_with_state(Arc::new(Gate { client, proxy }), check))
}

async fn check(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    if OPEN.contains(&request.uri().path()) {
        return next.run(request).await;
    }
    let person = gate
        .proxy
        .person(request.extensions().get::<Peer>(), request.headers());
    let token = access::bearer(request.headers()).map(str::to_owned);
    let wanted = asked(request.method().as_str(), request.uri().path());
    match refuse(&gate.client, person, token, &wanted).await {
        Ok(None) => next.run(request).await,
        Ok(Some(refusal)) => *refusal,
        Err(error) => {
            tracing::warn!("cannot ask the API server who reads pending workloads: {error}");
            let message = "the API server could not be asked whether this is allowed";
            failure(
                StatusCode::INTERNAL_SERVER_ERROR,
                "InternalError",
                message,
                None,
            )
        }
    }
}

async fn refuse(
    client: &Client,
    named: Option<UserInfo>,
    token: Option<String>,
    wanted: &Asked,
) -> Result<Option<Box<Response>>, kube::Error> {
    let person = match (named, token) {
        (Some(person), _) => Some(person),
        (None, Some(token)) => access::person_of(client, &token).await?,
        (None, None) => None,
    };
    let Some(person) = person else {
        return Ok(Some(Box::new(unauthorized())));
    };
    let allowed = access::may(client, &person, wanted).await?;
    Ok((!allowed).then(|| Box::new(forbidden(&access::refusal(&person, wanted)))))
}
