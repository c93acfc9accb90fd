//! Leader election by a Lease, as other Kubernetes controllers do it: one replica holds it and renews it; the others
//! take it over when it was given back or has not been renewed for its duration.

mod decide;

#[cfg(test)]
mod tests;

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{Api, PostParams};
use tokio_util::sync::CancellationToken;

use crate::role::{CurrentRole, Role};
use decide::{Move, Observed};

/// How a lease is kept.
#[derive(Clone, Debug)]
pub struct Options {
    pub namespace: String,
    pub name: String,
    /// Who this replica is.
    pub identity: String,
    pub duration: Duration,
    pub renew_deadline: Duration,
    pub retry_period: Duration,
    /// Gives the time; the lease carries it.
    pub clock: fn() -> Timestamp,
}

/// The lease could not be renewed in time; another replica may be leading already.
#[derive(Debug, thiserror::Error)]
#[error("lost the lease {namespace}/{name}: not renewed within {deadline:?}")]
pub struct Lost {
    namespace: String,
    name: String,
    deadline: Duration,
}

/// Takes part in the election until `stop`, keeping `role` up to date. Gives the lease back at the end.
pub async fn run(
    client: kube::Client,
    options: Options,
    role: CurrentRole,
    stop: CancellationToken,
) -> Result<(), Lost> {
    let elector = Elector {
        api: Api::namespaced(client, &options.namespace),
        options,
    };
    let mut observed = Observed::default();
    let mut renewed: Option<tokio::time::Instant> = None;
    loop {
        let attempt = tokio::time::timeout(
            elector.options.renew_deadline,
            elector.attempt(&mut observed),
        )
        .await;
        match attempt {
            Ok(Ok(true)) => {
                renewed = Some(tokio::time::Instant::now());
                elector.lead(&role);
            }
            Ok(Ok(false)) if renewed.is_some() => return Err(elector.lost()),
            Ok(Ok(false)) => {}
            Ok(Err(error)) => tracing::warn!(
                lease = elector.options.name,
                "cannot take part in leader election, trying again: {error}"
            ),
            Err(_) => tracing::warn!(
                lease = elector.options.name,
                "the API server does not answer about the lease"
            ),
        }
        if renewed.is_some_and(|at| at.elapsed() > elector.options.renew_deadline) {
            return Err(elector.lost());
        }
        tokio::select! {
            () = tokio::time::sleep(elector.options.retry_period) => {}
            () = stop.cancelled() => break,
        }
    }
    if renewed.is_some() {
        elector.release().await;
    }
    Ok(())
}

struct Elector {
    api: Api<Lease>,
    options: Options,
}

impl Elector {
    /// One round; whether this replica holds the lease now.
    async fn attempt(&self, observed: &mut Observed) -> Result<bool, kube::Error> {
        let now = (self.options.clock)();
        let current = self.api.get_opt(&self.options.name).await?;
        let written = match decide::next(current, observed, &self.options, now) {
            Move::Wait => return Ok(false),
            Move::Create(lease) => self.api.create(&PostParams::default(), &lease).await,
            Move::Replace(lease) => {
                self.api
                    .replace(&self.options.name, &PostParams::default(), &lease)
                    .await
            }
        };
        match written {
            Ok(_) => Ok(true),
            // Another replica was faster.
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lead(&self, role: &CurrentRole) {
        if role.get() != Role::Leader {
            tracing::info!(
                lease = self.options.name,
                identity = self.options.identity,
                "leading"
            );
            role.set(Role::Leader);
        }
    }

    fn lost(&self) -> Lost {
        let Options {
            namespace,
            name,
            renew_deadline,
            ..
        } = self.options.clone();
        Lost {
            namespace,
            name,
            deadline: renew_deadline,
        }
    }

    /// Lets the next replica start at once.
    async fn release(&self) {
        let now = (self.options.clock)();
        let given_back = async {
            let Some(lease) = self.api.get_opt(&self.options.name).await? else {
                return Ok(());
            };
            let Some(lease) = decide::released(lease, &self.options.identity, now) else {
                return Ok(());
            };
            self.api
                .replace(&self.options.name, &PostParams::default(), &lease)
                .await
                .map(|_| ())
        };
        match tokio::time::timeout(self.options.retry_period, given_back).await {
            Ok(Ok(())) => tracing::info!(lease = self.options.name, "lease given back"),
            Ok(Err(error)) => tracing::warn!(
                lease = self.options.name,
                "cannot give the lease back: {error}"
            ),
            Err(_) => tracing::warn!(
                lease = self.options.name,
                "cannot give the lease back: no answer"
            ),
        }
    }
}
