//! The front end's bundle: which files there are, and how they are served.
//!
//! The bundle step writes `manifest.json`, which maps each name to a file whose name carries a hash of its content, so
//! that browsers may keep it for ever; beside each lies a compressed twin. Without a bundle pages still work, and say so.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};

/// The bundle, read at the start.
#[derive(Debug, Clone, Default)]
pub struct Assets(Arc<Files>);

#[derive(Debug, Default)]
struct Files {
    /// `app.js` → `app.3f9c….js`.
    names: BTreeMap<String, String>,
    files: BTreeMap<String, File>,
}

#[derive(Debug)]
struct File {
    kind: &'static str,
    plain: Bytes,
    brotli: Option<Bytes>,
    gzip: Option<Bytes>,
}

/// The bundle cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AssetError {
    #[error(
        "the front end was not built: {path} is missing; run `npm ci && npm run build` in the folder `static`"
    )]
    NotBuilt { path: PathBuf },
    #[error("read {path}: {source}; run `npm run build` in the folder `static` again")]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "{path} is not a list of files: {source}; run `npm run build` in the folder `static` again"
    )]
    Manifest {
        path: PathBuf,
        source: serde_json::Error,
    },
}

impl Assets {
    /// Reads the bundle in `dir`.
    ///
    /// # Errors
    /// When it was not built, or is damaged.
    pub fn load(dir: &Path) -> Result<Self, AssetError> {
        let path = dir.join("manifest.json");
        if !path.is_file() {
            return Err(AssetError::NotBuilt { path });
        }
        let text = read(&path)?;
        let names: BTreeMap<String, String> = serde_json::from_slice(&text)
            .map_err(|source| AssetError::Manifest { path, source })?;
        let files = names
            .values()
            .map(|file| Ok((file.clone(), File::load(&dir.join(file))?)))
            .collect::<Result<_, AssetError>>()?;
        Ok(Self(Arc::new(Files { names, files })))
    }

    /// Whether there is a bundle.
    #[must_use]
    pub fn is_built(&self) -> bool {
        !self.0.files.is_empty()
    }

    /// The file behind a name, such as `app.js`.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<&str> {
        self.0.names.get(name).map(String::as_str)
    }

    /// Serves a file, in the best form that the browser takes.
    #[must_use]
    pub fn serve(&self, file: &str, headers: &HeaderMap) -> Response {
        let Some(file) = self.0.files.get(file) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        let (bytes, encoding) = file.best_for(headers);
        let mut response = Response::new(Body::from(bytes));
        let answer = response.headers_mut();
        answer.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
        answer.insert(
            CACHE_CONTROL,
            HeaderValue::from_static("public, max-age=31536000, immutable"),
        );
        answer.insert(VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = encoding {
            answer.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

impl File {
    fn load(path: &Path) -> Result<Self, AssetError> {
        let twin = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            std::fs::read(PathBuf::from(name)).ok().map(Bytes::from)
        };
        Ok(Self {
            kind: kind_of(path),
            plain: read(path)?.into(),
            brotli: twin(".br"),
            gzip: twin(".gz"),
        })
    }

    fn best_for(&self, headers: &HeaderMap) -> (Bytes, Option<&'static str>) {
        let accepted = headers
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let takes = |encoding: &str| {
            accepted
                .split(',')
                .map(str::trim)
                .any(|word| word == encoding || word.starts_with(&format!("{encoding};")))
        };
        match (&self.brotli, &self.gzip) {
            (Some(bytes), _) if takes("br") => (bytes.clone(), Some("br")),
            (_, Some(bytes)) if takes("gzip") => (bytes.clone(), Some("gzip")),
            _ => (self.plain.clone(), None),
        }
    }
}

fn kind_of(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}

fn read(path: &Path) -> Result<Vec<u8>, AssetError> {
    std::fs::read(path).map_err(|source| AssetError::Read {
        path: path.to_owned(),
        source,
    })
}
