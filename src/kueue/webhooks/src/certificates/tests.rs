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

fn services(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

const OURS: [&str; 2] = ["kueue-webhook-service", "kueue-visibility-server"];

fn data() -> BTreeMap<String, Vec<u8>> {
    make(&services(&OURS), "kueue-system", now())
        .unwrap()
        .into_data()
}

/// The word of the decision: why a new certificate is made, or nothing when the present one is kept.
fn why(data: &BTreeMap<String, Vec<u8>>, names: &[&str], at: Timestamp) -> String {
    match decide(data, &services(names), "kueue-system", at).unwrap() {
        Decision::Keep(ca) => {
            assert_eq!(ca.as_bytes(), data[CA]);
            String::new()
        }
        Decision::Make { why, .. } => why,
    }
}

#[test]
fn a_certificate_is_kept_while_it_does() {
    let with = |name: &str, value: &[u8]| {
        let mut data = data();
        data.insert(name.to_owned(), value.to_vec());
        data
    };
    let ours = &OURS[..];
    let webhooks_only = make(&services(&OURS[..1]), "kueue-system", now())
        .unwrap()
        .into_data();
    let peer = "tls.crt: invalid peer certificate";
    let other = data();
    assert_eq!(why(&data(), ours, now()), "");
    assert_eq!(why(&data(), ours, days(3500)), "");
    let cases = [
        ("near its end", data(), ours, days(3600), peer),
        ("before it begins", data(), ours, days(-3), peer),
        ("other Service", data(), &["other"], now(), peer),
        ("one of two Services", webhooks_only, ours, now(), peer),
        ("nothing", BTreeMap::new(), ours, now(), "ca.crt is missing"),
        (
            "empty key",
            with(KEY, b""),
            ours,
            now(),
            "tls.key is missing",
        ),
        (
            "nonsense",
            with(CERTIFICATE, b"x"),
            ours,
            now(),
            "certificate",
        ),
        ("key of another", with(KEY, &other[KEY]), ours, now(), "key"),
        ("CA of another", with(CA, &other[CA]), ours, now(), peer),
    ];
    for (name, data, service, at, want) in cases {
        let why = why(&data, service, at);
        assert!(why.contains(want), "{name}: {why:?}");
    }
}

#[test]
fn the_ca_before_stays_trusted_through_one_change() {
    let first = data();
    let Decision::Make { bundle, .. } =
        decide(&first, &services(&OURS), "kueue-system", days(3600)).unwrap()
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
        decide(&second, &services(&OURS), "kueue-system", days(3601)).unwrap(),
        Decision::Keep(_)
    ));
    let Decision::Make { bundle, .. } =
        decide(&second, &services(&OURS), "kueue-system", days(7300)).unwrap()
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
    let bundle = make(&services(&["s"]), "n", now()).unwrap();
    assert!(!format!("{bundle:?}").contains("PRIVATE"));
}
