//! The layer on real kind clusters: an engine, the images, and a word for the tests on whether there are any.
//!
//! Where no engine can exist (no root, no control groups: `.ci/docker` tries and names it), where an image cannot be built, or where too little
//! time is left, the layer is left out aloud and its tests count as skipped. Once there are an engine and images, a test that fails is a failure
//! like any other.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::{images, run};

/// How the tests learn of it; whoever sets it before decides by themselves.
const VARIABLE: &str = "ATELIER_KIND";
/// `.ci/docker` says with it that no engine can exist.
const IMPOSSIBLE: i32 = 3;
/// What clusters of the tests hold, and the shell beside them.
const IMAGES: [&str; 6] = [
    "outils",
    "trainer",
    "workstation",
    "gpu",
    "kueue-manager",
    "node",
];

/// On a machine without caches everything before takes its time, and a run has 90 minutes in all: images and clusters need 50 of them.
const LATEST_START: Duration = Duration::from_mins(30);

/// The engine for the time of the tests: one that was started for them ends with them.
#[derive(Debug)]
pub(super) struct Engine {
    word: String,
    started: bool,
}

impl Engine {
    /// Brings an engine and the images up, or finds out that there can be none, or not in the time that is left.
    pub(super) fn up(begun: Instant) -> Self {
        if let Some(word) = run::variable(VARIABLE) {
            return Self {
                word,
                started: false,
            };
        }
        if begun.elapsed() > LATEST_START {
            let minutes = LATEST_START.as_secs() / 60;
            return Self::without(&format!(
                "all before took more than {minutes} minutes, which leaves no time for images and clusters; the next run finds the caches filled"
            ));
        }
        let ran_before = run::output("docker", &["info"]).is_some();
        match start() {
            Ok(None) => {}
            Ok(Some(reason)) => return Self::without(&reason),
            Err(failure) => return Self::without(&format!("{failure:#}")),
        }
        let mut engine = Self {
            word: "1".to_owned(),
            started: !ran_before,
        };
        if let Err(failure) = images::build(&IMAGES.map(str::to_owned)) {
            let reason = format!("an image could not be built: {failure:#}");
            engine.word = Self::without(&reason).word.clone();
        }
        engine
    }

    /// The layer is left out, aloud: the closing line counts its tests as skipped.
    fn without(reason: &str) -> Self {
        run::say(&format!(
            "!! KIND CLUSTERS ARE NOT TESTED IN THIS RUN: {reason}"
        ));
        Self {
            word: reason.to_owned(),
            started: false,
        }
    }

    /// Nothing of it is wanted in this run.
    pub(super) fn left_out() -> Self {
        Self {
            word: "left out by --quick".to_owned(),
            started: false,
        }
    }

    pub(super) fn tell(&self, tests: &mut Command) {
        tests.env(VARIABLE, &self.word);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if self.started {
            let stopped = script().arg("stop").status();
            if !stopped.is_ok_and(|status| status.success()) {
                run::say("!! the container engine could not be stopped");
            }
        }
    }
}

fn script() -> Command {
    run::command(run::root().join(".ci/docker"))
}

/// Nothing when an engine answers, else why none can.
fn start() -> anyhow::Result<Option<String>> {
    run::say("── container engine");
    // The engine it starts would hold a pipe open.
    let log = std::env::temp_dir().join(format!("atelier-engine-{}", std::process::id()));
    let file = std::fs::File::create(&log).context("no temporary file can be made")?;
    let status = script().stdin(Stdio::null()).stderr(file).status();
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    let _ = std::fs::remove_file(&log);
    run::say(said.trim_end());
    let status = status.context("`.ci/docker` could not be started")?;
    let last = said.lines().last().unwrap_or("it said nothing").to_owned();
    match status.code() {
        Some(0) => Ok(None),
        Some(IMPOSSIBLE) => Ok(Some(last)),
        _ => bail!("`.ci/docker` ended with {status}: {last}"),
    }
}
