//! The Training Operator's manifests, from the module that its program is built from: rendered by its own overlay, with our image.
//! They are not committed; they lie beside the image as `training-operator.yaml`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use super::recipes::Recipe;
use super::{Places, sources};
use crate::run;

pub(super) const IMAGE: &str = "training-operator";
const MODULE: &str = "github.com/kubeflow/training-operator";
const OVERLAY: &str = "manifests/overlays/standalone";

pub(super) fn manifests(recipe: &Recipe, to: &Path, places: &Places) -> anyhow::Result<()> {
    let mut list = run::command(sources::find_go()?);
    list.current_dir(run::root().join("images/training-operator"))
        .env("GOWORK", "off")
        .args(["list", "-m", "-f", "{{.Dir}}", MODULE]);
    let module = said(&mut list, "go list")?;
    let overlay = Path::new(module.trim()).join(OVERLAY);
    let mut kustomize = run::command(sources::tool("kubectl", places)?);
    kustomize.arg("kustomize").arg(&overlay);
    let text = said(&mut kustomize, "kubectl kustomize")?;
    let [tag, _] = recipe.tags();
    fs::write(to, with_image(&text, &tag)?)?;
    Ok(())
}

/// The text with our image in the place of the published one, which an offline cluster cannot fetch.
fn with_image(text: &str, tag: &str) -> anyhow::Result<String> {
    let mut replaced = 0;
    let line = |line: &str| {
        let Some((before, _)) = line.split_once("image: kubeflow/training-operator") else {
            return format!("{line}\n");
        };
        replaced += 1;
        format!("{before}image: {tag}\n{before}imagePullPolicy: IfNotPresent\n")
    };
    let text: String = text.lines().map(line).collect();
    if replaced != 1 {
        bail!("the operator's manifests name its image {replaced} times, not once");
    }
    Ok(text)
}

fn said(command: &mut std::process::Command, name: &str) -> anyhow::Result<String> {
    let output = command
        .output()
        .with_context(|| format!("{name} could not be started"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests;
