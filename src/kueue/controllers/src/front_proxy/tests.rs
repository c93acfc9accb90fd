use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use webhooks::tls::Peer;

use super::Rules;

fn rules(names: &str) -> Rules {
    let data = [
        ("requestheader-allowed-names", names),
        ("requestheader-username-headers", r#"["X-Remote-User"]"#),
        ("requestheader-group-headers", r#"["X-Remote-Group"]"#),
        ("requestheader-uid-headers", r#"["X-Remote-Uid"]"#),
        (
            "requestheader-extra-headers-prefix",
            r#"["X-Remote-Extra-"]"#,
        ),
    ];
    let data: BTreeMap<_, _> = data
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .into();
    Rules::read(&data)
}

fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, text) in pairs {
        let name: HeaderName = name.parse().unwrap();
        map.append(name, HeaderValue::from_str(text).unwrap());
    }
    map
}

fn peer(name: &str) -> Option<Peer> {
    Some(Peer(name.to_owned()))
}

const ASKING: &[(&str, &str)] = &[
    ("x-remote-user", "ada"),
    ("x-remote-group", "teams:vision"),
    ("x-remote-group", "system:authenticated"),
    ("x-remote-uid", "7"),
    ("x-remote-extra-example.com%2fscopes", "read"),
    ("x-remote-extra-example.com%2fscopes", "list"),
];

#[test]
fn the_front_proxy_is_believed_about_others() {
    let person = rules(r#"["front-proxy-client"]"#)
        .person(peer("front-proxy-client").as_ref(), &headers(ASKING))
        .unwrap();
    assert_eq!(person.username.as_deref(), Some("ada"));
    assert_eq!(
        person.groups.unwrap(),
        ["teams:vision", "system:authenticated"]
    );
    assert_eq!(person.uid.as_deref(), Some("7"));
    assert_eq!(
        person.extra.unwrap()["example.com/scopes"],
        ["read", "list"]
    );
}

#[test]
fn everybody_with_a_name_is_authenticated() {
    let groups = |user: &str| {
        let headers = headers(&[("x-remote-user", user)]);
        let person = rules("[]").person(peer("any").as_ref(), &headers);
        person.unwrap().groups.unwrap()
    };
    assert_eq!(groups("system:aggregator"), ["system:authenticated"]);
    assert!(groups("system:anonymous").is_empty());
}

#[test]
fn nobody_else_is() {
    let allowed = rules(r#"["front-proxy-client"]"#);
    assert!(allowed.person(None, &headers(ASKING)).is_none());
    assert!(
        allowed
            .person(peer("somebody").as_ref(), &headers(ASKING))
            .is_none()
    );
    // No names: whoever has a certificate of the authority.
    assert!(
        rules("[]")
            .person(peer("somebody").as_ref(), &headers(ASKING))
            .is_some()
    );
    // Before the rules are known, no header has a meaning.
    assert!(
        Rules::default()
            .person(peer("front-proxy-client").as_ref(), &headers(ASKING))
            .is_none()
    );
}

#[test]
fn a_request_without_a_person_names_nobody() {
    let allowed = rules("[]");
    let group_only = headers(&[("x-remote-group", "system:masters")]);
    assert!(
        allowed
            .person(peer("front-proxy-client").as_ref(), &group_only)
            .is_none()
    );
    let empty = headers(&[("x-remote-user", "")]);
    assert!(
        allowed
            .person(peer("front-proxy-client").as_ref(), &empty)
            .is_none()
    );
}
