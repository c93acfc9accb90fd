//! What is in a bundle: programs, labs, front end and chart (`app/`), the tools and finished images (`cache/`). A part that is not
//! there is an error here, where it can still be built, not on a machine without a network.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use crate::run;

/// Programs of the product.
const PROGRAMS: [&str; 4] = [
    "atelier",
    "environment-supervisor",
    "sandbox-relay",
    "kueue-manager",
];
/// Folders of the tree, as they are, and what must be in each.
const TREES: [(&str, &str); 3] = [
    ("labs", "profiles"),
    ("static/dist", "manifest.json"),
    ("manifests", "kueue/Chart.yaml"),
];

/// A file of this machine and its path in the archive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Packed {
    /// In the archive.
    pub path: String,
    /// On this machine.
    pub from: PathBuf,
    /// Where it leads, for a link.
    pub link: Option<String>,
}

/// A program of the platform that is not ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    pub name: String,
    pub version: String,
    pub path: PathBuf,
}

/// Where the parts are.
#[derive(Debug, Clone)]
pub struct Contents {
    /// The folder of the product's programs.
    pub programs: PathBuf,
    /// The root of the tree.
    pub tree: PathBuf,
    pub tools: Vec<Tool>,
    /// The folder of finished images.
    pub images: PathBuf,
    /// The images to pack.
    pub names: Vec<&'static str>,
}

/// The platform's tools, wherever they were found.
///
/// # Errors
/// When one is not to be had.
pub fn tools(atelier: &Path) -> anyhow::Result<Vec<Tool>> {
    let mut command = run::command(atelier);
    command.args(["tools", "--list"]);
    let output = command
        .stderr(std::process::Stdio::inherit())
        .output()
        .with_context(|| format!("{} could not be started", atelier.display()))?;
    if !output.status.success() {
        bail!("the tools are not complete: run `cargo xtask tools`");
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(tool).collect()
}

fn tool(line: &str) -> anyhow::Result<Tool> {
    let mut words = line.splitn(3, '\t').map(str::to_owned);
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(version), Some(path)) => Ok(Tool {
            name,
            version,
            path: path.into(),
        }),
        _ => bail!("`atelier tools --list` printed `{line}`"),
    }
}

impl Contents {
    /// Every file, the programs first: who unpacks only these needs not read the rest.
    ///
    /// # Errors
    /// The first part that is missing, and how it is made.
    pub fn gather(&self) -> anyhow::Result<Vec<Packed>> {
        let mut files = self.programs()?;
        let mut rest = Vec::new();
        for (tree, inside) in TREES {
            let from = self.tree.join(tree);
            if !from.join(inside).exists() {
                bail!("{tree} is not complete: {inside} is missing there");
            }
            collect(&from, &format!("app/{tree}"), &mut rest)?;
        }
        rest.sort();
        files.append(&mut rest);
        files.extend(self.tools()?);
        for name in &self.names {
            files.extend(self.image(name)?);
        }
        Ok(files)
    }

    fn programs(&self) -> anyhow::Result<Vec<Packed>> {
        let one = |name: &&str| {
            let from = self.programs.join(name);
            if !from.is_file() {
                bail!("{} is missing: it was not built", from.display());
            }
            Ok(file(format!("app/bin/{name}"), from))
        };
        PROGRAMS.iter().map(one).collect()
    }

    /// As the cache on the other machine has them. One program under several names is packed once.
    fn tools(&self) -> anyhow::Result<Vec<Packed>> {
        let mut packed: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut files = Vec::new();
        for tool in &self.tools {
            let real = fs::canonicalize(&tool.path)
                .with_context(|| format!("{} is missing", tool.path.display()))?;
            let inside = format!("{0}-{1}/{0}", tool.name, tool.version);
            let path = format!("cache/tools/{inside}");
            if let Some(first) = packed.get(&real) {
                files.push(Packed {
                    path,
                    from: tool.path.clone(),
                    link: Some(format!("../{first}")),
                });
                continue;
            }
            files.push(file(path, real.clone()));
            packed.insert(real, inside);
        }
        Ok(files)
    }

    /// The archive, the plain name that leads to it, and what lies beside it: its description, its manifests.
    fn image(&self, name: &str) -> anyhow::Result<Vec<Packed>> {
        let plain = self.images.join(format!("{name}.tar"));
        let archive = fs::canonicalize(&plain).with_context(|| {
            format!("the image {name} is missing: `cargo xtask images {name}` builds it")
        })?;
        let called = archive
            .file_name()
            .context("an image without a name")?
            .to_string_lossy()
            .into_owned();
        let inside = |name: &str| format!("cache/images/{name}");
        let mut files = vec![file(inside(&called), archive)];
        for ending in ["json", "yaml"] {
            let beside = plain.with_extension(ending);
            if beside.is_file() {
                files.push(file(inside(&format!("{name}.{ending}")), beside));
            }
        }
        // After its archive: whoever sees the name finds what it leads to.
        files.push(Packed {
            path: inside(&format!("{name}.tar")),
            from: plain,
            link: Some(called),
        });
        Ok(files)
    }
}

fn file(path: String, from: PathBuf) -> Packed {
    Packed {
        path,
        from,
        link: None,
    }
}

pub(super) fn collect(folder: &Path, shown: &str, files: &mut Vec<Packed>) -> anyhow::Result<()> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, from) = (format!("{shown}/{name}"), entry.path());
        let kind = entry.file_type()?;
        if kind.is_dir() {
            // Python's own.
            if name != "__pycache__" {
                collect(&from, &path, files)?;
            }
        } else if kind.is_symlink() {
            let target = fs::read_link(&from)?.to_string_lossy().into_owned();
            files.push(Packed {
                path,
                from,
                link: Some(target),
            });
        } else {
            files.push(file(path, from));
        }
    }
    Ok(())
}
