//! The CA bundle in webhook configurations.

use serde_json::json;

use super::bundle::patch;

#[test]
fn every_webhook_that_is_a_service_trusts_the_bundle() {
    let service = |ca: Option<&str>| json!({"name": "m", "clientConfig": {"service": {"name": "s"}, "caBundle": ca}});
    let url = json!({"name": "u", "clientConfig": {"url": "https://elsewhere"}});
    let configuration = |ca: Option<&str>| json!({"webhooks": [service(ca), url]});
    let patched = patch(&configuration(None), Some("7"), "pem").unwrap();
    assert_eq!(patched["webhooks"][0]["clientConfig"]["caBundle"], "cGVt");
    assert_eq!(patched["webhooks"][1], url, "not ours to change");
    assert_eq!(patched["metadata"]["resourceVersion"], "7");
    assert!(
        patch(&configuration(Some("cGVt")), Some("7"), "pem").is_none(),
        "nothing to do"
    );
    assert!(patch(&json!({}), None, "pem").is_none());
}
