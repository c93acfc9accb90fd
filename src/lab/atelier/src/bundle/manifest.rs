//! The list at the beginning of a bundle, and where each of its files may go.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// Of the list, not of the product: an older `atelier` must refuse what it would misread.
const FORMAT: u32 = 1;

/// The list.
#[derive(Debug, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    architecture: String,
    pub(super) version: String,
    pub(super) files: Vec<Listed>,
}

/// One file, or a link.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Listed {
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
    pub(super) mode: u32,
    #[serde(default)]
    pub(super) link: Option<String>,
}

/// Which of the two folders a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    App(PathBuf),
    Cache(PathBuf),
}

/// Why a list is not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ManifestError {
    #[error("this is not a bundle of Atelier Kueue: {0}")]
    Parse(#[from] serde_json::Error),
    #[error("the bundle has format {0}; this program reads format {FORMAT}")]
    Format(u32),
    #[error("the bundle is for {asked}, this machine is {here}")]
    Architecture { asked: String, here: &'static str },
    #[error("the bundle lists `{0}`, which is not a place for its files")]
    Outside(String),
}

impl Manifest {
    /// Reads the list, for a machine of the architecture `here`.
    pub(super) fn read(text: &[u8], here: &'static str) -> Result<Self, ManifestError> {
        let manifest: Self = serde_json::from_slice(text)?;
        if manifest.format != FORMAT {
            return Err(ManifestError::Format(manifest.format));
        }
        if manifest.architecture != here {
            let asked = manifest.architecture;
            return Err(ManifestError::Architecture { asked, here });
        }
        for listed in &manifest.files {
            listed.place()?;
        }
        Ok(manifest)
    }
}

impl Listed {
    /// Where it goes. A list can name nothing outside the two folders, by path or by link.
    pub(super) fn place(&self) -> Result<Place, ManifestError> {
        let outside = || ManifestError::Outside(self.path.clone());
        if self
            .link
            .as_deref()
            .is_some_and(|link| !is_inside(&self.path, link))
        {
            return Err(outside());
        }
        let plain = Path::new(&self.path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        match self.path.split_once('/') {
            Some(("app", rest)) if plain && !rest.is_empty() => Ok(Place::App(rest.into())),
            Some(("cache", rest)) if plain && !rest.is_empty() => Ok(Place::Cache(rest.into())),
            _ => Err(outside()),
        }
    }
}

/// Whether a link at `path` stays below the first folder of the path.
fn is_inside(path: &str, link: &str) -> bool {
    let mut depth = path.split('/').count().saturating_sub(2);
    for part in Path::new(link).components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}
