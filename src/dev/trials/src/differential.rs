//! `cargo xtask differential`: the same scripts on Kueue v0.17.0 and on ours, each on a bare control plane of its own; what the scripts leave
//! behind is compared.
//!
//! Scripts are the simulator's language. A world of the simulator plays along and says which objects change ([`player`]); jobs become real
//! Jobs, or Workloads without an owner where a Job cannot express them. [`normal`] takes away what may differ, [`known`] what differs between
//! the two versions, each with its reason.

mod cluster;
mod compare;
mod kinds;
mod known;
mod normal;
mod player;
mod quiet;
mod scripts;
mod tasks;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use crate::manager::{Manager, Settings};
use crate::plane::Plane;
use crate::programs;
use crate::reference::Reference;
use cluster::Cluster;
use compare::{Objects, Outcome};
use scripts::Script;

/// What to run.
#[derive(Debug, Args)]
pub struct Options {
    /// Only scripts whose names contain this.
    #[arg(long)]
    only: Option<String>,
    /// Show every difference.
    #[arg(long)]
    verbose: bool,
    /// Our manager; the one beside this program if absent.
    #[arg(long)]
    manager: Option<PathBuf>,
    /// Put ours on both planes: what then differs is chance, or a mistake of this program.
    #[arg(long)]
    twice_ours: bool,
    /// Keep both planes' folders, and the objects, here.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// One controller on its plane.
struct Side {
    program: PathBuf,
    plane: Plane,
    /// Gates that make our version behave as theirs.
    gates: &'static [(&'static str, bool)],
    running: Option<(Value, Manager)>,
}

/// Plays all scripts on both sides and prints a table; whether nothing differs.
///
/// # Errors
/// When a program is missing or a plane does not come up.
pub async fn run(options: &Options) -> anyhow::Result<bool> {
    let scratch = tempfile::Builder::new()
        .prefix("diff-")
        .tempdir_in("/tmp")?;
    let dir = options.keep.clone();
    let dir = dir.unwrap_or_else(|| scratch.path().to_owned());
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let ours = programs::manager(options.manager.as_deref())?;
    let own_crds = programs::repository().join("manifests/kueue/crds");
    let (theirs, crds, gates) = if options.twice_ours {
        (ours.clone(), own_crds.clone(), known::GATES)
    } else {
        let reference = Reference::obtain().await?;
        (reference.manager.clone(), reference.crds(), &[][..])
    };
    let mut theirs = Side::new("theirs", theirs, &crds, gates, &dir).await?;
    let mut ours = Side::new("ours", ours, &own_crds, known::GATES, &dir).await?;
    let mut outcomes = Vec::new();
    for script in scripts::all()? {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !script.name.contains(only))
        {
            continue;
        }
        let (left, right) = tokio::join!(theirs.play(&script), ours.play(&script));
        let outcome = match (left, right) {
            (Ok(left), Ok(right)) => {
                keep(&dir, &script.name, &left, &right)?;
                compare::compare(&left, &right)
            }
            (Err(error), _) => Outcome::failed("theirs", &error),
            (_, Err(error)) => Outcome::failed("ours", &error),
        };
        compare::line(&script.name, &outcome, options.verbose);
        outcomes.push(outcome);
    }
    for side in [theirs, ours] {
        side.stop().await?;
    }
    Ok(compare::sum(&outcomes))
}

fn keep(dir: &Path, name: &str, left: &Objects, right: &Objects) -> anyhow::Result<()> {
    for (side, objects) in [("theirs", left), ("ours", right)] {
        let file = dir.join(format!("{name}.{side}.json"));
        fs::write(file, serde_json::to_vec_pretty(objects)?)?;
    }
    Ok(())
}

impl Side {
    async fn new(
        name: &'static str,
        program: PathBuf,
        crds: &Path,
        gates: &'static [(&'static str, bool)],
        dir: &Path,
    ) -> anyhow::Result<Self> {
        let tools = programs::tools().await?;
        let dir = dir.join(name);
        let _ = fs::remove_dir_all(&dir);
        let plane = Plane::start(&tools, &dir).await?;
        crate::crds::install(&plane.client().await?, crds).await?;
        Ok(Self {
            program,
            plane,
            gates,
            running: None,
        })
    }

    async fn play(&mut self, script: &Script) -> anyhow::Result<Objects> {
        self.with(&script.settings).await?;
        let cluster = Cluster::new(self.plane.client().await?);
        let played = player::play(&cluster, script).await;
        let objects = cluster.everything().await;
        cluster.clear().await?;
        played?;
        Ok(normal::normal(objects?))
    }

    /// The manager with this configuration, started anew if it runs with another.
    async fn with(&mut self, settings: &Value) -> anyhow::Result<()> {
        if self
            .running
            .as_ref()
            .is_some_and(|(with, _)| with == settings)
        {
            return Ok(());
        }
        if let Some((_, manager)) = self.running.take() {
            manager.stop().await?;
        }
        let mut more = settings.clone();
        more["featureGates"]["VisibilityOnDemand"] = json!(false);
        for (gate, on) in self.gates {
            more["featureGates"][*gate] = json!(on);
        }
        let settings_of = Settings {
            more,
            ..Settings::without_limit()
        };
        let manager = Manager::start(&self.plane, &self.program, &settings_of).await?;
        self.running = Some((settings.clone(), manager));
        Ok(())
    }

    async fn stop(self) -> anyhow::Result<()> {
        if let Some((_, manager)) = self.running {
            manager.stop().await?;
        }
        self.plane.stop().await
    }
}
