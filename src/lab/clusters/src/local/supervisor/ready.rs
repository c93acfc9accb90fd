//! Waiting until something answers: short pauses that grow, and an end when the program behind it keeps dying.

use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::api::core::v1::ServiceAccount;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use tokio::sync::watch;

const SHORTEST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_millis(250);

/// A client from a kubeconfig file of ours.
pub(super) async fn client(kubeconfig: &Path) -> Result<Client, String> {
    let read = Kubeconfig::read_from(kubeconfig).map_err(|error| error.to_string())?;
    let mut config = kube::Config::from_custom_kubeconfig(read, &KubeConfigOptions::default())
        .await
        .map_err(|error| error.to_string())?;
    // A proxy of the host has no business between us and loopback.
    config.proxy_url = None;
    Client::try_from(config).map_err(|error| error.to_string())
}

/// Calls `probe` until it answers true.
pub(super) async fn until<F, P>(mut probe: P)
where
    P: FnMut() -> F,
    F: Future<Output = bool>,
{
    let mut pause = SHORTEST;
    while !probe().await {
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST);
    }
}

/// Completes when a program has died this often.
pub(super) async fn died(mut deaths: watch::Receiver<u32>, times: u32) {
    if deaths.wait_for(|deaths| *deaths >= times).await.is_err() {
        std::future::pending::<()>().await;
    }
}

pub(super) async fn socket(path: PathBuf) {
    until(|| async { tokio::net::UnixStream::connect(&path).await.is_ok() }).await;
}

pub(super) async fn api_server(client: &Client) {
    until(|| async {
        let request = http::Request::get("/readyz").body(Vec::new());
        match request {
            Ok(request) => client.request_text(request).await.is_ok(),
            Err(_) => false,
        }
    })
    .await;
}

/// The controller manager's first work that a trainee's pods need.
pub(super) async fn default_service_account(client: &Client) {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
    until(|| async { matches!(accounts.get_opt("default").await, Ok(Some(_))) }).await;
}
