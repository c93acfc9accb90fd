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
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

use crate::manager::{Manager, Settings};
use crate::plane::Plane;
use crate::programs;
use crate::reference::Reference;
use cluster::Cluster;
use compare::{Objects, Outcome};
pub(crate) use known::GATES;
use scripts::Script;

/// How late a controller may be after its plane was quiet, and how often it is looked at.
const LATE: Duration = Duration::from_secs(20);
const LOOK: Duration = Duration::from_millis(500);

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
    own_etc: bool,
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
        (ours.clone(), own_crds.clone(), GATES)
    } else {
        let reference = Reference::obtain().await?;
        (reference.manager.clone(), reference.crds(), &[][..])
    };
    let mut theirs = Side::new("theirs", theirs, &crds, gates, &dir).await?;
    let mut ours = Side::new("ours", ours, &own_crds, GATES, &dir).await?;
    theirs.own_etc = !options.twice_ours;
    let mut outcomes = Vec::new();
    for script in scripts::all()? {
        if options
            .only
            .as_ref()
            .is_some_and(|only| !script.name.contains(only))
        {
            continue;
        }
        let played = tokio::join!(theirs.play(&script), ours.play(&script));
        let outcome = match played {
            (Ok(()), Ok(())) => agree(&theirs, &ours, &dir, &script.name).await?,
            (Err(error), Ok(())) => match known::restless(&script.name, &error) {
                Some(reason) => Outcome::ours_alone(ours.objects().await?.len(), reason),
                None => Outcome::failed("theirs", &error),
            },
            (_, Err(error)) => Outcome::failed("ours", &error),
        };
        for side in [&theirs, &ours] {
            side.cluster().await?.clear().await?;
        }
        compare::line(&script.name, &outcome, options.verbose);
        outcomes.push(outcome);
    }
    for side in [theirs, ours] {
        side.stop().await?;
    }
    Ok(compare::sum(&outcomes))
}

/// Compares what both have left. A controller may be late on a busy machine, so what differs is looked at again for a while.
async fn agree(theirs: &Side, ours: &Side, dir: &Path, name: &str) -> anyhow::Result<Outcome> {
    let began = tokio::time::Instant::now();
    loop {
        let (left, right) = (theirs.objects().await?, ours.objects().await?);
        let outcome = compare::compare(&left, &right);
        if outcome.is_good() || began.elapsed() > LATE {
            keep(dir, name, &left, &right)?;
            return Ok(outcome);
        }
        tokio::time::sleep(LOOK).await;
    }
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
        let plane = Plane::open(&tools, &dir).await?;
        crate::crds::install(&plane.client().await?, crds).await?;
        Ok(Self {
            program,
            plane,
            gates,
            running: None,
            own_etc: false,
        })
    }

    async fn play(&mut self, script: &Script) -> anyhow::Result<()> {
        self.with(&script.settings).await?;
        player::play(&self.cluster().await?, script).await
    }

    async fn cluster(&self) -> anyhow::Result<Cluster> {
        Ok(Cluster::new(self.plane.client().await?))
    }

    async fn objects(&self) -> anyhow::Result<Objects> {
        Ok(normal::normal(self.cluster().await?.everything().await?))
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
            own_etc: self.own_etc,
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
