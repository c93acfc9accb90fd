//! `cargo xtask bench controller`: the reference's own performance harness, on its manager and on ours in turn, against real API servers.
//!
//! Twice: as its makefile does it, with a manager that may send 50 requests a second; and against a running plane with no limit, where the
//! managers themselves are what is measured. The first form is the reference's `minimalkueue`, the second its whole manager.

mod figures;
mod generator;
mod table;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use clusters::tools::Tools;
use exec::Cmd;
use serde_json::{Value, json};

use crate::differential::GATES;
use crate::manager::{Manager, Settings};
use crate::plane::Plane;
use crate::programs;
use crate::reference::Reference;
use figures::Figures;

/// The harness gives up after its own time; this is for one that hangs.
const HANGS: Duration = Duration::from_secs(60 * 60);

/// A configuration of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Load {
    /// 30 queues, 15,000 Workloads.
    Baseline,
    /// 1,000 queues, 50,000 Workloads.
    LargeScale,
    /// 30 queues, 15,000 Workloads on 640 nodes.
    Tas,
}

/// What to run.
#[derive(Debug, Args)]
pub struct Options {
    #[arg(value_enum, default_value = "baseline")]
    load: Load,
    /// Only with this limit of requests a second on both managers (burst twice as much), instead of 50 and none.
    #[arg(long)]
    qps: Option<u32>,
    /// How much of the Workloads to generate.
    #[arg(long, default_value_t = 1.0)]
    scale: f64,
    /// How often each manager runs.
    #[arg(long, default_value_t = 2)]
    rounds: usize,
    /// Only ours, for a look at it: there is nothing to compare with then.
    #[arg(long)]
    ours_only: bool,
    /// Only the form without a limit.
    #[arg(long)]
    unlimited_only: bool,
    /// Ours with the gates it is shipped with, instead of those that make it decide as v0.17. Ours then lets smaller Workloads past equal
    /// ones that do not fit, so that more is borrowed and more is taken back: another problem is solved.
    #[arg(long)]
    as_shipped: bool,
    /// Our manager; the one beside this program if absent. A release build is what should be measured.
    #[arg(long)]
    manager: Option<PathBuf>,
    /// Keep what the harness writes, and all logs, here.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Who runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Theirs,
    Ours,
}

/// How it is limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The harness starts API server and manager, which limits itself.
    Minimal,
    /// A running plane and a whole manager, with this many requests a second, if any.
    Whole(Option<u32>),
}

struct Bench<'a> {
    options: &'a Options,
    tools: Tools,
    reference: Reference,
    ours: PathBuf,
    dir: PathBuf,
    load: PathBuf,
}

/// Runs theirs, ours, theirs, ours in each form, and prints a table of each.
///
/// # Errors
/// When a program is missing or does not do its work.
pub async fn run(options: &Options) -> anyhow::Result<()> {
    let scratch = tempfile::Builder::new().prefix("harness-").tempdir()?;
    let dir = options.keep.clone();
    let dir = dir.unwrap_or_else(|| scratch.path().to_owned());
    fs::create_dir_all(&dir)?;
    let dir = dir.canonicalize()?;
    let reference = Reference::obtain().await?;
    let load = dir.join("generator.json");
    generator::write(&reference, options.load, options.scale, &load)?;
    let bench = Bench {
        options,
        tools: programs::tools().await?,
        reference,
        ours: programs::manager(options.manager.as_deref())?,
        dir,
        load,
    };
    let forms = match options.qps {
        Some(qps) => vec![Form::Whole(Some(qps))],
        None if options.unlimited_only => vec![Form::Whole(None)],
        None => vec![Form::Minimal, Form::Whole(None)],
    };
    for form in forms {
        bench.form(form).await?;
    }
    Ok(())
}

impl Bench<'_> {
    async fn form(&self, form: Form) -> anyhow::Result<()> {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for round in 1..=self.options.rounds {
            if !self.options.ours_only {
                theirs.push(self.one(form, Side::Theirs, round).await?);
            }
            ours.push(self.one(form, Side::Ours, round).await?);
        }
        let title = match form {
            Form::Minimal => "minimalkueue, 50 requests a second".to_owned(),
            Form::Whole(Some(qps)) => format!("whole manager, {qps} requests a second"),
            Form::Whole(None) => "whole manager, no limit".to_owned(),
        };
        let title = format!("{:?} × {}, {title}", self.options.load, self.options.scale);
        table::print(&title, &Figures::mean(&theirs), &Figures::mean(&ours));
        Ok(())
    }

    async fn one(&self, form: Form, side: Side, round: usize) -> anyhow::Result<Figures> {
        let dir = self.dir.join(format!("{form:?}-{side:?}-{round}"));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir)?;
        let figures = match form {
            Form::Minimal => self.minimal(side, &dir).await,
            Form::Whole(qps) => self.whole(side, qps, &dir).await,
        };
        let figures = figures.with_context(|| dir.display().to_string())?;
        table::progress(&format!("{form:?} {side:?} {round}"), &figures);
        Ok(figures)
    }

    async fn minimal(&self, side: Side, dir: &Path) -> anyhow::Result<Figures> {
        let assets = dir.join("assets");
        fs::create_dir_all(&assets)?;
        let tools = [
            &self.tools.etcd,
            &self.tools.kube_apiserver,
            &self.tools.kubectl,
        ];
        for tool in tools {
            let name = tool.file_name().context("a program has a name")?;
            std::os::unix::fs::symlink(tool, assets.join(name))?;
        }
        let (program, crds) = match side {
            Side::Theirs => (self.reference.minimal.clone(), self.reference.crds()),
            Side::Ours => (self.limited(dir)?, own_crds()),
        };
        let mut runner = self
            .runner(dir)
            .env("KUBEBUILDER_ASSETS", &assets)
            .env("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT", "5m")
            .arg("--crds")
            .arg(crds)
            .arg("--minimalKueue")
            .arg(&program);
        if self.options.load == Load::Tas {
            runner = runner.arg("--enableTAS=true");
        }
        let began = tokio::time::Instant::now();
        said(&runner, dir).await?;
        let wall = began.elapsed().as_secs_f64();
        let name = program.file_name().context("a program has a name")?;
        let stats = dir.join(format!("{}.stats.yaml", name.to_string_lossy()));
        Figures::read(dir, wall, figures::cost_of(&stats)?)
    }

    async fn whole(&self, side: Side, qps: Option<u32>, dir: &Path) -> anyhow::Result<Figures> {
        let plane = Plane::open(&self.tools, &dir.join("plane")).await?;
        let (program, crds) = match side {
            Side::Theirs => (&self.reference.manager, self.reference.crds()),
            Side::Ours => (&self.ours, own_crds()),
        };
        crate::crds::install(&plane.client().await?, &crds).await?;
        let mut settings = Settings::without_limit();
        if let Some(qps) = qps {
            (settings.qps, settings.burst) = (qps, qps * 2);
        }
        settings.more = self.gates(side);
        settings.arguments.push("--zap-log-level=error".to_owned());
        settings.own_etc = side == Side::Theirs;
        let manager = Manager::start(&plane, program, &settings).await?;
        let runner = self
            .runner(dir)
            .env("KUBECONFIG", plane.kubeconfig())
            .args(["--qps=1000", "--burst=2000"]);
        let began = tokio::time::Instant::now();
        said(&runner, dir).await?;
        let wall = began.elapsed().as_secs_f64();
        let cost = manager.cost()?;
        let asked = http::Request::get("/metrics").body(Vec::new())?;
        let asked = plane.client().await?.request_text(asked).await?;
        let servers = plane
            .pids()
            .map(|pid| pid.and_then(|pid| crate::manager::cost(pid).ok()));
        manager.stop().await?;
        plane.stop().await?;
        let mut figures = Figures::read(dir, wall, cost)?;
        figures.requests = figures::requests(&asked);
        figures.servers = servers.iter().flatten().map(|cost| cost.cpu).sum();
        Ok(figures)
    }

    /// Gates under which both decide alike.
    fn gates(&self, side: Side) -> Value {
        let mut more = json!({ "featureGates": { "VisibilityOnDemand": false } });
        if side == Side::Ours && !self.options.as_shipped {
            for (gate, on) in GATES {
                more["featureGates"][*gate] = json!(on);
            }
        }
        more
    }

    /// Their manager for the harness limits itself; ours is told to by its configuration.
    fn limited(&self, dir: &Path) -> anyhow::Result<PathBuf> {
        let mut settings = Settings::without_limit();
        (settings.qps, settings.burst) = (50, 100);
        settings.more = self.gates(Side::Ours);
        let configuration = settings.write(dir, 0)?;
        let script = dir.join("kueue-manager");
        let text = format!(
            "#!/bin/sh\nexec '{}' --zap-log-level=error --config='{}' \"$@\"\n",
            self.ours.display(),
            configuration.display()
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        Ok(script)
    }

    fn runner(&self, dir: &Path) -> Cmd {
        Cmd::new(&self.reference.runner)
            .cwd(dir)
            .env("PROJECT_DIR", &self.reference.module)
            .deadline(HANGS)
            .arg("--o")
            .arg(dir)
            .arg("--generatorConfig")
            .arg(&self.load)
            .arg("--timeout=40m")
    }
}

/// Runs the harness; what it says is kept.
async fn said(runner: &Cmd, dir: &Path) -> anyhow::Result<()> {
    let output = runner.output().await?;
    fs::write(
        dir.join("runner.log"),
        format!("{}{}", output.stdout, output.stderr),
    )?;
    if output.code != Some(0) {
        let last: Vec<&str> = output.stderr.lines().rev().take(5).collect();
        anyhow::bail!("the harness failed: {}", last.join("\n"));
    }
    Ok(())
}

fn own_crds() -> PathBuf {
    programs::repository().join("manifests/kueue/crds")
}
