//! The CA bundle in webhook configurations, aggregated APIs and custom resource definitions.

use serde_json::json;

use super::bundle::{aggregated, conversion, patch, webhooks};

#[test]
fn every_webhook_that_is_a_service_trusts_the_bundle() {
    let service = |ca: Option<&str>| json!({"name": "m", "clientConfig": {"service": {"name": "s"}, "caBundle": ca}});
    let url = json!({"name": "u", "clientConfig": {"url": "https://elsewhere"}});
    let configuration = |ca: Option<&str>| json!({"webhooks": [service(ca), url]});
    let patched = patch(&configuration(None), Some("7"), "pem", webhooks).unwrap();
    assert_eq!(patched["webhooks"][0]["clientConfig"]["caBundle"], "cGVt");
    assert_eq!(patched["webhooks"][1], url, "not ours to change");
    assert_eq!(patched["metadata"]["resourceVersion"], "7");
    assert!(
        patch(&configuration(Some("cGVt")), Some("7"), "pem", webhooks).is_none(),
        "nothing to do"
    );
    assert!(patch(&json!({}), None, "pem", webhooks).is_none());
}

#[test]
fn an_aggregated_api_is_checked_from_then_on() {
    let api = |spec: serde_json::Value| json!({ "spec": spec });
    let service = json!({"name": "kueue-visibility-server"});
    let open = api(json!({"service": service, "insecureSkipTLSVerify": true}));
    let patched = patch(&open, None, "pem", aggregated).unwrap();
    assert_eq!(
        patched["spec"],
        json!({"caBundle": "cGVt", "insecureSkipTLSVerify": false})
    );
    let done = api(json!({"service": service, "caBundle": "cGVt"}));
    assert!(patch(&done, None, "pem", aggregated).is_none());
    let local = api(json!({"version": "v1"}));
    assert!(
        patch(&local, None, "pem", aggregated).is_none(),
        "served by the API server itself"
    );
}

#[test]
fn conversions_trust_the_bundle_where_there_are_any() {
    let client = |ca: Option<&str>| json!({"spec": {"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {"service": {}, "caBundle": ca}}}}});
    let patched = patch(&client(None), None, "pem", conversion).unwrap();
    assert_eq!(
        patched["spec"]["conversion"]["webhook"]["clientConfig"],
        json!({"caBundle": "cGVt"})
    );
    assert!(patch(&client(Some("cGVt")), None, "pem", conversion).is_none());
    let none = json!({"spec": {"conversion": {"strategy": "None"}}});
    assert!(patch(&none, None, "pem", conversion).is_none());
}
