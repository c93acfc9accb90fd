//! Terminals through a real WebSocket to a real shell.

use futures::{SinkExt as _, StreamExt as _};
use http::StatusCode;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::site::Site;
use crate::web::guard::SESSION_COOKIE;
use crate::web::terminal::protocol::{FromPage, Hello, ToPage};

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

pub(super) async fn served(site: &Site) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = site.router.clone();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

pub(super) async fn connect(
    address: &str,
    origin: &str,
    cookie: Option<&str>,
    number: u32,
) -> Result<Socket, StatusCode> {
    let mut request = format!("ws://{address}/terminals/{number}/socket")
        .into_client_request()
        .unwrap();
    request
        .headers_mut()
        .insert("origin", origin.parse().unwrap());
    if let Some(cookie) = cookie {
        request
            .headers_mut()
            .insert("cookie", cookie.parse().unwrap());
    }
    match tokio_tungstenite::connect_async(request).await {
        Ok((socket, _)) => Ok(socket),
        Err(Error::Http(response)) => Err(response.status()),
        Err(other) => panic!("{other}"),
    }
}

fn hello(token: String) -> Message {
    let hello = Hello {
        token,
        page: "p".to_owned(),
        shell: None,
        received: 0,
        cols: 90,
        rows: 30,
    };
    Message::Binary(FromPage::Hello(hello).encode().into())
}

/// Frames of one kind, without the kind byte, until `done` says that they are enough.
async fn read(socket: &mut Socket, kind: u8, done: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !done(&bytes) {
        let Message::Binary(frame) = socket.next().await.unwrap().unwrap() else {
            continue;
        };
        if frame[0] == kind {
            bytes.extend(frame.iter().skip(if kind == 18 { 9 } else { 1 }));
        }
    }
    bytes
}

fn kind_of(frame: &ToPage) -> u8 {
    frame.encode()[0]
}

#[tokio::test]
async fn a_shell_is_opened_typed_into_and_closed() {
    let site = Site::new().await;
    let address = served(&site).await;
    let (status, tab) = site
        .call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    assert_eq!((status, &tab["number"]), (StatusCode::CREATED, &json!(1)));
    let cookie = format!("{SESSION_COOKIE}={}", site.secret.session());
    let origin = format!("http://{address}");
    let mut socket = connect(&address, &origin, Some(&cookie), 1).await.unwrap();
    socket.send(hello(site.secret.token())).await.unwrap();
    let output = kind_of(&ToPage::Output {
        at: 0,
        bytes: Vec::new(),
    });
    let keys = FromPage::Input {
        id: 1,
        bytes: b"stty size; echo $((6*7))\r".to_vec(),
    };
    socket
        .send(Message::Binary(keys.encode().into()))
        .await
        .unwrap();
    let has = |bytes: &[u8], text: &str| String::from_utf8_lossy(bytes).contains(text);
    read(&mut socket, output, |bytes| {
        has(bytes, "30 90") && has(bytes, "\n42")
    })
    .await;

    assert_eq!(
        site.call("GET", "/terminals", &json!(null)).await.1,
        json!([{ "number": 1 }])
    );
    assert_eq!(
        site.call("DELETE", "/terminals/1", &json!(null)).await.0,
        StatusCode::NO_CONTENT
    );
    let ended = read(&mut socket, 24, |bytes| !bytes.is_empty()).await;
    assert_eq!(
        serde_json::from_slice::<serde_json::Value>(&ended).unwrap()["reason"],
        "closed"
    );
    assert_eq!(
        site.call("DELETE", "/terminals/1", &json!(null)).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_terminal_is_not_opened_for_strangers() {
    let site = Site::new().await;
    let address = served(&site).await;
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    let cookie = format!("{SESSION_COOKIE}={}", site.secret.session());
    let ours = format!("http://{address}");
    for (origin, cookie) in [
        ("https://evil.example", Some(cookie.as_str())),
        (ours.as_str(), None),
        (ours.as_str(), Some("atelier-session=0")),
    ] {
        assert_eq!(
            connect(&address, origin, cookie, 1).await.unwrap_err(),
            StatusCode::FORBIDDEN,
            "{origin} {cookie:?}"
        );
    }
    for (token, number, reason) in [
        ("0".to_owned(), 1, "token"),
        (site.secret.token(), 9, "unknown-terminal"),
    ] {
        let mut socket = connect(&address, &ours, Some(&cookie), number)
            .await
            .unwrap();
        socket.send(hello(token)).await.unwrap();
        let refused = read(&mut socket, 25, |bytes| !bytes.is_empty()).await;
        assert_eq!(
            serde_json::from_slice::<serde_json::Value>(&refused).unwrap()["reason"],
            reason
        );
    }
    site.app.terminals().close_all("test");
}

#[tokio::test]
async fn ten_terminals_are_enough() {
    let site = Site::new().await;
    for _ in 0..10 {
        assert_eq!(
            site.call("POST", "/terminals", &json!({ "lab": "essai" }))
                .await
                .0,
            StatusCode::CREATED
        );
    }
    let (status, body) = site
        .call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert!(
        body["message"].as_str().unwrap().contains("Dix terminaux"),
        "{body}"
    );
    site.app.terminals().close_all("test");
}
