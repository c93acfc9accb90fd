//! The front end's bundle: `npm ci` and esbuild, only when one of its inputs changed since the last time.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::run;

/// Bundles `static/` into `static/dist`.
///
/// # Errors
/// When npm or esbuild fails; their own output says why.
pub fn bundle() -> anyhow::Result<()> {
    let folder = run::root().join("static");
    let stamp = folder.join("dist/.inputs");
    let inputs = digest(&folder)?;
    if fs::read_to_string(&stamp).is_ok_and(|seen| seen == inputs) {
        run::say("── front end: already bundled");
        return Ok(());
    }
    let npm = |arguments: &[&str]| {
        let mut command = run::command("npm");
        command.current_dir(&folder).args(arguments);
        command
    };
    run::step(
        "front end: npm ci",
        &mut npm(&["ci", "--no-audit", "--no-fund"]),
    )?;
    run::step("front end: bundle", &mut npm(&["run", "build"]))?;
    fs::write(&stamp, inputs).with_context(|| format!("{} cannot be written", stamp.display()))
}

/// A digest of everything the bundle is made from: names, sizes and contents.
fn digest(folder: &Path) -> anyhow::Result<String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    let mut hasher = DefaultHasher::new();
    for file in files {
        file.strip_prefix(folder).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file)
            .with_context(|| format!("{} cannot be read", file.display()))?
            .hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        let skipped = path
            .file_name()
            .is_some_and(|name| name == "node_modules" || name == "dist");
        match (skipped, path.is_dir()) {
            (true, _) => {}
            (false, true) => collect(&path, files)?,
            (false, false) => files.push(path),
        }
    }
    Ok(())
}
