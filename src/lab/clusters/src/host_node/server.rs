//! The kubelet endpoint: what `kubectl logs` reaches. It answers for every node of the environment, because simulated
//! nodes have none of their own; for their pods it says so.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use jiff::{SignedDuration, Timestamp};
use tokio::net::UnixStream;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use super::Context;
use super::logs::{Cursor, Query};
use super::tls::Acceptor;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

const SIMULATED: &str = "Ce pod est simulé : aucun conteneur ne s'exécute, il n'y a donc pas de journal. / This pod is simulated: no container runs, so there is no log.\n";
const NOT_HERE: &str =
    "exec, attach and port-forward are not part of this course's cluster; kubectl logs is\n";

/// Serves until cancelled.
pub(super) async fn serve(
    context: Arc<Context>,
    mut connections: mpsc::Receiver<UnixStream>,
    tls: Acceptor,
    cancel: CancellationToken,
) {
    loop {
        let stream = tokio::select! {
            () = cancel.cancelled() => return,
            stream = connections.recv() => stream,
        };
        let Some(stream) = stream else { return };
        let (context, tls, cancel) = (context.clone(), tls.clone(), cancel.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = cancel.cancelled() => {}
                () = connection(context, stream, tls) => {}
            }
        });
    }
}

async fn connection(context: Arc<Context>, stream: UnixStream, tls: Acceptor) {
    let stream = match tls.accept(stream).await {
        Ok(stream) => stream,
        Err(error) => return debug!(%error, "a connection to the kubelet endpoint"),
    };
    let service = service_fn(move |request| {
        let answer = answer(&context, &request);
        async move { Ok::<_, Infallible>(answer) }
    });
    if let Err(error) = http1::Builder::new()
        .serve_connection(TokioIo::new(stream), service)
        .await
    {
        debug!(%error, "the kubelet endpoint");
    }
}

fn answer(context: &Context, request: &Request<Incoming>) -> Answer {
    let parts: Vec<&str> = request.uri().path().trim_matches('/').split('/').collect();
    match (request.method(), parts.as_slice()) {
        (&Method::GET, ["healthz"]) => text(StatusCode::OK, "ok"),
        (&Method::GET, ["containerLogs", namespace, pod, container]) => {
            let key = (
                (*namespace).to_owned(),
                (*pod).to_owned(),
                (*container).to_owned(),
            );
            match query(request.uri().query().unwrap_or_default(), context.now()) {
                Ok((query, previous)) => logs(context, &key, query, previous),
                Err(why) => text(StatusCode::BAD_REQUEST, &why),
            }
        }
        (_, ["exec" | "attach" | "portForward" | "run", ..]) => {
            text(StatusCode::NOT_IMPLEMENTED, NOT_HERE)
        }
        _ => text(StatusCode::NOT_FOUND, "not found\n"),
    }
}

fn logs(
    context: &Context,
    key: &super::logs::ContainerKey,
    query: Query,
    previous: bool,
) -> Answer {
    match context.logs.find(key, previous) {
        None => text(StatusCode::OK, SIMULATED),
        Some(None) => {
            let which = if previous {
                "previous terminated container"
            } else {
                "container"
            };
            let why = format!("{which} {:?} in pod {:?} has no log yet\n", key.2, key.1);
            text(StatusCode::BAD_REQUEST, &why)
        }
        Some(Some(log)) => {
            let pieces =
                futures::stream::unfold(Cursor::new(log, query), |mut cursor| async move {
                    cursor
                        .next()
                        .await
                        .map(|piece| (Bytes::from(piece), cursor))
                });
            streamed(pieces.boxed())
        }
    }
}

/// The query of `kubectl logs`; the second value says whether the previous run is meant.
fn query(text: &str, now: Timestamp) -> Result<(Query, bool), String> {
    let pairs: BTreeMap<&str, &str> = text
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let flag = |name: &str| {
        pairs
            .get(name)
            .is_some_and(|value| matches!(*value, "true" | "1"))
    };
    let number = |name: &str| match pairs.get(name) {
        Some(value) => value
            .parse::<usize>()
            .map(Some)
            .map_err(|_| format!("{name}={value} is not a number\n")),
        None => Ok(None),
    };
    let since = match (pairs.get("sinceTime"), number("sinceSeconds")?) {
        (Some(time), _) => {
            let time = time.replace("%3A", ":").replace("%2B", "+");
            Some(
                time.parse::<Timestamp>()
                    .map_err(|_| format!("sinceTime={time} is not a time\n"))?,
            )
        }
        (None, Some(seconds)) => {
            let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
            Some(
                now.checked_sub(SignedDuration::from_secs(seconds))
                    .unwrap_or(Timestamp::MIN),
            )
        }
        (None, None) => None,
    };
    let query = Query {
        follow: flag("follow"),
        timestamps: flag("timestamps"),
        tail: number("tailLines")?,
        since,
        limit_bytes: number("limitBytes")?,
    };
    Ok((query, flag("previous")))
}

fn text(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text.to_owned())).boxed_unsync());
    *answer.status_mut() = status;
    answer
}

fn streamed(pieces: BoxStream<'static, Bytes>) -> Answer {
    let frames = pieces.map(|piece| Ok::<_, Infallible>(Frame::data(piece)));
    Response::new(StreamBody::new(frames).boxed_unsync())
}
