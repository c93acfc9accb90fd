//! What all handlers share, put together once at the start.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::assets::Assets;
use super::desk::Desk;
use super::guard::Names;
use super::library::Library;
use super::position::Positions;
use super::secret::Secret;
use super::terminal::registry::Terminals;

/// The site.
#[derive(Debug, Clone)]
pub struct App(Arc<Parts>);

/// What a site is made of.
#[derive(Debug)]
pub struct Parts {
    pub secret: Secret,
    pub address: PublicAddress,
    pub assets: Assets,
    pub library: Library,
    pub positions: Positions,
    pub desk: Arc<dyn Desk>,
    pub terminals: Terminals,
    /// Ends what would otherwise go on for ever: streams of live updates.
    pub stop: CancellationToken,
}

/// How browsers reach the site, when something stands in front of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PublicAddress {
    /// The host name, besides loopback ones.
    pub host: Option<String>,
    /// The path before every path of ours, without a slash at its end.
    pub base: String,
    /// Whether browsers speak TLS to it.
    pub secure: bool,
}

/// A public address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no public address: expected http(s)://HOST[:PORT][/PATH]")]
pub struct AddressError(String);

impl PublicAddress {
    /// Reads an address such as `https://cours.example/formation`.
    ///
    /// # Errors
    /// When it is not of that form.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let error = || AddressError(text.to_owned());
        let uri: http::Uri = text.parse().map_err(|_| error())?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(error()),
        };
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(error)?
            .to_owned();
        Ok(Self {
            host: Some(host),
            base: uri.path().trim_end_matches('/').to_owned(),
            secure,
        })
    }

    /// The host names that requests may name.
    #[must_use]
    pub fn names(&self) -> Names {
        Names {
            public: self.host.clone(),
        }
    }
}

impl App {
    /// A site of these parts.
    #[must_use]
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.0.secret
    }

    pub(crate) fn address(&self) -> &PublicAddress {
        &self.0.address
    }

    pub(crate) fn assets(&self) -> &Assets {
        &self.0.assets
    }

    pub(crate) fn library(&self) -> &Library {
        &self.0.library
    }

    pub(crate) fn positions(&self) -> &Positions {
        &self.0.positions
    }

    pub(crate) fn desk(&self) -> &Arc<dyn Desk> {
        &self.0.desk
    }

    /// The trainee's terminals.
    #[must_use]
    pub fn terminals(&self) -> &Terminals {
        &self.0.terminals
    }

    /// Completes when the platform stops.
    pub(crate) async fn stopping(&self) {
        self.0.stop.cancelled().await;
    }

    /// A path of ours as browsers must ask for it.
    pub(crate) fn path(&self, path: &str) -> String {
        format!("{}{path}", self.0.address.base)
    }

    /// A Set-Cookie line. `session` ones are hidden from scripts and end with the browser.
    pub(crate) fn cookie(&self, name: &str, value: &str, session: bool) -> String {
        let path = if self.0.address.base.is_empty() {
            "/"
        } else {
            self.0.address.base.as_str()
        };
        let secure = if self.0.address.secure {
            "; Secure"
        } else {
            ""
        };
        let life = if session { "" } else { "; Max-Age=31536000" };
        format!("{name}={value}; Path={path}; HttpOnly; SameSite=Strict{life}{secure}")
    }
}
