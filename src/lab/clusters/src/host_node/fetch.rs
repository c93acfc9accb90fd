//! Reads what a pod refers to, and says when any of it changes.
//!
//! The node's identity may read exactly the objects that pods bound to it refer to, one name at a time; so there is one
//! watch for each name.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use futures::StreamExt as _;
use futures::stream::{BoxStream, select_all};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, ServiceAccount};
use kube::api::PostParams;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, Resource, ResourceExt as _};
use serde::de::DeserializeOwned;

use super::payload::Fetched;
use super::plan::{Needs, PodPlan, Source, VolumeContent};

/// Reads every ConfigMap and Secret of `needs`; those that do not exist are left out.
pub(super) async fn objects(
    client: &Client,
    namespace: &str,
    needs: &Needs,
) -> kube::Result<Fetched> {
    let mut fetched = Fetched::default();
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), namespace);
    for name in &needs.config_maps {
        if let Some(map) = unless_forbidden(config_maps.get_opt(name).await)? {
            fetched.config_maps.insert(name.clone(), map);
        }
    }
    let secrets = Api::<Secret>::namespaced(client.clone(), namespace);
    for name in &needs.secrets {
        if let Some(secret) = unless_forbidden(secrets.get_opt(name).await)? {
            fetched.secrets.insert(name.clone(), secret);
        }
    }
    Ok(fetched)
}

/// The authorizer learns of a new pod a moment after the node does; until then an object is as good as absent.
fn unless_forbidden<T>(read: kube::Result<Option<T>>) -> kube::Result<Option<T>> {
    match read {
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(None),
        other => other,
    }
}

/// Asks for the tokens that the volumes of `plan` hold, bound to the pod: they die with it.
pub(super) async fn tokens(
    client: &Client,
    pod: &Pod,
    plan: &PodPlan,
    fetched: &mut Fetched,
) -> kube::Result<()> {
    let accounts =
        Api::<ServiceAccount>::namespaced(client.clone(), &pod.namespace().unwrap_or_default());
    for (audience, expiration) in wanted_tokens(plan) {
        let request = TokenRequest {
            spec: Some(TokenRequestSpec {
                audiences: audience.clone().map(|audience| vec![audience]),
                bound_object_ref: Some(BoundObjectReference {
                    api_version: Some("v1".to_owned()),
                    kind: Some("Pod".to_owned()),
                    name: pod.metadata.name.clone(),
                    uid: pod.uid(),
                }),
                expiration_seconds: Some(expiration),
                ..TokenRequestSpec::default()
            }),
            ..TokenRequest::default()
        };
        let answer = accounts
            .create_token_request(&plan.service_account, &PostParams::default(), &request)
            .await?;
        if let Some(token) = answer.status.and_then(|status| status.token) {
            fetched.tokens.insert(audience.unwrap_or_default(), token);
        }
    }
    Ok(())
}

/// The audiences and lifetimes that the plan's volumes ask for.
pub(super) fn wanted_tokens(plan: &PodPlan) -> BTreeSet<(Option<String>, i64)> {
    let sources = plan
        .volumes
        .iter()
        .filter_map(|volume| match &volume.content {
            VolumeContent::Projected(sources) => Some(sources),
            VolumeContent::Empty => None,
        });
    let token = |source: &Source| match source {
        Source::Token {
            audience,
            expiration,
            ..
        } => Some((audience.clone(), *expiration)),
        _ => None,
    };
    sources.flatten().filter_map(token).collect()
}

/// Yields whenever one of the objects of `needs` appears, changes or disappears.
pub(super) fn changes(client: &Client, namespace: &str, needs: &Needs) -> BoxStream<'static, ()> {
    let config_maps = Api::<ConfigMap>::namespaced(client.clone(), namespace);
    let secrets = Api::<Secret>::namespaced(client.clone(), namespace);
    let of_config_maps = needs
        .config_maps
        .iter()
        .map(|name| of_one(config_maps.clone(), name));
    let of_secrets = needs
        .secrets
        .iter()
        .map(|name| of_one(secrets.clone(), name));
    // Without needs there is nothing to wait for, and an empty selection would end at once.
    let never = futures::stream::pending().boxed();
    select_all(of_config_maps.chain(of_secrets).chain([never])).boxed()
}

fn of_one<K>(api: Api<K>, name: &str) -> BoxStream<'static, ()>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
{
    let only = watcher::Config::default().fields(&format!("metadata.name={name}"));
    let name: Arc<str> = name.into();
    let changed = move |event: watcher::Result<watcher::Event<K>>| {
        let name = name.clone();
        async move {
            match event {
                Ok(
                    watcher::Event::Apply(_) | watcher::Event::Delete(_) | watcher::Event::InitDone,
                ) => Some(()),
                Ok(watcher::Event::Init | watcher::Event::InitApply(_)) => None,
                Err(error) => {
                    tracing::debug!(%error, %name, "watch an object of a pod");
                    None
                }
            }
        }
    };
    watcher(api, only)
        .default_backoff()
        .filter_map(changed)
        .boxed()
}
