//! Platform case 067: what was open when its environment went, and what old keys still open.

use http::StatusCode;
use serde_json::json;

use super::site::Site;
use super::sockets::{connect, served};
use super::wire::{Came, Page, Seen};
use crate::web::desk::EnvironmentIs;
use crate::web::guard::SESSION_COOKIE;
use crate::web::secret::Secret;
use crate::web::terminal::protocol::FromPage;

#[tokio::test]
async fn deleting_the_environment_ends_its_terminals_with_a_reason() {
    let site = Site::new().await;
    let server = served(&site).await;
    site.desk.is(EnvironmentIs::Running);
    site.call("POST", "/terminals", &json!({ "lab": "essai" }))
        .await;
    let mut page = Page::open(&site, &server, "a", Seen::default()).await;
    page.key(1, "yes\r").await;
    page.until(|page| page.seen.count("y\r\ny\r\n") > 0).await;

    let answer = site.submit("/environment/delete", "lab=essai").await;
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    let Came::ShellEnded(ended) = page.until(|_| false).await else {
        panic!("no reason was given")
    };
    assert_eq!(ended.reason.as_deref(), Some("environment-reset"));
    // The connection still answers, so that output after the end would be seen.
    let (before, sent) = (page.seen.bytes.len(), FromPage::Ping(5));
    page.send(sent).await;
    assert_eq!(page.until(|page| page.pong == 5).await, Came::Asked);
    assert_eq!(page.seen.bytes.len(), before, "output after the end");

    assert_eq!(
        site.call("GET", "/terminals", &json!(null)).await.1,
        json!([])
    );
    let again = Page::greet(&site, &server, 1, "a", page.seen.clone()).await;
    assert_eq!(again.err().as_deref(), Some("unknown-terminal"));
}

#[tokio::test]
async fn keys_of_another_server_open_nothing() {
    let site = Site::new().await;
    let server = served(&site).await;
    let old = Secret::random();
    let origin = format!("http://{server}");
    let cookie = |secret: &Secret| format!("{SESSION_COOKIE}={}", secret.session());
    let refused = connect(&server, &origin, Some(&cookie(&old)), 1).await;
    assert_eq!(refused.unwrap_err(), StatusCode::FORBIDDEN);
    for (what, session, token) in [
        ("an old cookie", &old, &site.secret),
        ("an old token", &site.secret, &old),
    ] {
        let request = http::Request::post("/terminals")
            .header("host", super::site::HOST)
            .header("origin", format!("http://{}", super::site::HOST))
            .header("content-type", "application/json")
            .header("cookie", cookie(session))
            .header("x-atelier-token", token.token());
        let body = axum::body::Body::from(r#"{"lab":"essai"}"#);
        let answer = site.send(request.body(body).unwrap()).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{what}");
    }
    assert!(site.app.terminals().tabs().is_empty());
}
