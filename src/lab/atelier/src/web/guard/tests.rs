use http::Request;

use super::{Names, Refusal, check_host, check_origin, check_session, check_token, cookie};
use crate::web::secret::Secret;

fn parts(method: &str, headers: &[(&str, &str)]) -> http::request::Parts {
    let request = headers
        .iter()
        .fold(Request::builder().method(method).uri("/x"), |b, (k, v)| {
            b.header(*k, *v)
        });
    request.body(()).unwrap().into_parts().0
}

#[test]
fn only_our_names_are_served() {
    let names = Names {
        public: Some("atelier.example".to_owned()),
    };
    for host in [
        "localhost",
        "localhost:8080",
        "127.0.0.1:8080",
        "127.8.9.1",
        "[::1]:80",
        "ATELIER.example:443",
    ] {
        assert_eq!(
            check_host(&names, &parts("GET", &[("host", host)])),
            Ok(()),
            "{host}"
        );
    }
    for host in [
        "evil.example",
        "127.0.0.1.evil.example:8080",
        "192.168.1.4",
        "localhost.evil.example",
        "[::2]",
        "",
    ] {
        assert_eq!(
            check_host(&names, &parts("GET", &[("host", host)])),
            Err(Refusal::Host),
            "{host}"
        );
    }
    assert_eq!(check_host(&names, &parts("GET", &[])), Err(Refusal::Host));
}

#[test]
fn another_site_may_not_act() {
    const HOST: (&str, &str) = ("host", "localhost:8080");
    let ours: &[(&str, &[(&str, &str)])] = &[
        ("GET", &[HOST]),
        ("GET", &[HOST, ("sec-fetch-site", "cross-site")]),
        ("POST", &[HOST, ("origin", "http://localhost:8080")]),
        (
            "POST",
            &[
                HOST,
                ("origin", "http://localhost:8080"),
                ("sec-fetch-site", "same-origin"),
            ],
        ),
        ("POST", &[HOST, ("sec-fetch-site", "same-origin")]),
        (
            "GET",
            &[
                HOST,
                ("upgrade", "websocket"),
                ("origin", "http://localhost:8080"),
            ],
        ),
    ];
    for (method, headers) in ours {
        assert_eq!(
            check_origin(&parts(method, headers)),
            Ok(()),
            "{method} {headers:?}"
        );
    }
    let theirs: &[(&str, &[(&str, &str)])] = &[
        ("POST", &[HOST]),
        ("POST", &[HOST, ("origin", "null")]),
        ("POST", &[HOST, ("origin", "http://localhost:9999")]),
        (
            "POST",
            &[
                HOST,
                ("origin", "http://localhost:8080"),
                ("sec-fetch-site", "same-site"),
            ],
        ),
        ("DELETE", &[HOST, ("origin", "https://evil.example")]),
        ("GET", &[HOST, ("upgrade", "websocket")]),
        (
            "GET",
            &[
                HOST,
                ("upgrade", "websocket"),
                ("origin", "https://evil.example"),
            ],
        ),
    ];
    for (method, headers) in theirs {
        assert_eq!(
            check_origin(&parts(method, headers)),
            Err(Refusal::Origin),
            "{method} {headers:?}"
        );
    }
}

#[test]
fn session_and_token_are_not_interchangeable() {
    let secret = Secret::random();
    let line = format!("theme=dark; atelier-session={}", secret.session());
    let with = parts("GET", &[("cookie", &line)]);
    assert_eq!(check_session(&secret, &with.headers), Ok(()));
    assert_eq!(cookie(&with.headers, "theme"), Some("dark"));
    assert_eq!(
        check_session(&Secret::random(), &with.headers),
        Err(Refusal::Session)
    );
    assert_eq!(
        check_session(&secret, &parts("GET", &[]).headers),
        Err(Refusal::Session)
    );
    assert_eq!(check_token(&secret, Some(&secret.token())), Ok(()));
    assert_eq!(
        check_token(&secret, Some(&secret.session())),
        Err(Refusal::Token)
    );
    assert_eq!(check_token(&secret, None), Err(Refusal::Token));
}
