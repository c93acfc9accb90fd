//! Finds what the parts of an image are made of: packages, programs (which are built now), files of the tree. The key of an image is
//! the hash of all this and of its recipe, so that nothing is built twice and nothing old is taken for new.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use super::recipes::{Part, Profile, Recipe};
use super::{Places, debian};
use crate::run;

/// `dev` compiles every program as for daily work, where a release build would cost too much (CI).
const PROFILE: &str = "ATELIER_IMAGES_PROFILE";

/// A part with the files of this machine that it is made of.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) part: &'static Part,
    pub(super) files: Vec<PathBuf>,
}

/// Looks everything up, and builds what is a program.
pub(super) fn gather(
    layers: &'static [&'static [Part]],
    places: &Places,
) -> anyhow::Result<Vec<Vec<Gathered>>> {
    let part = |part: &'static Part| {
        let files = files(part, places)?;
        Ok(Gathered { part, files })
    };
    let layer = |layer: &&'static [Part]| layer.iter().map(part).collect();
    layers.iter().map(layer).collect()
}

fn files(part: &Part, places: &Places) -> anyhow::Result<Vec<PathBuf>> {
    Ok(match part {
        Part::Debian(debian) => debian::obtain(debian, places)?,
        Part::Program {
            package,
            binary,
            profile,
            ..
        } => vec![program(package, binary, *profile)?],
        Part::Tool { name, .. } => vec![tool(name, places)?],
        Part::Go {
            module, package, ..
        } => vec![go(module, package, places)?],
        Part::Copy { from, .. } => vec![run::root().join(from)],
        Part::Text { .. }
        | Part::Link { .. }
        | Part::Folder { .. }
        | Part::Empty { .. }
        | Part::Compiled { .. } => Vec::new(),
    })
}

/// Names an image by what is in it.
pub(super) fn key(recipe: &Recipe, layers: &[Vec<Gathered>]) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update(format!("{recipe:?}"));
    for gathered in layers.iter().flatten() {
        for file in &gathered.files {
            // The name of a package says its version, and apt has checked its hash.
            if let Part::Debian(_) = gathered.part {
                let name = file.file_name().map(|name| name.to_string_lossy());
                hash.update(name.unwrap_or_default().as_bytes());
            } else {
                hash_tree(file, &mut hash)?;
            }
        }
    }
    Ok(hex::encode(hash.finalize()))
}

/// Adds a file, or every file below a folder in the order of names, to a hash.
pub(super) fn hash_tree(path: &Path, hash: &mut Sha256) -> anyhow::Result<()> {
    let unreadable = || format!("{} cannot be read", path.display());
    if !path.is_dir() {
        hash.update(fs::read(path).with_context(unreadable)?);
        return Ok(());
    }
    for name in names(path)? {
        hash.update(name.as_bytes());
        hash_tree(&path.join(name), hash)?;
    }
    Ok(())
}

/// What is in a folder, without what Python leaves there.
pub(super) fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let unreadable = || format!("{} cannot be read", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != "__pycache__" {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// A binary of the workspace, static: it runs in an image that has nothing else. Only the last step is another one than for daily
/// work or for a release, so that nothing else is compiled again.
fn program(package: &str, binary: &str, profile: Profile) -> anyhow::Result<PathBuf> {
    let profile = match run::variable(PROFILE).as_deref() {
        None | Some("" | "release") => profile,
        Some("dev") => Profile::Daily,
        Some(other) => bail!("{PROFILE} is `{other}`: it may be `dev` or `release`"),
    };
    let mut command = run::cargo();
    command.args(["rustc", "--locked", "--package", package, "--bin", binary]);
    let (folder, shown) = match profile {
        Profile::Daily => (run::target_folder()?, "static"),
        Profile::Release => {
            command.arg("--release");
            (run::release_folder()?, "static, release")
        }
    };
    command.args([
        "--",
        "-C",
        "target-feature=+crt-static",
        "-C",
        "strip=symbols",
    ]);
    run::step(&format!("cargo rustc {binary} ({shown})"), &mut command)?;
    Ok(folder.join(binary))
}

/// The newest program of that name in the cache of tools.
pub(super) fn tool(name: &str, places: &Places) -> anyhow::Result<PathBuf> {
    let prefix = format!("{name}-");
    let mut found: Vec<PathBuf> = Vec::new();
    if places.tools.is_dir() {
        for folder in names(&places.tools)? {
            let version = folder.strip_prefix(&prefix);
            if version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit())) {
                found.push(places.tools.join(&folder).join(name));
            }
        }
    }
    found.retain(|path| path.is_file());
    found
        .pop()
        .with_context(|| format!("{name} is not there yet: run `cargo xtask tools` first"))
}

/// The `go` program: on the search path, or where its own installer puts it.
pub(super) fn find_go() -> anyhow::Result<&'static str> {
    ["go", "/usr/local/go/bin/go"]
        .into_iter()
        .find(|go| run::output(go, &["version"]).is_some())
        .context("go is missing: the README says what must be there first")
}

/// A program of a module whose every dependency is pinned by hash.
fn go(module: &str, package: &str, places: &Places) -> anyhow::Result<PathBuf> {
    let go = find_go()?;
    let folder = run::root().join(module);
    let mut hash = Sha256::new();
    hash_tree(&folder, &mut hash)?;
    let key = hex::encode(hash.finalize());
    let name = package.rsplit('/').next().unwrap_or(package);
    let program = places
        .images
        .join("programs")
        .join(format!("{name}-{}", key.get(..16).unwrap_or(&key)));
    if program.exists() {
        return Ok(program);
    }
    let mut command = run::command(go);
    command
        .current_dir(&folder)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .args(["build", "-trimpath", "-ldflags=-s -w", "-o"])
        .arg(program.with_extension("new"))
        .arg(package);
    run::step(&format!("go build {name}"), &mut command)?;
    fs::rename(program.with_extension("new"), &program)?;
    Ok(program)
}

#[cfg(test)]
mod tests;
