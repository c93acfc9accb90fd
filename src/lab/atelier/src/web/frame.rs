//! What every page has around its content: language, theme, addresses, tokens, the environment's state.

use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse, Response};
use course::Language;
use http::StatusCode;
use http::request::Parts;

use super::desk::EnvironmentIs;
use super::headers::Nonce;
use super::state::App;
use super::visitor::{Theme, Visitor};
use super::words::Words;

/// The frame of one answer.
#[derive(Debug, Clone)]
pub struct Frame {
    pub words: Words,
    pub theme: Theme,
    pub token: String,
    pub nonce: String,
    /// Before every path.
    pub base: String,
    pub environment: EnvironmentIs,
    /// Where live updates come from, for pages that have them.
    pub events: String,
    pub now: jiff::Timestamp,
    app: App,
}

impl Frame {
    fn new(app: &App, parts: &Parts) -> Self {
        let visitor = parts
            .extensions
            .get::<Visitor>()
            .copied()
            .unwrap_or(Visitor::of(&parts.headers, ""));
        Self {
            words: Words::of(visitor.language),
            theme: visitor.theme,
            token: app.secret().token(),
            nonce: parts
                .extensions
                .get::<Nonce>()
                .map(|nonce| nonce.0.clone())
                .unwrap_or_default(),
            base: app.address().base.clone(),
            environment: app.desk().environment().borrow().is.clone(),
            events: String::new(),
            now: crate::clock::now(),
            app: app.clone(),
        }
    }

    /// The same frame, with live updates from a path of ours.
    #[must_use]
    pub fn with_events(self, path: &str) -> Self {
        Self {
            events: self.app.path(path),
            ..self
        }
    }

    /// The address of a bundled file; empty when there is no bundle.
    #[must_use]
    pub fn asset(&self, name: &str) -> String {
        self.app
            .assets()
            .file(name)
            .map(|file| self.app.path(&format!("/assets/{file}")))
            .unwrap_or_default()
    }

    /// Whether the front end was built.
    #[must_use]
    pub fn bundled(&self) -> bool {
        self.app.assets().is_built()
    }

    /// A sentence.
    #[must_use]
    pub fn t(&self, key: &str) -> String {
        self.words.t(key)
    }

    /// Whether this is the page's language.
    #[must_use]
    pub fn speaks(&self, language: &Language) -> bool {
        self.words.language == *language
    }

    /// Whether this is the page's theme.
    #[must_use]
    pub fn wears(&self, theme: &Theme) -> bool {
        self.theme == *theme
    }

    /// The words for scripts as JSON that cannot end the element it stands in.
    #[must_use]
    pub fn script_words(&self) -> String {
        serde_json::Value::Object(self.words.for_scripts())
            .to_string()
            .replace('<', "\\u003c")
    }
}

impl FromRequestParts<App> for Frame {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Self::Rejection> {
        Ok(Self::new(app, parts))
    }
}

/// A piece of a page as HTML. Rendering fails only when formatting does, which it does not; then the piece is empty.
#[must_use]
pub fn rendered(template: &impl askama::Template) -> String {
    template
        .render()
        .inspect_err(|error| tracing::error!(%error, "a piece of a page was not rendered"))
        .unwrap_or_default()
}

/// A rendered page.
#[derive(Debug)]
pub struct Page<T>(pub T);

impl<T: askama::Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
            Ok(html) => Html(html).into_response(),
            Err(error) => {
                tracing::error!(%error, "a page was not rendered");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}
