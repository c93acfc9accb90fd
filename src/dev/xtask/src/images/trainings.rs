//! `cargo xtask trainings`: what the trainings promise, tried inside their image with real PyTorch, without network and without an engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;

use super::archive::{Scratch, extract};
use super::{Places, build};
use crate::run;

const IMAGE: &str = "trainer";
const TESTS: &str = "/opt/atelier/trainings/tests/essais.py";

/// Builds the image if it is not there, and runs the tests. `only` are names of tests, as Python's `unittest` takes them.
///
/// # Errors
/// When the image cannot be built, or a test fails.
pub fn run(only: &[String]) -> anyhow::Result<ExitCode> {
    build(&[IMAGE.to_owned()])?;
    let places = Places::new()?;
    let scratch = Scratch::new(places.images.join("scratch-trainings"))?;
    let root = unpack(&places.images.join(format!("{IMAGE}.tar")), &scratch.0)?;
    let mut tests = sandbox(&root);
    tests
        .args(["/usr/bin/python3", "-W", "ignore", TESTS])
        .args(only);
    run::step("trainings", &mut tests)?;
    Ok(ExitCode::SUCCESS)
}

/// As a pod would run it: read-only root, an ordinary user, one thread, no network but its own loopback.
fn sandbox(root: &Path) -> std::process::Command {
    let mut command = run::command("bwrap");
    command.arg("--ro-bind").arg(root).arg("/");
    command.args(["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.args([
        "--unshare-user",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--unshare-net",
    ]);
    command.args(["--unshare-pid", "--die-with-parent", "--clearenv"]);
    for (name, value) in [
        ("PATH", "/usr/bin"),
        ("HOME", "/tmp"),
        ("LANG", "C.UTF-8"),
        ("OMP_NUM_THREADS", "1"),
        ("OPENBLAS_NUM_THREADS", "1"),
        ("PYTHONUNBUFFERED", "1"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
    ] {
        command.args(["--setenv", name, value]);
    }
    command
}

/// Lays the layers of an archive over each other.
fn unpack(image: &Path, scratch: &Path) -> anyhow::Result<PathBuf> {
    let (layers, root) = (scratch.join("layers"), scratch.join("root"));
    fs::create_dir_all(&layers)?;
    fs::create_dir_all(&root)?;
    extract(image, &layers)?;
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(layers.join("manifest.json"))?)?;
    let names = manifest
        .pointer("/0/Layers")
        .and_then(serde_json::Value::as_array);
    for name in names.context("the image has no layers")? {
        let layer = layers.join(name.as_str().context("a layer without a name")?);
        extract(&layer, &root)?;
        fs::remove_file(layer)?;
    }
    Ok(root)
}
