//! The scripts: the simulator's own scenarios, and those in this room's folder `scenarios`.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::{Value, json};
use simulator::{Command, Setting, parse, split};

use crate::programs;

/// One script, read.
#[derive(Debug)]
pub(super) struct Script {
    pub(super) name: String,
    pub(super) commands: Vec<Command>,
    /// The configuration that its `set` sentences ask for.
    pub(super) settings: Value,
}

/// All of them, by name.
pub(super) fn all() -> anyhow::Result<Vec<Script>> {
    let folders = ["src/kueue/simulator/scenarios", "src/dev/trials/scenarios"];
    let mut paths = Vec::new();
    for folder in folders {
        let folder = programs::repository().join(folder);
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            paths.push(entry?.path());
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "sim"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> anyhow::Result<Script> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let shown = path.display().to_string();
    let mut commands = Vec::new();
    for statement in split(&text) {
        let parsed = parse(&statement).map_err(|problem| problem.in_file(&shown))?;
        commands.extend(parsed);
    }
    let name = path.file_stem().unwrap_or_default();
    Ok(Script {
        name: name.to_string_lossy().into_owned(),
        settings: settings(&commands),
        commands,
    })
}

fn settings(commands: &[Command]) -> Value {
    let mut settings = json!({ "featureGates": {} });
    for command in commands {
        match command {
            Command::Set(Setting::FairSharing(true)) => {
                settings["fairSharing"] = json!({
                    "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
                });
            }
            Command::Set(Setting::Gate(name, on)) => settings["featureGates"][name] = json!(on),
            _ => {}
        }
    }
    settings
}
