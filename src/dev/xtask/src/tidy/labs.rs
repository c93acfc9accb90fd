//! Labs: every text in both languages. What is inside them is checked by the lint of `course`, which knows the grammar.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Context as _;

/// Folders of `labs/` that are not labs.
const NOT_LABS: &[&str] = &["profiles", "trainings"];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let labs = root.join("labs");
    let mut problems = Vec::new();
    for name in names(&labs)? {
        let folder = labs.join(&name);
        if !folder.is_dir() || NOT_LABS.contains(&name.as_str()) {
            continue;
        }
        for part in ["lab.yaml", "fr", "en", "solution", "wrong"] {
            if !folder.join(part).exists() {
                problems.push(format!("labs/{name}: `{part}` is missing (labs/FORMAT.md)"));
            }
        }
        let (french, english) = (names(&folder.join("fr"))?, names(&folder.join("en"))?);
        for only in french.symmetric_difference(&english) {
            problems.push(format!("labs/{name}: `{only}` exists in one language only"));
        }
    }
    Ok(problems)
}

fn names(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    if !folder.exists() {
        return Ok(BTreeSet::new());
    }
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    entries
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}
