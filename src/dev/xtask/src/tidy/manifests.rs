//! Member manifests: versions and features live only in the root, and every member takes the house's lints.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use cargo_metadata::Metadata;

pub(super) fn check(root: &Path, metadata: &Metadata) -> anyhow::Result<Vec<String>> {
    let mut problems = Vec::new();
    for package in metadata.workspace_packages() {
        let path = package.manifest_path.as_std_path();
        let text = fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let shown = path
            .strip_prefix(root)
            .unwrap_or(path)
            .display()
            .to_string();
        problems.extend(member(&shown, &text));
    }
    Ok(problems)
}

fn member(shown: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut section = "";
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.starts_with('[') {
            section = line;
            continue;
        }
        let in_dependencies = section.trim_matches(['[', ']']).ends_with("dependencies");
        let inherits = line.contains("workspace = true");
        if in_dependencies && line.contains('=') && !line.starts_with('#') && !inherits {
            problems.push(format!("{shown}:{number}: a member writes `name.workspace = true`; versions live in the root manifest"));
        }
    }
    if !text.contains("[lints]\nworkspace = true") {
        problems.push(format!("{shown}: `[lints] workspace = true` is missing"));
    }
    problems
}

#[cfg(test)]
mod tests;
