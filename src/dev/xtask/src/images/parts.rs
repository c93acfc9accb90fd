//! Writes the parts of a layer.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};

use super::layer::Layer;
use super::recipes::Part;
use super::sources::{self, Gathered};
use super::{archive, debian};
use crate::run;

const CERTIFICATES: &str = "etc/ssl/certs/ca-certificates.crt";
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Adds one part. `below` are the layers that are finished, `scratch` a folder that goes away.
pub(super) fn add<W: Write>(
    layer: &mut Layer<W>,
    gathered: &Gathered,
    below: &[PathBuf],
    scratch: &Path,
) -> anyhow::Result<()> {
    match gathered.part {
        Part::Debian(recipe) => {
            let never = debian::NEVER.iter().chain(recipe.drop);
            layer.leave_out(never.map(|pattern| (*pattern).to_owned()).collect());
            if recipe.on.is_none() {
                layer.merged_root()?;
            }
            packages(layer, &gathered.files)
        }
        Part::Program { to, .. } | Part::Tool { to, .. } | Part::Go { to, .. } => {
            let program = gathered.files.first().context("no program was built")?;
            layer.file_from(to, 0o755, program)
        }
        Part::Copy { to, .. } => {
            let from = gathered.files.first().context("nothing to copy")?;
            copy(layer, from, to)
        }
        Part::Text { to, mode, text } => layer.file(to, *mode, text.as_bytes()),
        Part::Link { to, target } => layer.link(to, target),
        Part::Folder { to, mode, owner } => layer.folder(to, *mode, *owner),
        Part::Empty { libraries } => libraries
            .iter()
            .try_for_each(|library| empty(layer, library, scratch)),
        Part::Compiled { folders } => compiled(layer, folders, below, scratch),
    }
}

fn packages<W: Write>(layer: &mut Layer<W>, files: &[PathBuf]) -> anyhow::Result<()> {
    let mut certificates = Vec::new();
    for file in files {
        let shown = file.display();
        let mut child = debian::payload(file)
            .spawn()
            .context("dpkg-deb could not be started")?;
        let payload = child.stdout.take().context("dpkg-deb says nothing")?;
        layer
            .package(payload, &mut certificates)
            .with_context(|| format!("unpack {shown}"))?;
        if !child.wait()?.success() {
            bail!("{shown} is damaged: remove it, it will be fetched again");
        }
    }
    if certificates.is_empty() {
        return Ok(());
    }
    layer.file(CERTIFICATES, 0o644, &certificates)
}

fn copy<W: Write>(layer: &mut Layer<W>, from: &Path, to: &str) -> anyhow::Result<()> {
    if from.is_dir() {
        layer.folder(to, 0o755, 0)?;
        for name in sources::names(from)? {
            copy(layer, &from.join(&name), &format!("{to}/{name}"))?;
        }
        return Ok(());
    }
    let metadata =
        fs::metadata(from).with_context(|| format!("{} cannot be read", from.display()))?;
    let mode = if metadata.permissions().mode() & 0o100 == 0 {
        0o644
    } else {
        0o755
    };
    layer.file_from(to, mode, from)
}

/// A library with a name and nothing in it. The loader wants the name; nobody calls what would be inside.
fn empty<W: Write>(layer: &mut Layer<W>, library: &str, scratch: &Path) -> anyhow::Result<()> {
    let made = scratch.join(library);
    let mut command = run::command("cc");
    command
        .args([
            "-shared",
            "-nostdlib",
            "-s",
            "-Wl,--build-id=none",
            "-x",
            "c",
            "/dev/null",
        ])
        .arg(format!("-Wl,-soname,{library}"))
        .arg("-o")
        .arg(&made);
    let output = command.output().context("cc could not be started")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("cc cannot make an empty {library}: {said}");
    }
    layer.file_from(&format!("{LIBRARIES}/{library}"), 0o644, &made)
}

/// Lets the image's own Python compile its modules, in a sandbox whose root are the layers below.
fn compiled<W: Write>(
    layer: &mut Layer<W>,
    folders: &[&str],
    below: &[PathBuf],
    scratch: &Path,
) -> anyhow::Result<()> {
    let root = scratch.join("root");
    fs::create_dir_all(&root)?;
    for file in below {
        archive::extract(file, &root)?;
    }
    let mut command = run::command("bwrap");
    command.arg("--bind").arg(&root).arg("/");
    command.args([
        "--dev",
        "/dev",
        "--proc",
        "/proc",
        "--unshare-net",
        "/usr/bin/python3",
    ]);
    // The contents count, not the dates: every layer has dates of its own.
    command.args([
        "-m",
        "compileall",
        "-q",
        "--invalidation-mode",
        "unchecked-hash",
    ]);
    command.args(folders.iter().map(|folder| format!("/{folder}")));
    // A few modules of Python's own tests do not compile, on purpose; the status says so.
    command
        .status()
        .context("bwrap could not be started: install bubblewrap")?;
    for folder in folders {
        pycache(layer, &root.join(folder), folder)?;
    }
    Ok(())
}

fn pycache<W: Write>(layer: &mut Layer<W>, folder: &Path, shown: &str) -> anyhow::Result<()> {
    let caches = folder.join("__pycache__");
    if caches.is_dir() {
        for name in sources::names(&caches)? {
            let to = format!("{shown}/__pycache__/{name}");
            layer.file_from(&to, 0o644, &caches.join(&name))?;
        }
    }
    for name in sources::names(folder)? {
        let inner = folder.join(&name);
        if inner.is_dir() && !inner.is_symlink() {
            pycache(layer, &inner, &format!("{shown}/{name}"))?;
        }
    }
    Ok(())
}
