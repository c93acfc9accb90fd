//! Platform case 053: proxies cut what is silent for a minute, so nothing is silent that long. These tests wait for
//! the heartbeats themselves, which takes a quarter of a minute; how long is not asserted.

use axum::body::Body;
use futures::StreamExt as _;
use serde_json::json;

use super::site::Site;
use super::sockets::served;
use super::wire::{Came, Page, Seen};
use crate::web::terminal::protocol::FromPage;

#[tokio::test]
async fn an_idle_terminal_is_pinged_and_then_answers_as_before() {
    let site = Site::new().await;
    let server = served(&site).await;
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    let mut page = Page::open(&site, &server, "a", Seen::default()).await;
    // One ping comes with the connection, the next only because nothing happens.
    assert_eq!(page.until(|page| page.server_pings >= 2).await, Came::Asked);
    page.send(FromPage::Ping(9)).await;
    page.key(1, "echo \"still-$((40+2))\"\r").await;
    assert_eq!(
        page.until(|page| page.pong == 9 && page.seen.count("still-42") == 1)
            .await,
        Came::Asked
    );
    site.app.terminals().close_all("test");
}

#[tokio::test]
async fn an_idle_stream_of_verdicts_sends_comments() {
    let site = Site::new().await;
    let request = site
        .request("GET", "/events?view=home")
        .body(Body::empty())
        .unwrap();
    let mut stream = site.send(request).await.into_body().into_data_stream();
    loop {
        let chunk = stream.next().await.expect("the stream lasts").unwrap();
        if chunk.starts_with(b":") {
            return;
        }
    }
}
