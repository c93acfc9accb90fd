//! When a certificate is kept, and that a new one is believed by whom it should be.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::{CA, CERTIFICATE, Decision, KEY, decide, make};

fn now() -> Timestamp {
    "2026-11-30T20:00:00Z".parse().unwrap()
}

fn days(count: i64) -> Timestamp {
    now() + SignedDuration::from_hours(24 * count)
}

fn data() -> BTreeMap<String, Vec<u8>> {
    make("kueue-webhook-service", "kueue-system", now())
        .unwrap()
        .into_data()
}

#[test]
fn a_certificate_is_kept_while_it_does() {
    let with = |name: &str, value: &[u8]| {
        let mut data = data();
        data.insert(name.to_owned(), value.to_vec());
        data
    };
    let other = data();
    let cases = [
        ("fresh", data(), "kueue-webhook-service", now(), ""),
        (
            "after years",
            data(),
            "kueue-webhook-service",
            days(3500),
            "",
        ),
        (
            "near its end",
            data(),
            "kueue-webhook-service",
            days(3600),
            "tls.crt: invalid peer certificate",
        ),
        (
            "before it begins",
            data(),
            "kueue-webhook-service",
            days(-3),
            "tls.crt: invalid peer certificate",
        ),
        (
            "other Service",
            data(),
            "other",
            now(),
            "tls.crt: invalid peer certificate",
        ),
        (
            "nothing",
            BTreeMap::new(),
            "kueue-webhook-service",
            now(),
            "ca.crt is missing",
        ),
        (
            "empty key",
            with(KEY, b""),
            "kueue-webhook-service",
            now(),
            "tls.key is missing",
        ),
        (
            "nonsense",
            with(CERTIFICATE, b"x"),
            "kueue-webhook-service",
            now(),
            "certificate",
        ),
        (
            "key of another",
            with(KEY, &other[KEY]),
            "kueue-webhook-service",
            now(),
            "key",
        ),
        (
            "CA of another",
            with(CA, &other[CA]),
            "kueue-webhook-service",
            now(),
            "tls.crt: invalid peer certificate",
        ),
    ];
    for (name, data, service, at, want) in cases {
        match decide(&data, service, "kueue-system", at).unwrap() {
            Decision::Keep(ca) => {
                assert_eq!(want, "", "{name}");
                assert_eq!(ca.as_bytes(), data[CA], "{name}");
            }
            Decision::Make { why, .. } => {
                assert!(!want.is_empty() && why.contains(want), "{name}: {why}")
            }
        }
    }
}

#[test]
fn the_ca_before_stays_trusted_through_one_change() {
    let first = data();
    let Decision::Make { bundle, .. } =
        decide(&first, "kueue-webhook-service", "kueue-system", days(3600)).unwrap()
    else {
        panic!("kept")
    };
    assert!(
        bundle
            .ca
            .ends_with(std::str::from_utf8(&first[CA]).unwrap())
    );
    let second = bundle.into_data();
    assert!(matches!(
        decide(&second, "kueue-webhook-service", "kueue-system", days(3601)).unwrap(),
        Decision::Keep(_)
    ));
    let Decision::Make { bundle, .. } =
        decide(&second, "kueue-webhook-service", "kueue-system", days(7300)).unwrap()
    else {
        panic!("kept")
    };
    assert_eq!(
        bundle.ca.matches("BEGIN CERTIFICATE").count(),
        2,
        "only the last CA is carried on"
    );
}

#[test]
fn secrets_do_not_show() {
    let bundle = make("s", "n", now()).unwrap();
    assert!(!format!("{bundle:?}").contains("PRIVATE"));
}
