use axum::body::Body;
use http::{Request, StatusCode};

use super::site::{HOST, PAGES, Page, Site};
use crate::web::state::PublicAddress;

#[tokio::test]
async fn every_answer_carries_the_headers() {
    let site = Site::new().await;
    let others = ["/healthz", "/assets/app.0123456789abcdef.js"];
    for path in PAGES.into_iter().chain(others) {
        let page = site.get(path).await;
        let policy = page.header("content-security-policy");
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"),
            "{policy}"
        );
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        assert_eq!(page.header("referrer-policy"), "same-origin");
    }
}

#[tokio::test]
async fn pages_obey_their_own_policy() {
    let site = Site::new().await;
    for path in PAGES {
        let page = site.get(path).await;
        assert_eq!(
            page.all("style, [style], script:not([src]):not([type='application/json'])"),
            [] as [&str; 0],
            "{path}"
        );
        let handlers = ["onclick", "onload", "onerror", "onsubmit"];
        assert!(
            handlers.iter().all(|name| !page.text.contains(name)),
            "{path}"
        );
        let foreign = page
            .attributes("script, img, link", "src")
            .into_iter()
            .chain(page.attributes("link", "href"));
        assert!(
            foreign.into_iter().all(|url| url.starts_with("/assets/")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_nonce_is_new_each_time_and_matches_the_policy() {
    let site = Site::new().await;
    let (first, second) = (site.get("/").await, site.get("/").await);
    let nonce = |page: &Page| {
        page.attributes("meta[name='atelier-style-nonce']", "content")
            .remove(0)
    };
    assert_ne!(nonce(&first), nonce(&second));
    assert!(
        first
            .header("content-security-policy")
            .contains(&format!("'nonce-{}'", nonce(&first)))
    );
}

#[tokio::test]
async fn the_session_is_given_once_and_hidden_from_scripts() {
    let site = Site::new().await;
    let request = Request::get("/")
        .header("host", HOST)
        .body(Body::empty())
        .unwrap();
    let first = Page::read(site.send(request).await).await;
    let expected = format!(
        "atelier-session={}; Path=/; HttpOnly; SameSite=Strict",
        site.secret.session()
    );
    assert_eq!(first.header("set-cookie"), expected);
    assert_eq!(site.get("/").await.headers.get("set-cookie"), None);
    assert!(!first.text.contains(&site.secret.session()));
}

#[tokio::test]
async fn other_names_are_not_served() {
    let site = Site::new().await;
    for path in ["/", "/events?view=home", "/assets/app.0123456789abcdef.js"] {
        let request = Request::get(path)
            .header("host", "evil.example:8080")
            .body(Body::empty())
            .unwrap();
        assert_eq!(
            site.send(request).await.status(),
            StatusCode::MISDIRECTED_REQUEST,
            "{path}"
        );
    }
}

#[tokio::test]
async fn nothing_is_done_for_pages_of_other_sites() {
    let site = Site::new().await;
    let token = site.secret.token();
    let (ours, form) = (
        format!("http://{HOST}"),
        "application/x-www-form-urlencoded",
    );
    let attempts = [
        ("no origin", "", form, format!("token={token}")),
        (
            "another origin",
            "https://evil.example",
            form,
            format!("token={token}"),
        ),
        ("no token", &ours, form, "lab=essai".to_owned()),
        (
            "an old token",
            &ours,
            form,
            format!("token={}", "0".repeat(64)),
        ),
        (
            "token of the wrong kind",
            &ours,
            "text/plain",
            format!("token={token}"),
        ),
    ];
    for (what, origin, kind, body) in attempts {
        let mut request = site
            .request("POST", "/environment/create")
            .header("content-type", kind);
        if !origin.is_empty() {
            request = request.header("origin", origin);
        }
        let response = site.send(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{what}");
    }
    let without_session = Request::post("/environment/create")
        .header("host", HOST)
        .header("origin", &ours)
        .header("content-type", form)
        .body(Body::from(format!("token={token}")))
        .unwrap();
    assert_eq!(
        site.send(without_session).await.status(),
        StatusCode::FORBIDDEN
    );
    assert!(site.desk.acts.lock().is_empty());
    assert_eq!(
        site.submit("/environment/create", "lab=essai")
            .await
            .status(),
        StatusCode::SEE_OTHER
    );
}

#[tokio::test]
async fn long_bodies_are_refused() {
    let site = Site::new().await;
    let long = serde_json::json!({ "question": "mot", "value": "x".repeat(70_000) });
    let (status, _) = site.call("POST", "/labs/essai/answers", &long).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let answer = site
        .submit("/environment/create", &"x".repeat(70_000))
        .await;
    assert!(answer.status().is_client_error());
}

#[tokio::test]
async fn files_are_kept_for_ever_and_come_compressed() {
    let site = Site::new().await;
    let path = "/assets/app.0123456789abcdef.js";
    for (accepted, encoding, body) in [
        ("gzip, br", "br", "brotli"),
        ("gzip", "gzip", "gzip"),
        ("", "", "plain app.0123456789abcdef.js"),
    ] {
        let request = site
            .request("GET", path)
            .header("accept-encoding", accepted)
            .body(Body::empty())
            .unwrap();
        let file = Page::read(site.send(request).await).await;
        assert_eq!(
            (file.header("content-encoding"), file.text.as_str()),
            (encoding, body)
        );
        assert_eq!(
            file.header("cache-control"),
            "public, max-age=31536000, immutable"
        );
        assert_eq!(
            file.header("content-type"),
            "text/javascript; charset=utf-8"
        );
    }
    assert_eq!(
        site.get("/assets/app.js").await.status,
        StatusCode::NOT_FOUND
    );
    assert_eq!(
        site.get("/assets/..%2Fsecret").await.status,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn behind_a_proxy_links_and_cookies_have_its_prefix() {
    let address = PublicAddress::parse("https://cours.example/formation/").unwrap();
    let site = Site::at(address).await;
    let request = |path: &str| {
        Request::get(path)
            .header("host", "cours.example")
            .body(Body::empty())
            .unwrap()
    };
    // Proxies hand paths over with their prefix or without.
    for path in ["/formation/labs/essai/compter", "/labs/essai/compter"] {
        let page = Page::read(site.send(request(path)).await).await;
        assert_eq!(page.status, StatusCode::OK, "{path}");
        let links = page.attributes(".top a[href^='/'], .turn a, .step", "href");
        assert!(
            links.iter().all(|link| link.starts_with("/formation/")),
            "{links:?}"
        );
        assert_eq!(
            page.attributes("meta[name='atelier-base']", "content"),
            ["/formation"]
        );
        let cookie = page.header("set-cookie");
        assert!(
            cookie.contains("; Path=/formation;") && cookie.ends_with("; Secure"),
            "{cookie}"
        );
    }
    let redirect = Page::read(site.send(request("/labs/essai")).await).await;
    assert_eq!(redirect.header("location"), "/formation/labs/essai/compter");
}
