//! Error pages, and what holds for every page.

use http::StatusCode;
use serde_json::json;

use super::site::{PAGES, Page, Site};

#[tokio::test]
async fn errors_say_what_is_safe_and_what_to_do() {
    let site = Site::new().await;
    for path in [
        "/nowhere",
        "/labs/nowhere",
        "/labs/essai/nowhere",
        "/reports/nowhere",
        "/environment/logs/nowhere",
    ] {
        let page = site.get(path).await;
        assert_eq!(
            (page.status, page.one("h1").as_str()),
            (StatusCode::NOT_FOUND, "Cette page n’existe pas"),
            "{path}"
        );
        assert_eq!(page.all(".error dd").len(), 2);
        assert!(page.one(".error .quiet").starts_with("Numéro de référence"));
        assert!(
            page.header("content-security-policy")
                .starts_with("default-src 'none'")
        );
    }
    let (status, body) = site
        .call("POST", "/labs/essai/answers", &json!({ "question": 3 }))
        .await;
    assert!(status.is_client_error());
    assert!(body["reference"].is_string(), "{body}");
}

#[tokio::test]
async fn every_page_has_landmarks_and_names() {
    let site = Site::new().await;
    for path in PAGES {
        let page = site.get(path).await;
        for selector in [
            "header",
            "main#main",
            "h1",
            "a.skip[href='#main']",
            "#announcements[aria-live]",
            "title",
        ] {
            assert_eq!(page.all(selector).len(), 1, "{selector} on {path}");
        }
        unnamed(&page, path);
    }
}

/// Ids are unique, and all that can be operated has a name.
fn unnamed(page: &Page, path: &str) {
    let mut ids = page.attributes("[id]", "id");
    ids.sort();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids repeat on {path}");
    let operable = scraper::Selector::parse("a, button, input:not([type=hidden])").unwrap();
    for element in page.html.select(&operable) {
        let outer = || element.ancestors().filter_map(scraper::ElementRef::wrap);
        if outer().any(|outer| outer.value().name() == "template") {
            continue;
        }
        let text = element.text().collect::<String>();
        let named = !text.trim().is_empty()
            || ["aria-label", "aria-labelledby"]
                .iter()
                .any(|name| element.attr(name).is_some())
            || outer().any(|outer| outer.value().name() == "label")
            || element.attr("id").is_some_and(|id| {
                !page
                    .attributes(&format!("label[for='{id}']"), "for")
                    .is_empty()
            });
        assert!(named, "{} on {path}", element.html());
    }
}
