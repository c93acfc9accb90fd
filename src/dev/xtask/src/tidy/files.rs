//! Files: length, names, and words that may not stay in the tree.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::rooms::CLIENTS;

/// No production file is longer.
const LONGEST: usize = 800;
/// Longer files need a name on the list below.
const LONG: usize = 400;

/// Files over 400 lines, each because one table or one wire type is easier to read in one piece.
const LONG_BUT_KNOWN: &[&str] = &[
    // Every transition of a Workload's status, side by side.
    "src/kueue/cache/src/transition.rs",
];

/// What a line may not hold, and why. Split so that this file does not find itself.
const UNWANTED: &[(&str, &str, &str)] = &[
    (
        "todo",
        "!(",
        "a stub may not land: build it or say to the user in words that it is not there yet",
    ),
    (
        "unimplemented",
        "!(",
        "a stub may not land: build it or say to the user in words that it is not there yet",
    ),
    (
        "#[igno",
        "re",
        "a test that does not run proves nothing: print `skipped: reason` where the machine lacks something",
    ),
    (
        "assert!(tr",
        "ue)",
        "a test that cannot fail proves nothing",
    ),
];

pub(super) fn check(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files)?;
    files.sort();
    let mut problems = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let shown = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .display()
            .to_string();
        problems.extend(one(&shown, &text));
    }
    Ok(problems)
}

fn one(shown: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = text.lines().count();
    // Suites of the corpus are tables of small functions, one a file of cases: tests in all but name.
    let tests = shown.contains("/tests/")
        || shown.ends_with("/tests.rs")
        || shown.starts_with("src/dev/conformance/src/suites/");
    if shown.ends_with("/mod.rs") {
        problems.push(format!(
            "{shown}: use `name.rs` beside the folder `name/`, no mod.rs"
        ));
    }
    if lines > LONGEST {
        problems.push(format!(
            "{shown}: {lines} lines; split it, {LONGEST} is the limit"
        ));
    } else if lines > LONG && !tests && !LONG_BUT_KNOWN.contains(&shown) {
        problems.push(format!(
            "{shown}: {lines} lines; split it or name it in LONG_BUT_KNOWN with the reason"
        ));
    }
    if text.contains(concat!("mod ", "tests {")) {
        problems.push(format!(
            "{shown}: tests live in a sibling file, so that production files stay short"
        ));
    }
    for (number, line) in (1..).zip(text.lines()) {
        for (head, tail, reason) in UNWANTED {
            if line.contains(&format!("{head}{tail}")) {
                problems.push(format!("{shown}:{number}: `{head}{tail}`: {reason}"));
            }
        }
    }
    problems.extend(client_in_the_wrong_room(shown, text));
    problems
}

/// A Kubernetes client in a room that only thinks.
fn client_in_the_wrong_room(shown: &str, text: &str) -> Option<String> {
    let room = shown.split('/').nth(2)?;
    let holds = text.contains("kube::Client")
        || text.contains("kube::client::Client")
        || text.contains("kube::{Client");
    (holds && !CLIENTS.contains(&room) && room != "xtask")
        .then(|| format!("{shown}: a Kubernetes client belongs to {CLIENTS:?}"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    for entry in
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?
    {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
