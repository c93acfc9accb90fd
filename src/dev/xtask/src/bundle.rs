//! `cargo xtask bundle`: everything that a classroom without a network needs, as one archive. `atelier bundle install` puts it in
//! place; the list at its beginning (every file with size and SHA-256) is what that program checks.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use crate::run::{self, say};
use crate::{images, up};

/// Of the list; `atelier` refuses another one.
const FORMAT: u32 = 1;
/// Programs of the product.
const PROGRAMS: [&str; 4] = [
    "atelier",
    "environment-supervisor",
    "sandbox-relay",
    "kueue-manager",
];
/// Folders of the tree, as they are.
const TREES: [&str; 3] = ["labs", "static/dist", "manifests"];

/// A file of this machine and its path in the archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Packed {
    path: String,
    from: PathBuf,
}

/// Builds what is missing and writes the archive.
///
/// # Errors
/// The first step that failed, in words.
pub fn make(to: Option<&str>, only: &[String]) -> anyhow::Result<ExitCode> {
    up::prepare()?;
    images::build(only)?;
    let mut files = Vec::new();
    programs(&mut files)?;
    for tree in TREES {
        collect(&run::root().join(tree), &format!("app/{tree}"), &mut files)?;
    }
    let cache = images::cache()?;
    collect(&cache.join("tools"), "cache/tools", &mut files)?;
    packed_images(&cache, only, &mut files)?;
    files.sort();
    let name = format!(
        "atelier-kueue-{}-{}.tar",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    let to = to.map_or_else(|| run::root().join("target").join(name), PathBuf::from);
    let bytes = write(&files, &to)?;
    say(&format!(
        "── {}: {} files, {} MB",
        to.display(),
        files.len(),
        bytes / 1_000_000
    ));
    Ok(ExitCode::SUCCESS)
}

fn programs(files: &mut Vec<Packed>) -> anyhow::Result<()> {
    let folder = run::target_folder()?;
    for name in PROGRAMS {
        let from = folder.join(name);
        if !from.is_file() {
            bail!("{} is missing", from.display());
        }
        let path = format!("app/bin/{name}");
        files.push(Packed { path, from });
    }
    Ok(())
}

/// Finished images with what lies beside them: the plain name of each, its description, manifests.
fn packed_images(cache: &Path, only: &[String], files: &mut Vec<Packed>) -> anyhow::Result<()> {
    let folder = cache.join("images");
    for name in images::names(only)? {
        for ending in ["tar", "json", "yaml"] {
            let plain = folder.join(format!("{name}.{ending}"));
            if !plain.is_symlink() && !plain.is_file() {
                continue;
            }
            let target = fs::canonicalize(&plain)?;
            for from in [plain, target] {
                let shown = from.file_name().context("an image without a name")?;
                let path = format!("cache/images/{}", shown.to_string_lossy());
                let packed = Packed { path, from };
                if !files.contains(&packed) {
                    files.push(packed);
                }
            }
        }
    }
    Ok(())
}

fn collect(folder: &Path, shown: &str, files: &mut Vec<Packed>) -> anyhow::Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, from) = (format!("{shown}/{name}"), entry.path());
        let kind = entry.file_type()?;
        match name.as_str() {
            // Of whoever fills the cache, and of Python.
            "lock" | "__pycache__" => {}
            _ if kind.is_dir() => collect(&from, &path, files)?,
            _ => files.push(Packed { path, from }),
        }
    }
    Ok(())
}

/// The list first, then each file in its order. Answers the size of the archive.
fn write(files: &[Packed], to: &Path) -> anyhow::Result<u64> {
    let partial = to.with_extension("partial");
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let listed: Vec<Value> = files.iter().map(listed).collect::<anyhow::Result<_>>()?;
    let list = json!({
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "architecture": std::env::consts::ARCH,
        "files": listed,
    });
    let list = serde_json::to_vec(&list)?;
    let mut tar = Builder::new(BufWriter::new(File::create(&partial)?));
    let size = u64::try_from(list.len())?;
    tar.append_data(&mut header(size), "bundle.json", list.as_slice())?;
    for file in files {
        if file.from.is_symlink() {
            tar.append_data(&mut header(0), &file.path, io::empty())?;
            continue;
        }
        let open = File::open(&file.from)
            .with_context(|| format!("{} cannot be read", file.from.display()))?;
        let size = open.metadata()?.len();
        tar.append_data(&mut header(size), &file.path, open)?;
    }
    let out = tar.into_inner()?;
    out.into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .sync_all()?;
    fs::rename(&partial, to)?;
    Ok(fs::metadata(to)?.len())
}

fn header(size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(size);
    header
}

/// One line of the list. A link is told by where it leads and has no content.
fn listed(file: &Packed) -> anyhow::Result<Value> {
    if file.from.is_symlink() {
        let target = fs::read_link(&file.from)?;
        if target.is_absolute() {
            bail!(
                "{} leads to {}: it would lead nowhere on another machine",
                file.from.display(),
                target.display()
            );
        }
        return Ok(json!({
            "path": file.path, "bytes": 0, "sha256": "", "mode": 0o777, "link": target.to_string_lossy(),
        }));
    }
    let mut open = File::open(&file.from)
        .with_context(|| format!("{} cannot be read", file.from.display()))?;
    let mut hash = Sha256::new();
    let bytes = io::copy(&mut open, &mut hash)?;
    let mode = open.metadata()?.permissions().mode() & 0o777;
    Ok(json!({
        "path": file.path, "bytes": bytes, "sha256": hex::encode(hash.finalize()), "mode": mode,
    }))
}

#[cfg(test)]
mod tests;
