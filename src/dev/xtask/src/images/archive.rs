//! A whole image as one file, in the form of `docker save`: layers, a configuration that names their hashes, and a manifest.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::layer::Layer;
use super::recipes::{Recipe, Settings};
use super::sources::Gathered;
use super::{Places, parts};
use crate::run::{self, say};

/// Writes the image to `to`.
pub(super) fn write(
    recipe: &Recipe,
    layers: &[Vec<Gathered>],
    places: &Places,
    to: &Path,
) -> anyhow::Result<()> {
    let scratch = Scratch::new(places.images.join(format!("scratch-{}", recipe.name)))?;
    let mut files: Vec<PathBuf> = Vec::new();
    let mut digests: Vec<String> = Vec::new();
    for (number, layer) in (1..).zip(layers) {
        let file = scratch.0.join(format!("{number}.tar"));
        let mut out = Layer::new(BufWriter::new(File::create(&file)?));
        for gathered in layer {
            parts::add(&mut out, gathered, &files, &scratch.0)?;
        }
        let (digest, bytes) = out.finish()?;
        say(&format!(
            "   layer {number}/{}: {:.1} MB",
            layers.len(),
            f64::from(u32::try_from(bytes / 1024)?) / 1024.0
        ));
        files.push(file);
        digests.push(digest);
    }
    pack(recipe, &files, &digests, to)
}

fn pack(recipe: &Recipe, files: &[PathBuf], digests: &[String], to: &Path) -> anyhow::Result<()> {
    let config = serde_json::to_vec(&config(&recipe.settings, digests))?;
    let config_name = format!("{}.json", hex::encode(Sha256::digest(&config)));
    let names: Vec<String> = digests
        .iter()
        .map(|digest| format!("{digest}/layer.tar"))
        .collect();
    let manifest = json!([{
        "Config": config_name,
        "RepoTags": recipe.tags(),
        "Layers": names,
    }]);
    let mut archive = Layer::new(BufWriter::new(File::create(to)?));
    for (name, file) in names.iter().zip(files) {
        archive.file_from(name, 0o644, file)?;
    }
    archive.file(&config_name, 0o644, &config)?;
    archive.file("manifest.json", 0o644, &serde_json::to_vec(&manifest)?)?;
    archive.finish()?;
    Ok(())
}

/// The configuration, as the OCI image format has it.
fn config(settings: &Settings, digests: &[String]) -> Value {
    let digests: Vec<String> = digests
        .iter()
        .map(|digest| format!("sha256:{digest}"))
        .collect();
    let history: Vec<Value> = digests
        .iter()
        .map(|_| json!({"created": EPOCH, "created_by": "cargo xtask images"}))
        .collect();
    json!({
        "architecture": "amd64",
        "os": "linux",
        "created": EPOCH,
        "config": {
            "User": settings.user,
            "WorkingDir": settings.folder,
            "Entrypoint": settings.entrypoint,
            "Cmd": settings.command,
            "Env": settings.env,
        },
        "rootfs": {"type": "layers", "diff_ids": digests},
        "history": history,
    })
}

/// No date: the same content is the same image.
const EPOCH: &str = "1970-01-01T00:00:00Z";

/// A folder that is gone afterwards, whatever happened.
pub(super) struct Scratch(pub(super) PathBuf);

impl Scratch {
    pub(super) fn new(path: PathBuf) -> anyhow::Result<Self> {
        if path.exists() {
            fs::remove_dir_all(&path)?;
        }
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whatever cannot be removed now is removed before the next build.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;

/// Unpacks a layer, or a whole image, over what is in a folder.
pub(super) fn extract(archive: &Path, to: &Path) -> anyhow::Result<()> {
    let mut command = run::command("tar");
    command.args([
        "--extract",
        "--no-same-owner",
        "--keep-directory-symlink",
        "--directory",
    ]);
    command.arg(to).arg("--file").arg(archive);
    if !command
        .status()
        .context("tar could not be started")?
        .success()
    {
        bail!("{} cannot be unpacked", archive.display());
    }
    Ok(())
}
