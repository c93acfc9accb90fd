//! `cargo xtask bundle`: everything that a classroom without a network needs, as one archive. `atelier bundle install` puts it in
//! place; the list at its beginning (every file with size and SHA-256) is what that program checks. What goes in is in [`contents`].

mod contents;
mod progress;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Builder, EntryType, Header};

use crate::run::{self, say};
use crate::{frontend, images, packages, up};
pub use contents::{Contents, Packed, Tool, tools};
use progress::Counter;

/// Of the list; `atelier` refuses another one.
const FORMAT: u32 = 1;

/// Builds what is missing and writes the archive.
///
/// # Errors
/// The first step that failed, in words.
pub fn make(to: Option<&str>, only: &[String]) -> anyhow::Result<ExitCode> {
    packages::languages()?;
    frontend::bundle()?;
    up::build_release()?;
    images::build(only)?;
    let programs = run::release_folder()?;
    let tools = tools(&programs.join("atelier"))?;
    let files = Contents {
        programs,
        tree: run::root(),
        tools,
        images: images::cache()?.join("images"),
        names: images::names(only)?,
    }
    .gather()?;
    let name = format!(
        "atelier-kueue-{}-{}.tar",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    let to = to.map_or_else(|| run::root().join("target").join(name), PathBuf::from);
    let bytes = write(&files, &to, &mut say)?;
    let (count, megabytes, to) = (files.len(), bytes / 1_000_000, to.display());
    say(&format!("── {to}: {count} files, {megabytes} MB"));
    say(
        "   on the other machine: tar -xf FILE app/bin/atelier && app/bin/atelier bundle install FILE",
    );
    Ok(ExitCode::SUCCESS)
}

/// Writes the list first, then each file in its order. Answers the size of the archive.
///
/// # Errors
/// When a file cannot be read, or the archive cannot be written; then there is none.
pub fn write(files: &[Packed], to: &Path, told: &mut dyn FnMut(&str)) -> anyhow::Result<u64> {
    let mut partial = to.as_os_str().to_owned();
    partial.push(".partial");
    let partial = PathBuf::from(partial);
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    let written = write_to(files, &partial, told)
        .with_context(|| format!("write {}", to.display()))
        .and_then(|()| Ok(fs::rename(&partial, to)?));
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(&partial);
    }
    written?;
    Ok(fs::metadata(to)?.len())
}

fn write_to(files: &[Packed], to: &Path, told: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let total = files.iter().map(size).sum::<anyhow::Result<u64>>()?;
    let mut hashed = Counter::new("read", total, told);
    let listed: Vec<Value> = files
        .iter()
        .map(|file| listed(file, &mut hashed))
        .collect::<anyhow::Result<_>>()?;
    let list = json!({
        "format": FORMAT,
        "version": env!("CARGO_PKG_VERSION"),
        "architecture": std::env::consts::ARCH,
        "files": listed,
    });
    let list = serde_json::to_vec(&list)?;
    let mut tar = Builder::new(BufWriter::new(File::create(to)?));
    let length = u64::try_from(list.len())?;
    tar.append_data(&mut header(length, 0o644), "bundle.json", list.as_slice())?;
    let mut packed = Counter::new("packed", total, told);
    for file in files {
        if file.link.is_some() {
            tar.append_data(&mut header(0, 0o644), &file.path, io::empty())?;
            continue;
        }
        let open = open(file)?;
        let metadata = open.metadata()?;
        let mut header = header(metadata.len(), mode(&metadata));
        packed.now(&file.path);
        tar.append_data(&mut header, &file.path, packed.reader(open))?;
    }
    let mut out = tar.into_inner()?;
    out.flush()?;
    out.get_ref().sync_all()?;
    Ok(())
}

/// The mode is that of the file, so that `tar -xf` gives the program that installs the rest.
fn header(size: u64, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(mode);
    header.set_mtime(0);
    header.set_size(size);
    header
}

fn mode(metadata: &fs::Metadata) -> u32 {
    metadata.permissions().mode() & 0o777
}

fn open(file: &Packed) -> anyhow::Result<File> {
    File::open(&file.from).with_context(|| format!("{} cannot be read", file.from.display()))
}

fn size(file: &Packed) -> anyhow::Result<u64> {
    if file.link.is_some() {
        return Ok(0);
    }
    Ok(open(file)?.metadata()?.len())
}

/// One line of the list. A link is told by where it leads and has no content.
fn listed(file: &Packed, counter: &mut Counter<'_>) -> anyhow::Result<Value> {
    if let Some(link) = &file.link {
        if Path::new(link).is_absolute() {
            let from = file.from.display();
            bail!("{from} leads to {link}: it would lead nowhere on another machine");
        }
        return Ok(
            json!({"path": file.path, "bytes": 0, "sha256": "", "mode": 0o777, "link": link}),
        );
    }
    counter.now(&file.path);
    let open = open(file)?;
    let mode = mode(&open.metadata()?);
    let mut hash = Sha256::new();
    let bytes = io::copy(&mut counter.reader(open), &mut hash)?;
    Ok(json!({
        "path": file.path, "bytes": bytes, "sha256": hex::encode(hash.finalize()), "mode": mode,
    }))
}

#[cfg(test)]
mod tests;
