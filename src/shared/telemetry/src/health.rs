//! `/healthz` and `/readyz`: named conditions that must hold, each answered with one line.
//! A check is a flag that its owner raises or lowers; nothing is computed while a probe waits.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio_util::sync::CancellationToken;

/// A condition of readiness, held by the part that knows it.
#[derive(Clone, Debug)]
pub struct Check(Arc<AtomicBool>);

impl Check {
    /// Says whether the condition holds now.
    pub fn set(&self, holds: bool) {
        self.0.store(holds, Ordering::Release);
    }

    /// Whether the condition holds.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// All conditions a process must meet before it is ready.
#[derive(Clone, Debug, Default)]
pub struct Readiness {
    checks: Arc<Mutex<Vec<(String, Check)>>>,
}

impl Readiness {
    /// Adds a condition, not yet met.
    #[must_use]
    pub fn check(&self, name: &str) -> Check {
        let check = Check(Arc::new(AtomicBool::new(false)));
        let mut checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks.push((name.to_owned(), check.clone()));
        check
    }

    /// Names of the conditions not met, in the order they were added.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let checks = self.checks.lock().unwrap_or_else(PoisonError::into_inner);
        checks
            .iter()
            .filter(|(_, check)| !check.holds())
            .map(|(name, _)| name.clone())
            .collect()
    }
}

/// The two probe endpoints under the given names (usually `healthz` and `readyz`).
pub fn router(liveness: &str, readiness: &str, ready: &Readiness) -> Router {
    let ready = ready.clone();
    let answer = move || {
        let missing = ready.missing();
        std::future::ready(if missing.is_empty() {
            (StatusCode::OK, "ok\n".to_owned())
        } else {
            (
                StatusCode::SERVICE_UNAVAILABLE,
                format!("not ready: {}\n", missing.join(", ")),
            )
        })
    };
    Router::new()
        .route(&path(liveness), get(|| std::future::ready("ok\n")))
        .route(&path(readiness), get(answer))
}

fn path(name: &str) -> String {
    format!("/{}", name.trim_start_matches('/'))
}

/// Serves a router over plain HTTP until `stop`.
pub async fn serve(
    address: SocketAddr,
    router: Router,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, router)
        .with_graceful_shutdown(stop.cancelled_owned())
        .await
}
