//! gRPC without generated code: a call, and an answer to one. What protoc would write for each method is here once.

use std::convert::Infallible;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use http::uri::PathAndQuery;
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

/// The other side is on the same machine: it answers at once or not at all.
const DEADLINE: Duration = Duration::from_secs(10);

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("connect to {socket}: {source}")]
    Connect {
        socket: String,
        source: tonic::transport::Error,
    },
    #[error("call {method}: {source}")]
    Call {
        method: &'static str,
        source: Box<Status>,
    },
}

/// Opens a channel to a unix socket.
///
/// # Errors
/// When nobody listens there.
pub async fn connect(socket: &Path) -> Result<Channel, CallError> {
    let failed = |source| CallError::Connect {
        socket: socket.display().to_string(),
        source,
    };
    let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()));
    let endpoint = endpoint.map_err(failed)?.connect_timeout(DEADLINE);
    endpoint.connect().await.map_err(failed)
}

/// Calls a method that answers once.
///
/// # Errors
/// When the other side refuses, or does not answer in time.
pub async fn call<Q, R>(channel: Channel, method: &'static str, request: Q) -> Result<R, CallError>
where
    Q: prost::Message + Send + Sync + 'static,
    R: prost::Message + Default + Send + Sync + 'static,
{
    let failed = |source| CallError::Call {
        method,
        source: Box::new(source),
    };
    let mut grpc = tonic::client::Grpc::new(channel);
    let ready = grpc.ready().await;
    ready.map_err(|error| failed(Status::unavailable(error.to_string())))?;
    let codec = ProstCodec::<Q, R>::default();
    let answer = grpc.unary(
        Request::new(request),
        PathAndQuery::from_static(method),
        codec,
    );
    let answer = tokio::time::timeout(DEADLINE, answer).await;
    let answer = answer.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer")));
    answer.map(Response::into_inner).map_err(failed)
}

/// Answers a call once.
///
/// # Errors
/// Never: a refusal is an answer too.
pub async fn answer<Q, R, F>(
    request: http::Request<Body>,
    act: impl Fn(Q) -> F,
) -> Result<http::Response<Body>, Infallible>
where
    Q: prost::Message + Default + Send + 'static,
    R: prost::Message + Send + 'static,
    F: Future<Output = Result<R, Status>>,
{
    let act = tower::service_fn(|request: Request<Q>| {
        let outcome = act(request.into_inner());
        async { outcome.await.map(Response::new) }
    });
    let mut grpc = tonic::server::Grpc::new(ProstCodec::<R, Q>::default());
    Ok(grpc.unary(act, request).await)
}

/// Answers a call with a stream.
///
/// # Errors
/// Never.
pub async fn answer_stream<Q, R, S>(
    request: http::Request<Body>,
    act: impl Fn(Q) -> S,
) -> Result<http::Response<Body>, Infallible>
where
    Q: prost::Message + Default + Send + 'static,
    R: prost::Message + Send + 'static,
    S: Stream<Item = Result<R, Status>> + Send + 'static,
{
    let act = tower::service_fn(|request: Request<Q>| {
        let stream = act(request.into_inner());
        async { Ok(Response::new(stream)) }
    });
    let mut grpc = tonic::server::Grpc::new(ProstCodec::<R, Q>::default());
    Ok(grpc.server_streaming(act, request).await)
}

/// Answers a call of a method that is not there.
#[must_use]
pub fn unknown_method() -> http::Response<Body> {
    Status::unimplemented("there is no such method").into_http()
}
