use course::Language;
use http::HeaderMap;

use super::{Theme, Visitor};

#[test]
fn the_address_wins_over_the_cookie_and_french_over_nothing() {
    let cases = [
        ("", "", Language::Fr, Theme::System),
        (
            "",
            "atelier-lang=en; atelier-theme=dark",
            Language::En,
            Theme::Dark,
        ),
        ("lang=fr", "atelier-lang=en", Language::Fr, Theme::System),
        (
            "x=1&theme=light&lang=en",
            "atelier-theme=dark",
            Language::En,
            Theme::Light,
        ),
        (
            "lang=de&theme=",
            "atelier-lang=nl",
            Language::Fr,
            Theme::System,
        ),
    ];
    for (query, cookie, language, theme) in cases {
        let headers = HeaderMap::from_iter([(http::header::COOKIE, cookie.parse().unwrap())]);
        assert_eq!(
            Visitor::of(&headers, query),
            Visitor { language, theme },
            "{query} {cookie}"
        );
    }
}
