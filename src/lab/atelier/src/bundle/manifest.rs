//! The list at the beginning of a bundle, and where each of its files may go.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use clusters::tools::Tool;
use serde::Deserialize;

/// Of the list, not of the product: an older `atelier` must refuse what it would misread.
const FORMAT: u32 = 1;

/// Without one of these the platform does not work: what it is called, and its path in a bundle.
const PARTS: [(&str, &str); 7] = [
    ("the program atelier", "app/bin/atelier"),
    (
        "the program environment-supervisor",
        "app/bin/environment-supervisor",
    ),
    ("the program sandbox-relay", "app/bin/sandbox-relay"),
    ("the controller", "app/bin/kueue-manager"),
    ("the labs", "app/labs/"),
    ("the front end", "app/static/dist/manifest.json"),
    ("the controller's chart", "app/manifests/kueue/Chart.yaml"),
];

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
    #[error("the bundle lacks {0}: make it again with `cargo xtask bundle`, of this version")]
    Lacks(String),
    #[error("the bundle lists `{path}`, which leads to `{target}`, which is not in it")]
    LeadsNowhere { path: String, target: String },
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
        manifest.is_complete()?;
        Ok(manifest)
    }

    /// Everything that the platform needs, of the version of this program, and no link that leads nowhere.
    fn is_complete(&self) -> Result<(), ManifestError> {
        let paths: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let holds = |part: &str| {
            let next = paths.range(part..).next();
            next.is_some_and(|path| {
                *path == part || (part.ends_with('/') && path.starts_with(part))
            })
        };
        if let Some((name, _)) = PARTS.into_iter().find(|(_, part)| !holds(part)) {
            return Err(ManifestError::Lacks(name.to_owned()));
        }
        for tool in Tool::ALL {
            let (name, version) = (tool.name(), tool.version());
            if !holds(&format!("cache/tools/{name}-{version}/{name}")) {
                return Err(ManifestError::Lacks(format!("{name} {version}")));
            }
        }
        for file in &self.files {
            if let Some(target) = file.target().filter(|target| !holds(target)) {
                let path = file.path.clone();
                return Err(ManifestError::LeadsNowhere { path, target });
            }
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Bytes of the programs with what belongs to them, and of the cache.
    pub(super) fn bytes_by_place(&self) -> (u64, u64) {
        let (app, cache): (Vec<&Listed>, Vec<&Listed>) = self
            .files
            .iter()
            .partition(|file| matches!(file.place(), Ok(Place::App(_))));
        let sum = |files: Vec<&Listed>| files.iter().map(|file| file.bytes).sum();
        (sum(app), sum(cache))
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

impl Listed {
    /// The path in the bundle that a link leads to.
    fn target(&self) -> Option<String> {
        let mut parts: Vec<&str> = self.path.split('/').collect();
        parts.pop();
        for part in self.link.as_deref()?.split('/') {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
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
