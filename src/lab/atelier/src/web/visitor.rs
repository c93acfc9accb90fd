//! Who looks, in which language and theme. Read from cookies and from `?lang=` and `?theme=`, which are remembered.

#[cfg(test)]
mod tests;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use course::Language;
use http::header::SET_COOKIE;
use http::{HeaderMap, HeaderValue};

use super::guard::{SESSION_COOKIE, cookie};
use super::state::App;

const LANGUAGE_COOKIE: &str = "atelier-lang";
const THEME_COOKIE: &str = "atelier-theme";

/// Light, dark, or as the system has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Theme {
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    /// All, in the order of the switch.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// The name in cookies, URLs and style sheets.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The key of its word.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::System => "theme-system",
            Self::Light => "theme-light",
            Self::Dark => "theme-dark",
        }
    }

    /// A sign for the switch.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::System => "◐",
            Self::Light => "☀",
            Self::Dark => "☾",
        }
    }

    fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.code() == code)
    }
}

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visitor {
    pub language: Language,
    pub theme: Theme,
}

impl Visitor {
    /// What a request says about its sender.
    #[must_use]
    pub fn of(headers: &HeaderMap, query: &str) -> Self {
        let language = chosen(query, "lang", Language::from_code)
            .or_else(|| cookie(headers, LANGUAGE_COOKIE).and_then(Language::from_code))
            .unwrap_or(Language::Fr);
        let theme = chosen(query, "theme", Theme::from_code)
            .or_else(|| cookie(headers, THEME_COOKIE).and_then(Theme::from_code))
            .unwrap_or_default();
        Self { language, theme }
    }
}

/// Hands the visitor to the handlers and remembers choices and session in cookies.
pub async fn know(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let query = request.uri().query().unwrap_or_default();
    let visitor = Visitor::of(request.headers(), query);
    let mut cookies = Vec::new();
    if chosen(query, "lang", Language::from_code).is_some() {
        cookies.push(app.cookie(LANGUAGE_COOKIE, visitor.language.code(), false));
    }
    if chosen(query, "theme", Theme::from_code).is_some() {
        cookies.push(app.cookie(THEME_COOKIE, visitor.theme.code(), false));
    }
    let session = app.secret().session();
    if cookie(request.headers(), SESSION_COOKIE) != Some(session.as_str()) {
        cookies.push(app.cookie(SESSION_COOKIE, &session, true));
    }
    request.extensions_mut().insert(visitor);
    let mut response = next.run(request).await;
    // A file that may be kept for ever must not carry cookies along.
    if !response
        .headers()
        .contains_key(http::header::CONTENT_ENCODING)
    {
        for line in cookies
            .iter()
            .filter_map(|line| HeaderValue::from_str(line).ok())
        {
            response.headers_mut().append(SET_COOKIE, line);
        }
    }
    response
}

fn chosen<T>(query: &str, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .filter(|(key, _)| *key == name)
        .find_map(|(_, v)| parse(v))
}
