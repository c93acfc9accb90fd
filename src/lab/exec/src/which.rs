//! Finding programs: on a search path that the caller gives, and beside this program's own file.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first executable file of that name in the folders of `search_path` (the form of `PATH`).
pub fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path)
        .map(|dir| dir.join(name))
        .find(|path| is_executable(path))
}

/// The program `name` beside this one, or one folder up, where cargo keeps binaries when a test runs from `deps`.
pub fn sibling(name: &str) -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let dir = own.parent()?;
    [Some(dir), dir.parent()]
        .into_iter()
        .flatten()
        .map(|dir| dir.join(name))
        .find(|path| is_executable(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
