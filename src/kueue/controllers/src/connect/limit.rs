//! How fast requests go out (`clientConnection` of the configuration): so many a second on average for each kind of object, and so many
//! at once. Without a limit requests pass as they come. The lease never waits: a leader must not lose it to its own zeal.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::http::Request;
use parking_lot::Mutex;
use tokio::time::Instant;
use tower::{Layer, Service};

#[cfg(test)]
mod tests;

/// Requests a second on average, and at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    pub qps: f64,
    pub burst: f64,
}

/// Requests that may go out now, and when that was counted.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    fn full(limit: Limit, now: Instant) -> Self {
        Self {
            left: limit.burst,
            at: now,
        }
    }

    /// Takes one request, maybe one of the future: how long it has to wait.
    fn take(&mut self, limit: Limit, now: Instant) -> Duration {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.left = (self.left + passed * limit.qps).min(limit.burst) - 1.0;
        self.at = now;
        if self.left >= 0.0 {
            Duration::ZERO
        } else {
            Duration::from_secs_f64(-self.left / limit.qps)
        }
    }
}

/// Group and resource of a request's path; none for what never waits.
fn kind_of(path: &str) -> Option<(&str, &str)> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (group, rest) = match *parts.as_slice() {
        ["api", _, ref rest @ ..] => ("", rest),
        ["apis", group, _, ref rest @ ..] => (group, rest),
        _ => return None,
    };
    let (["namespaces", _, resource, ..] | [resource, ..]) = *rest else {
        return None;
    };
    (resource != "leases").then_some((group, resource))
}

/// The limit as a layer of the client.
#[derive(Clone, Debug)]
pub struct LimitLayer {
    limit: Limit,
    buckets: Arc<Mutex<BTreeMap<(String, String), Bucket>>>,
}

impl LimitLayer {
    /// None where there is no limit.
    #[must_use]
    pub fn new(qps: f32, burst: u32) -> Option<Self> {
        (qps > 0.0).then(|| Self {
            limit: Limit {
                qps: f64::from(qps),
                burst: f64::from(burst.max(1)),
            },
            buckets: Arc::default(),
        })
    }

    fn wait(&self, path: &str) -> Duration {
        let Some((group, resource)) = kind_of(path) else {
            return Duration::ZERO;
        };
        let now = Instant::now();
        let mut buckets = self.buckets.lock();
        let bucket = buckets
            .entry((group.to_owned(), resource.to_owned()))
            .or_insert_with(|| Bucket::full(self.limit, now));
        bucket.take(self.limit, now)
    }
}

impl<S> Layer<S> for LimitLayer {
    type Service = Limited<S>;

    fn layer(&self, inner: S) -> Limited<S> {
        Limited {
            inner: Arc::new(Mutex::new(inner)),
            layer: self.clone(),
        }
    }
}

/// A client whose requests wait for their turn. Making a request is quick, so those whose turn has come share the client by a lock.
#[derive(Debug)]
pub struct Limited<S> {
    inner: Arc<Mutex<S>>,
    layer: LimitLayer,
}

impl<S, B> Service<Request<B>> for Limited<S>
where
    S: Service<Request<B>> + Send + 'static,
    S::Future: Send,
    S::Error: Send,
    B: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.lock().poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let wait = self.layer.wait(request.uri().path());
        if wait.is_zero() {
            return Box::pin(self.inner.lock().call(request));
        }
        let inner = self.inner.clone();
        Box::pin(async move {
            tokio::time::sleep(wait).await;
            let mut request = Some(request);
            // Somebody else may have used the readiness that was there before.
            let called = poll_fn(|context| {
                let mut inner = inner.lock();
                ready!(inner.poll_ready(context))?;
                Poll::Ready(Ok(request.take().map(|request| inner.call(request))))
            });
            match called.await? {
                Some(answer) => answer.await,
                None => std::future::pending().await,
            }
        })
    }
}
