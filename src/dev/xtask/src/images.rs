//! `cargo xtask images [NAME…]`: builds container images without a registry, an engine or root, and keeps them by the hash of
//! what they are made of. An image is one docker-archive in `~/.cache/atelier-kueue/images`: `docker load`, `kind load
//! image-archive` and `ctr images import` take it. What is in each is said in [`recipes`]; start reading there.

mod archive;
mod debian;
mod layer;
mod operator;
mod parts;
mod recipes;
mod sources;
pub mod trainings;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use crate::run::{self, say};
use recipes::{Make, Recipe};

/// Folders that a build uses.
#[derive(Debug)]
struct Places {
    /// Finished images.
    images: PathBuf,
    /// Debian packages as they were downloaded.
    packages: PathBuf,
    /// Programs that are not ours, by name and version.
    tools: PathBuf,
}

impl Places {
    fn new() -> anyhow::Result<Self> {
        let cache = cache()?;
        let places = Self {
            images: cache.join("images"),
            packages: cache.join("packages"),
            tools: cache.join("tools"),
        };
        fs::create_dir_all(&places.images)?;
        fs::create_dir_all(places.images.join("programs"))?;
        fs::create_dir_all(places.packages.join("partial"))?;
        Ok(places)
    }
}

/// Where everything that can be made again is kept.
///
/// # Errors
/// When there is no home folder.
pub fn cache() -> anyhow::Result<PathBuf> {
    let home = run::variable("HOME").context("HOME is not set")?;
    Ok(Path::new(&home).join(".cache/atelier-kueue"))
}

/// The names of the chosen images, or of all.
///
/// # Errors
/// When there is no such image.
pub fn names(chosen: &[String]) -> anyhow::Result<Vec<&'static str>> {
    Ok(choose(chosen)?.iter().map(|recipe| recipe.name).collect())
}

/// Builds the images with these names, or all of them.
///
/// # Errors
/// The first image that could not be built, in words.
pub fn build(names: &[String]) -> anyhow::Result<ExitCode> {
    let places = Places::new()?;
    let chosen = choose(names)?;
    for (number, recipe) in (1..).zip(&chosen) {
        let of = chosen.len();
        say(&format!(
            "── image {number}/{of}: {}, {}",
            recipe.name, recipe.about
        ));
        one(recipe, &places).with_context(|| format!("image {}", recipe.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what there is to build.
pub fn list() -> ExitCode {
    for recipe in recipes::ALL {
        say(&format!("{:<18} {}", recipe.name, recipe.about));
    }
    ExitCode::SUCCESS
}

fn choose(names: &[String]) -> anyhow::Result<Vec<&'static Recipe>> {
    if names.is_empty() {
        return Ok(recipes::ALL.iter().collect());
    }
    let find = |name: &String| {
        let recipe = recipes::ALL.iter().find(|recipe| recipe.name == name);
        let known: Vec<&str> = recipes::ALL.iter().map(|recipe| recipe.name).collect();
        recipe.with_context(|| {
            format!(
                "there is no image `{name}`; there are: {}",
                known.join(", ")
            )
        })
    };
    names.iter().map(find).collect()
}

fn one(recipe: &Recipe, places: &Places) -> anyhow::Result<()> {
    let link = places.images.join(format!("{}.tar", recipe.name));
    // Everything that goes in is looked up first: the key is made of what was found.
    let (key, layers) = match recipe.make {
        Make::Script {
            program,
            inputs,
            within,
        } => {
            let archives = built(within, places);
            (script_key(program, inputs, &archives)?, None)
        }
        Make::Layers(layers) => {
            let layers = sources::gather(layers, places)?;
            (sources::key(recipe, &layers)?, Some(layers))
        }
    };
    let file = places.images.join(format!(
        "{}-{}.tar",
        recipe.name,
        key.get(..16).unwrap_or(&key)
    ));
    if recipe.name == operator::IMAGE {
        operator::manifests(recipe, &link.with_extension("yaml"), places)?;
    }
    if file.exists() {
        point(&link, &file)?;
        say(&format!("   up to date: {}", file.display()));
        return Ok(());
    }
    let partial = file.with_extension("partial");
    match (recipe.make, layers) {
        (
            Make::Script {
                program, within, ..
            },
            _,
        ) => {
            let mut command = run::command(run::root().join(program));
            command.arg(&partial).args(built(within, places));
            run::step(program, &mut command)?;
        }
        (Make::Layers(_), Some(layers)) => archive::write(recipe, &layers, places, &partial)?,
        (Make::Layers(_), None) => bail!("the layers were not gathered"),
    }
    fs::rename(&partial, &file)?;
    let bytes = fs::metadata(&file)?.len();
    describe(recipe, &key, bytes, &link)?;
    point(&link, &file)?;
    forget_older(recipe, &file, places)?;
    say(&format!("   {} MB: {}", bytes / 1_000_000, file.display()));
    Ok(())
}

/// The archives of these images, of those that are there. Each is called by its key.
fn built(names: &[&str], places: &Places) -> Vec<PathBuf> {
    let archive = |name: &&str| {
        places
            .images
            .join(format!("{name}.tar"))
            .canonicalize()
            .ok()
    };
    names.iter().filter_map(archive).collect()
}

/// The key of an image that a script builds: the script and everything that it reads.
fn script_key(program: &str, inputs: &[&str], archives: &[PathBuf]) -> anyhow::Result<String> {
    let mut hash = Sha256::new();
    hash.update(program);
    for input in inputs {
        sources::hash_tree(&run::root().join(input), &mut hash)?;
    }
    for archive in archives {
        hash.update(archive.file_name().unwrap_or_default().as_encoded_bytes());
    }
    Ok(hex::encode(hash.finalize()))
}

/// Who loads an image reads its names and key here instead of unpacking it.
fn describe(recipe: &Recipe, key: &str, bytes: u64, link: &Path) -> anyhow::Result<()> {
    let text = serde_json::json!({
        "name": recipe.name,
        "tags": recipe.tags(),
        "key": key,
        "bytes": bytes,
    });
    fs::write(link.with_extension("json"), format!("{text:#}\n"))?;
    Ok(())
}

/// The plain name always points at the image in use.
fn point(link: &Path, file: &Path) -> anyhow::Result<()> {
    let name = file.file_name().context("an image without a name")?;
    let new = link.with_extension("link");
    if new.is_symlink() {
        fs::remove_file(&new)?;
    }
    std::os::unix::fs::symlink(name, &new)?;
    fs::rename(&new, link)?;
    Ok(())
}

/// Images are large: only the newest of a name is kept.
fn forget_older(recipe: &Recipe, file: &Path, places: &Places) -> anyhow::Result<()> {
    for entry in fs::read_dir(&places.images)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let key = name
            .as_deref()
            .and_then(|name| name.strip_prefix(recipe.name)?.strip_prefix('-'))
            .and_then(|rest| rest.strip_suffix(".tar"));
        // Another image's name may begin with this one's: a key has 16 hexadecimal digits and nothing else.
        let is_key = |key: &str| key.len() == 16 && key.bytes().all(|b| b.is_ascii_hexdigit());
        if key.is_some_and(is_key) && path != file {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
