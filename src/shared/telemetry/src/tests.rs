//! The small promises of this crate, as tables.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use tower::ServiceExt;
use tracing::level_filters::LevelFilter;

use crate::metrics::{Gauge, Gauges, Registry};
use crate::{address, health, logging, metrics};

#[test]
fn bind_addresses_are_read_the_go_way() {
    let cases = [
        ("every address", ":8443", Some("0.0.0.0:8443")),
        ("loopback", "127.0.0.1:80", Some("127.0.0.1:80")),
        ("six", "[::1]:80", Some("[::1]:80")),
        ("off by zero", "0", None),
        ("off by nothing", "", None),
    ];
    for (name, text, want) in cases {
        let got = address::parse_bind(text).unwrap().map(|a| a.to_string());
        assert_eq!(got.as_deref(), want, "{name}");
    }
    assert!(address::parse_bind("8443").is_err());
    assert!(address::parse_bind("nowhere:x").is_err());
}

#[test]
fn log_levels_are_read_as_zap_does() {
    for (text, want) in [
        ("info", LevelFilter::INFO),
        ("2", LevelFilter::DEBUG),
        ("5", LevelFilter::TRACE),
        ("panic", LevelFilter::ERROR),
    ] {
        assert_eq!(logging::parse_level(text).unwrap(), want, "{text}");
    }
    assert!(logging::parse_level("0").is_err());
    assert!(logging::parse_level("loud").is_err());
    assert!(logging::parse_encoder("xml").is_err());
}

async fn get(router: axum::Router, path: &str) -> (StatusCode, String) {
    let answer = router
        .oneshot(Request::get(path).body(Body::empty()).unwrap())
        .await
        .unwrap();
    let status = answer.status();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn readiness_names_what_is_missing() {
    let ready = health::Readiness::default();
    let (watches, certificate) = (ready.check("watches"), ready.check("certificate"));
    watches.set(true);
    let router = health::router("healthz", "readyz", &ready);
    assert_eq!(
        get(router.clone(), "/healthz").await,
        (StatusCode::OK, "ok\n".to_owned())
    );
    assert_eq!(
        get(router.clone(), "/readyz").await,
        (
            StatusCode::SERVICE_UNAVAILABLE,
            "not ready: certificate\n".to_owned()
        )
    );
    certificate.set(true);
    assert_eq!(get(router, "/readyz").await.0, StatusCode::OK);
}

struct Two;

impl Gauges for Two {
    fn gauges(&self) -> Vec<Gauge> {
        vec![
            Gauge {
                name: "pending",
                help: "Waiting",
                samples: vec![(vec![("queue", "a".to_owned())], 2.0)],
            },
            Gauge {
                name: "silent",
                help: "Nothing",
                samples: vec![],
            },
        ]
    }
}

#[tokio::test]
async fn exposition_has_counters_histograms_and_scraped_gauges() {
    let mut registry = Registry::default();
    let counter = metrics::register_counter(&mut registry, "done", "Done things");
    let wait = metrics::register_histogram(
        &mut registry,
        "wait_seconds",
        "Waiting time",
        vec![1.0, 2.5],
    );
    metrics::register_gauges(&mut registry, Arc::new(Two));
    counter.with(&vec![("queue", "a".to_owned())]).inc();
    counter.with(&vec![("queue", "b".to_owned())]).inc();
    counter.forget(&[("queue", "b")]);
    wait.with(&vec![]).observe(2.0);
    let (_, text) = get(metrics::router(Arc::new(registry)), "/metrics").await;
    expect_lines(
        &text,
        &[
            "done_total{queue=\"a\"} 1",
            "wait_seconds_bucket{le=\"2.5\"} 1",
            "pending{queue=\"a\"} 2.0",
            "# EOF",
        ],
    );
    assert!(
        !text.contains("silent") && !text.contains("queue=\"b\""),
        "{text}"
    );
}

fn expect_lines(text: &str, wanted: &[&str]) {
    for line in wanted {
        assert!(
            text.lines().any(|l| l == *line),
            "{line} is missing in\n{text}"
        );
    }
}
