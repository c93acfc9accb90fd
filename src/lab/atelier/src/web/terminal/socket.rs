//! Terminal frames over a WebSocket: greeting first, then two pumps, pings both ways.

use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket};
use futures::stream::{SplitSink, SplitStream};
use futures::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::attach::{Link, serve};
use super::protocol::{FromPage, Hello, Refused, ToPage};
use super::registry::Terminals;
use crate::web::secret::Secret;

/// The longest frame that a page may send.
pub const FRAME_LIMIT: usize = 64 * 1024;
/// Proxies cut what is silent for a minute.
const PING_EVERY: Duration = Duration::from_secs(15);
const GREETING_WITHIN: Duration = Duration::from_secs(10);
const FRAMES: usize = 16;
/// A page that takes nothing for this long is gone.
const WRITE_WITHIN: Duration = Duration::from_secs(20);

/// Serves one connection to terminal `number` until either side has enough.
pub async fn run(socket: WebSocket, terminals: Terminals, number: u32, secret: Secret) {
    let (mut sink, mut stream) = socket.split();
    let Some(hello) = greeting(&mut stream).await else {
        return;
    };
    if !secret.is_token(&hello.token) {
        return refuse(&mut sink, "token").await;
    }
    let Some(session) = terminals.get(number) else {
        return refuse(&mut sink, "unknown-terminal").await;
    };
    let (to_attach, from_page) = mpsc::channel(FRAMES);
    let (to_page, from_attach) = mpsc::channel(FRAMES);
    tokio::join!(
        // When the view ends, its channel closes, and with it both pumps.
        serve(session, hello, Link { from_page, to_page }),
        pump_in(stream, to_attach),
        pump_out(sink, from_attach),
    );
}

async fn greeting(stream: &mut SplitStream<WebSocket>) -> Option<Hello> {
    let first = timeout(GREETING_WITHIN, next_frame(stream)).await.ok()??;
    match first {
        FromPage::Hello(hello) => Some(hello),
        _ => None,
    }
}

async fn refuse(sink: &mut SplitSink<WebSocket, Message>, reason: &str) {
    let frame = ToPage::Refused(Refused {
        reason: reason.to_owned(),
    })
    .encode();
    let close = CloseFrame {
        code: 4000,
        reason: reason.into(),
    };
    if sink.send(Message::Binary(frame.into())).await.is_ok() {
        // The page may have gone meanwhile; there is nobody left to tell.
        let _gone = sink.send(Message::Close(Some(close))).await;
    }
}

/// The next terminal frame; `None` at the end, or when the page breaks the rules.
async fn next_frame(stream: &mut SplitStream<WebSocket>) -> Option<FromPage> {
    while let Some(Ok(message)) = stream.next().await {
        match message {
            Message::Binary(bytes) => {
                return FromPage::decode(&bytes)
                    .inspect_err(|error| tracing::warn!(%error, "closing"))
                    .ok();
            }
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Text(_) | Message::Close(_) => return None,
        }
    }
    None
}

async fn pump_in(mut stream: SplitStream<WebSocket>, to_attach: mpsc::Sender<FromPage>) {
    loop {
        let frame = tokio::select! {
            frame = next_frame(&mut stream) => frame,
            () = to_attach.closed() => None,
        };
        let Some(frame) = frame else { return };
        if to_attach.send(frame).await.is_err() {
            return;
        }
    }
}

async fn pump_out(
    mut sink: SplitSink<WebSocket, Message>,
    mut from_attach: mpsc::Receiver<ToPage>,
) {
    let mut pings = interval(PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            frame = from_attach.recv() => frame.map(|frame| Message::Binary(frame.encode().into())),
            _ = pings.tick() => Some(Message::Ping(Vec::new().into())),
        };
        let Some(message) = message else { break };
        if !matches!(timeout(WRITE_WITHIN, sink.send(message)).await, Ok(Ok(()))) {
            return;
        }
    }
    // The other side may be gone already.
    let _gone = timeout(WRITE_WITHIN, sink.close()).await;
}
