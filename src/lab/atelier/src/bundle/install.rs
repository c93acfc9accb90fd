//! Unpacks a bundle beside the places of its files, compares everything with the list, and only then moves it there: an archive
//! that is broken, or an installation that is interrupted, changes nothing.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::manifest::{Listed, Place};
use super::read::{Bundle, BundleError, Content, Done, Told};
use super::stage::{Lock, Stage};

/// The two folders that a bundle fills.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) app: PathBuf,
    pub(super) cache: PathBuf,
}

/// Reads everything and writes nothing.
pub(super) fn check(file: &Path, told: Told<'_>) -> Result<Done, BundleError> {
    let bundle = Bundle::open(file)?;
    let checked = bundle.each(told, |listed, content| {
        if listed.link.is_some() {
            return Ok(());
        }
        content.copy(io::sink(), Path::new(&listed.path))
    });
    checked.map(|(done, _)| done)
}

/// Puts everything in place.
pub(super) fn install(file: &Path, places: &Places, told: Told<'_>) -> Result<Done, BundleError> {
    let bundle = Bundle::open(file)?;
    let _lock = Lock::take(&places.cache)?;
    let stage = Stage::new(places)?;
    stage.has_room(&bundle.manifest)?;
    let (done, manifest) = bundle.each(told, |listed, content| {
        let place = match listed.place()? {
            Place::App(path) => stage.app.join(path),
            Place::Cache(path) => stage.cache.join(path),
        };
        put(listed, content, &place)
    })?;
    stage.move_into(places, &manifest)?;
    Ok(done)
}

fn put(listed: &Listed, content: &mut Content<'_>, to: &Path) -> Result<(), BundleError> {
    let failed = |source| BundleError::Write {
        path: to.to_owned(),
        source,
    };
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    if let Some(target) = &listed.link {
        return symlink(target, to).map_err(failed);
    }
    let file = File::create_new(to).map_err(failed)?;
    content.copy(&file, to)?;
    let mode = Permissions::from_mode(listed.mode & 0o777);
    file.set_permissions(mode).map_err(failed)
}
