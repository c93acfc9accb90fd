//! Why a write did not happen. Takes the client's error and tells apart what the caller answers differently: the object
//! is another one by now, it is gone, or the API server said no.

use crate::key::Key;

/// Why a write did not happen.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The object changed since it was read; what was decided may be wrong now.
    #[error("{what} {key}: the object has changed meanwhile")]
    Outdated { what: &'static str, key: Key },
    /// The object is gone.
    #[error("{what} {key}: the object is gone")]
    Gone { what: &'static str, key: Key },
    /// The API server refused, or was not reached.
    #[error("{what} {key}: {}", brief(source))]
    Api {
        what: &'static str,
        key: Key,
        source: Box<kube::Error>,
    },
    /// The object could not be written as JSON.
    #[error("{what} {key}: {source}")]
    Json {
        what: &'static str,
        key: Key,
        source: serde_json::Error,
    },
}

impl WriteError {
    pub(super) fn of(what: &'static str, key: &Key, error: kube::Error) -> Self {
        let key = key.clone();
        match &error {
            kube::Error::Api(status) if status.code == 409 => Self::Outdated { what, key },
            kube::Error::Api(status) if status.code == 404 => Self::Gone { what, key },
            _ => Self::Api {
                what,
                key,
                source: Box::new(error),
            },
        }
    }

    /// Whether the API server understood and said no for good.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, Self::Api { source, .. } if matches!(source.as_ref(), kube::Error::Api(status) if matches!(status.code, 400 | 403 | 422)))
    }
}

/// What the API server said, without the object that it quotes.
fn brief(error: &kube::Error) -> String {
    const LONGEST: usize = 400;
    match error {
        kube::Error::Api(status) => kueue_api::conditions::truncate(&status.message, LONGEST),
        other => other.to_string(),
    }
}
