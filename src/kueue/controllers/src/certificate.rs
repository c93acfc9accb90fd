//! Keeps the serving certificate: the Secret it lives in, and what has to trust it (webhook configurations, the visibility API,
//! conversions of custom resources). What is a good certificate, and how one is made, is `webhooks::certificates`.

mod bundle;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::core::PartialObjectMeta;
use kube::runtime::{WatchStreamExt, watcher};
use kube::{Client, Resource, ResourceExt};
use kueue_api::ObjectMeta;
use kueue_api::names::{
    CONVERTED_DEFINITIONS, FIELD_MANAGER, MUTATING_WEBHOOK_CONFIGURATION,
    VALIDATING_WEBHOOK_CONFIGURATION, VISIBILITY_API_SERVICES,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;
use webhooks::certificates::{self, CERTIFICATE, CertificateError, Decision, KEY};
use webhooks::tls::{Identity, TlsError};

/// The certificate is looked at again after this time, though nothing changed.
const LOOK_AGAIN: Duration = Duration::from_secs(6 * 3600);
const FIRST_RETRY: Duration = Duration::from_millis(200);
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Where the certificate lives, and for whom it is.
#[derive(Clone, Debug)]
pub struct Options {
    pub namespace: String,
    pub secret: String,
    /// The Services it answers for.
    pub services: Vec<String>,
    pub clock: fn() -> Timestamp,
}

/// Why the certificate is not in order.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    #[error("Secret {0}: {1}")]
    Secret(String, #[source] Box<kube::Error>),
    #[error("{0}: {1}")]
    Configuration(&'static str, #[source] Box<kube::Error>),
    #[error(transparent)]
    Make(#[from] CertificateError),
    #[error(transparent)]
    Show(#[from] TlsError),
    #[error("an object cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

type Data = BTreeMap<String, Vec<u8>>;

/// Keeps the certificate in order until `stop`, showing it through `identity`.
pub async fn keep(
    client: Client,
    options: Options,
    identity: Arc<Identity>,
    stop: CancellationToken,
) {
    let keeper = Keeper {
        client,
        options,
        identity,
    };
    let mut changes = keeper.changes();
    let mut wait = FIRST_RETRY;
    loop {
        let kept = tokio::select! {
            kept = keeper.once() => kept,
            () = stop.cancelled() => return,
        };
        let pause = match kept {
            Ok(()) => {
                wait = FIRST_RETRY;
                LOOK_AGAIN
            }
            Err(error) => {
                tracing::warn!("webhook certificate is not in order, trying again: {error}");
                wait = (wait * 2).min(LONGEST_RETRY);
                wait
            }
        };
        tokio::select! {
            _ = changes.next() => {}
            () = tokio::time::sleep(pause) => {}
            () = stop.cancelled() => return,
        }
    }
}

struct Keeper {
    client: Client,
    options: Options,
    identity: Arc<Identity>,
}

impl Keeper {
    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.options.namespace)
    }

    /// Says when one of the objects changed. Of kinds with many other objects only the metadata is followed.
    fn changes(&self) -> futures::stream::BoxStream<'static, ()> {
        fn named<K>(api: Api<K>, name: &str) -> futures::stream::BoxStream<'static, ()>
        where
            K: Resource + Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
            K::DynamicType: Default + Clone,
        {
            let config = watcher::Config::default().fields(&format!("metadata.name={name}"));
            let touched = watcher(api, config).default_backoff().touched_objects();
            touched
                .map_ok(|_| ())
                .filter_map(|seen| std::future::ready(seen.ok()))
                .boxed()
        }
        fn among<K>(
            client: Client,
            names: &'static [&'static str],
        ) -> futures::stream::BoxStream<'static, ()>
        where
            K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + 'static,
        {
            let api: Api<PartialObjectMeta<K>> = Api::all(client);
            let touched = watcher(api, watcher::Config::default())
                .default_backoff()
                .touched_objects();
            touched
                .filter_map(move |seen| {
                    let ours = seen.is_ok_and(|seen| names.contains(&seen.name_any().as_str()));
                    std::future::ready(ours.then_some(()))
                })
                .boxed()
        }
        let client = || self.client.clone();
        let all = [
            named(self.secrets(), &self.options.secret),
            named(
                Api::<MutatingWebhookConfiguration>::all(client()),
                MUTATING_WEBHOOK_CONFIGURATION,
            ),
            named(
                Api::<ValidatingWebhookConfiguration>::all(client()),
                VALIDATING_WEBHOOK_CONFIGURATION,
            ),
            among::<APIService>(client(), VISIBILITY_API_SERVICES),
            among::<CustomResourceDefinition>(client(), CONVERTED_DEFINITIONS),
        ];
        futures::stream::select_all(all).boxed()
    }

    async fn once(&self) -> Result<(), KeepError> {
        let ca = self.secret().await?;
        let webhooks = bundle::webhooks;
        self.trust::<MutatingWebhookConfiguration>(MUTATING_WEBHOOK_CONFIGURATION, &ca, webhooks)
            .await?;
        self.trust::<ValidatingWebhookConfiguration>(
            VALIDATING_WEBHOOK_CONFIGURATION,
            &ca,
            webhooks,
        )
        .await?;
        for name in CONVERTED_DEFINITIONS {
            self.trust::<CustomResourceDefinition>(name, &ca, bundle::conversion)
                .await?;
        }
        for name in VISIBILITY_API_SERVICES {
            self.trust::<APIService>(name, &ca, bundle::aggregated)
                .await?;
        }
        Ok(())
    }

    /// Makes sure of the Secret; gives the certificates that clients should trust.
    async fn secret(&self) -> Result<String, KeepError> {
        let Options {
            namespace,
            secret: name,
            services,
            clock,
        } = &self.options;
        let fault = |error| KeepError::Secret(format!("{namespace}/{name}"), Box::new(error));
        let secret = self.secrets().get_opt(name).await.map_err(fault)?;
        let data: Data = secret
            .iter()
            .filter_map(|s| s.data.clone())
            .flatten()
            .map(|(key, value)| (key, value.0))
            .collect();
        match certificates::decide(&data, services, namespace, clock())? {
            Decision::Keep(ca) => {
                self.show(&data)?;
                Ok(ca)
            }
            Decision::Make { bundle, why } => {
                tracing::info!(
                    secret = name,
                    "making a certificate for the webhooks: {why}"
                );
                let ca = bundle.ca.clone();
                let data = bundle.into_data();
                self.write(secret, &data).await.map_err(fault)?;
                self.show(&data)?;
                Ok(ca)
            }
        }
    }

    /// Another replica may have been faster: then the write fails, and the next round reads what it wrote.
    async fn write(&self, before: Option<Secret>, data: &Data) -> Result<(), kube::Error> {
        let data = data
            .iter()
            .map(|(key, value)| (key.clone(), ByteString(value.clone())))
            .collect();
        let params = PostParams {
            field_manager: Some(FIELD_MANAGER.to_owned()),
            ..PostParams::default()
        };
        match before {
            Some(before) => {
                let secret = Secret {
                    data: Some(data),
                    ..before
                };
                self.secrets()
                    .replace(&self.options.secret, &params, &secret)
                    .await
                    .map(|_| ())
            }
            None => {
                let metadata = ObjectMeta {
                    name: Some(self.options.secret.clone()),
                    namespace: Some(self.options.namespace.clone()),
                    ..ObjectMeta::default()
                };
                self.secrets()
                    .create(
                        &params,
                        &Secret {
                            metadata,
                            data: Some(data),
                            ..Secret::default()
                        },
                    )
                    .await
                    .map(|_| ())
            }
        }
    }

    fn show(&self, data: &Data) -> Result<(), TlsError> {
        match (data.get(CERTIFICATE), data.get(KEY)) {
            (Some(certificate), Some(key)) => self.identity.install(certificate, key),
            _ => Ok(()),
        }
    }

    /// Makes an object trust these certificates. One that is not installed needs nothing.
    async fn trust<K>(
        &self,
        name: &'static str,
        ca: &str,
        change: bundle::Change,
    ) -> Result<(), KeepError>
    where
        K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
    {
        let api: Api<K> = Api::all(self.client.clone());
        let fault = |error| KeepError::Configuration(name, Box::new(error));
        let Some(configuration) = api.get_opt(name).await.map_err(fault)? else {
            return Ok(());
        };
        let version = configuration.resource_version();
        let Some(patch) = bundle::patch(
            &serde_json::to_value(&configuration)?,
            version.as_deref(),
            ca,
            change,
        ) else {
            return Ok(());
        };
        api.patch(name, &PatchParams::default(), &Patch::Merge(&patch))
            .await
            .map_err(fault)?;
        tracing::info!(object = name, "trusts the serving certificate from now on");
        Ok(())
    }
}
