//! Debian packages without installing them: apt says which ones and fetches them (and checks their signatures), `dpkg-deb` unpacks
//! them. Their scripts do not run; what those would have done is written down in the recipe.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};

use super::Places;
use super::recipes::Debian;
use crate::run::{self, say};

/// Left out of every package: nobody reads it inside a container.
pub(super) const NEVER: [&str; 9] = [
    "usr/share/doc/*",
    "usr/share/man/*",
    "usr/share/info/*",
    "usr/share/locale/*",
    "usr/share/lintian/*",
    "usr/share/bug/*",
    "usr/share/doc-base/*",
    "usr/include/*",
    "var/cache/*",
];

/// The files of the packages and of what they need, in apt's order; all are on this machine afterwards.
pub(super) fn obtain(debian: &Debian, places: &Places) -> anyhow::Result<Vec<PathBuf>> {
    let claimed = Claimed::below(debian, places)?;
    let files = files(debian.packages, &claimed, places)?;
    let missing = files
        .iter()
        .filter(|file| !places.packages.join(&file.name).exists())
        .count();
    if missing > 0 {
        say(&format!(
            "   fetching {missing} of {} packages",
            files.len()
        ));
        fetch(debian.packages, &claimed, places)?;
    }
    let paths = files.iter().map(|file| places.packages.join(&file.name));
    Ok(paths.collect())
}

/// Starts unpacking one package; its payload is the child's standard output.
pub(super) fn payload(package: &Path) -> Command {
    let mut command = run::command("dpkg-deb");
    command
        .arg("--fsys-tarfile")
        .arg(package)
        .stdout(Stdio::piped());
    command
}

/// A package as apt names its file: `name_version_architecture.deb`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct File {
    name: String,
}

/// A list of packages that apt takes for installed.
struct Claimed {
    status: PathBuf,
}

impl Claimed {
    /// What is there before these packages come: the lower layer, and what they are told to do without.
    fn below(debian: &Debian, places: &Places) -> anyhow::Result<Self> {
        let mut versions: BTreeMap<String, String> = BTreeMap::new();
        if let Some(lower) = debian.on {
            for file in files(lower.packages, &Self::below(lower, places)?, places)? {
                let (name, version) = file.name_and_version()?;
                versions.insert(name, version);
            }
        }
        let lower = debian.on.map(|lower| lower.without).unwrap_or_default();
        let names: Vec<&str> = debian.without.iter().chain(lower).copied().collect();
        versions.extend(candidates(&names)?);
        Self::write(&versions, places)
    }

    fn write(versions: &BTreeMap<String, String>, places: &Places) -> anyhow::Result<Self> {
        let architecture = run::output("dpkg", &["--print-architecture"])
            .context("dpkg is missing: images are put together from Debian packages")?;
        let text: String = versions
            .iter()
            .map(|(name, version)| {
                format!("Package: {name}\nStatus: install ok installed\nMaintainer: none\nArchitecture: {architecture}\nMulti-Arch: foreign\nVersion: {version}\nDescription: claimed\n\n")
            })
            .collect();
        let name = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&text));
        let status = places
            .packages
            .join(format!("status-{}", name.get(..12).unwrap_or(&name)));
        fs::write(&status, text)?;
        Ok(Self { status })
    }
}

impl File {
    fn name_and_version(&self) -> anyhow::Result<(String, String)> {
        let mut parts = self.name.splitn(3, '_');
        let (name, version) = (parts.next(), parts.next());
        let (Some(name), Some(version)) = (name, version) else {
            bail!("apt named a file {}", self.name);
        };
        Ok((name.to_owned(), version.replace("%3a", ":")))
    }
}

/// The versions that apt would install, asked for at once: apt takes its time to think about each question.
fn candidates(names: &[&str]) -> anyhow::Result<BTreeMap<String, String>> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut arguments = vec!["policy"];
    arguments.extend(names);
    let policy = run::output("apt-cache", &arguments).unwrap_or_default();
    let found = policies(&policy);
    match names.iter().find(|name| !found.contains_key(**name)) {
        Some(name) => bail!("apt knows no package {name}: run `apt-get update` first"),
        None => Ok(found),
    }
}

/// Reads `apt-cache policy`: a line with each name, and one with its candidate further in.
fn policies(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut name = None;
    for line in text.lines() {
        if !line.starts_with(' ') {
            name = line.strip_suffix(':');
        } else if let (Some(name), Some(version)) = (name, line.trim().strip_prefix("Candidate: "))
            && version != "(none)"
        {
            found.insert(name.to_owned(), version.to_owned());
        }
    }
    found
}

fn apt(claimed: &Claimed, archives: &Path, places: &Places) -> Command {
    let mut command = run::command("apt-get");
    let settings = [
        format!("Dir::State::status={}", claimed.status.display()),
        format!("Dir::Cache={}", places.packages.display()),
        format!("Dir::Cache::archives={}", archives.display()),
        "Debug::NoLocking=true".to_owned(),
        "APT::Install-Recommends=false".to_owned(),
        "APT::Sandbox::User=root".to_owned(),
    ];
    for setting in settings {
        command.args(["-o", &setting]);
    }
    command.args(["--yes", "--quiet"]);
    command
}

/// Which files apt would install, whether they are here or not.
fn files(packages: &[&str], claimed: &Claimed, places: &Places) -> anyhow::Result<Vec<File>> {
    // apt prints only what it would fetch, so it is shown a folder that stays empty.
    let empty = places.packages.join("none");
    fs::create_dir_all(empty.join("partial"))?;
    let mut command = apt(claimed, &empty, places);
    command.args(["--print-uris", "install"]).args(packages);
    let output = command.output().context("apt-get could not be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("apt cannot install {}: {said}", packages.join(" "));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().filter_map(printed).collect())
}

/// A line of `--print-uris`: `'URI' file size hash`.
fn printed(line: &str) -> Option<File> {
    let (_, rest) = line.strip_prefix('\'')?.split_once("' ")?;
    let name = rest.split(' ').next()?.to_owned();
    Some(File { name })
}

fn fetch(packages: &[&str], claimed: &Claimed, places: &Places) -> anyhow::Result<()> {
    let mut command = apt(claimed, &places.packages, places);
    command.args(["--download-only", "install"]).args(packages);
    let output = command.output().context("apt-get could not be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("apt cannot fetch {}: {said}", packages.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
