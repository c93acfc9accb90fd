//! `cargo xtask migration`: Kueue v0.17.0 fills a bare control plane, is stopped, and ours takes its place on the same objects, under the same
//! configuration. Nobody who runs may notice; whoever waits is admitted later. `--back` goes the other way.
//!
//! [`load`] is what is submitted and what has to become of it under the first of the two, [`player`] plays the Job controller and the kubelets,
//! [`record`] is what is remembered of the objects and compared after the change.

mod load;
mod player;
mod record;

use std::path::{Path, PathBuf};

use clap::Args;
use kube::Client;
use serde_json::json;

use crate::manager::{Manager, Settings};
use crate::plane::Plane;
use crate::programs;
use crate::reference::Reference;
use player::Player;
use record::Record;

/// What to run.
#[derive(Debug, Args)]
pub struct Options {
    /// Our manager; the one beside this program if absent.
    #[arg(long)]
    manager: Option<PathBuf>,
    /// From ours to theirs.
    #[arg(long)]
    back: bool,
    /// Keep the plane's folder, with the logs, here.
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// One of the two controllers, and its definitions.
struct Side {
    name: &'static str,
    program: PathBuf,
    crds: PathBuf,
    own_etc: bool,
}

/// Goes from one controller to the other, and says what was noticed; whether that is nothing.
///
/// # Errors
/// When a program is missing, something does not come up, or the first controller does not do what it is expected to.
pub async fn run(options: &Options) -> anyhow::Result<bool> {
    let scratch = tempfile::Builder::new()
        .prefix("migration-")
        .tempdir_in("/tmp")?;
    let dir = options.keep.clone();
    let dir = dir.unwrap_or_else(|| scratch.path().to_owned());
    std::fs::create_dir_all(&dir)?;
    let mut sides = [
        theirs().await?,
        ours(programs::manager(options.manager.as_deref())?),
    ];
    if options.back {
        sides.reverse();
    }
    let [first, second] = &sides;
    let plane = Plane::open(&programs::tools().await?, &dir.canonicalize()?).await?;
    let client = plane.client().await?;
    crate::crds::install(&client, &first.crds).await?;
    let before = fill(&plane, &client, first).await?;
    say(&format!("{}: {}", first.name, before.sum()));

    crate::crds::replace(&client, &second.crds).await?;
    let manager = start(&plane, second).await?;
    let noticed = take_over(&client, second.name, &before).await;
    manager.stop().await?;
    plane.stop().await?;
    let noticed = noticed?;
    for what in &noticed {
        say(&format!("NOTICED: {what}"));
    }
    say(&format!(
        "{} to {}: {} noticed",
        first.name,
        second.name,
        noticed.len()
    ));
    Ok(noticed.is_empty())
}

async fn theirs() -> anyhow::Result<Side> {
    let reference = Reference::obtain().await?;
    Ok(Side {
        name: "Kueue v0.17.0",
        crds: reference.crds(),
        program: reference.manager,
        own_etc: true,
    })
}

fn ours(program: PathBuf) -> Side {
    Side {
        name: "Atelier Kueue",
        program,
        crds: programs::repository().join("manifests/kueue/crds"),
        own_etc: false,
    }
}

async fn start(plane: &Plane, side: &Side) -> anyhow::Result<Manager> {
    let settings = Settings {
        more: json!({
            "integrations": {"frameworks": ["batch/job", "pod"]},
            "featureGates": {"VisibilityOnDemand": false},
        }),
        own_etc: side.own_etc,
        ..Settings::without_limit()
    };
    Manager::start(plane, Path::new(&side.program), &settings).await
}

/// Submits everything, plays until nothing moves, and stops the controller.
async fn fill(plane: &Plane, client: &Client, side: &Side) -> anyhow::Result<Record> {
    let manager = start(plane, side).await?;
    let mut player = Player::new(client, true);
    for stage in load::STAGES {
        load::apply(client, stage).await?;
        player.settle().await?;
    }
    load::answer(client, "approved").await?;
    load::deactivate(client, "inactive").await?;
    player.settle().await?;
    let before = Record::take(client).await?;
    manager.stop().await?;
    before.expect(load::EXPECTED)?;
    Ok(before)
}

/// Looks at what the second controller does with what it finds, and then lets everything run to its end.
async fn take_over(client: &Client, name: &str, before: &Record) -> anyhow::Result<Vec<String>> {
    let mut player = Player::new(client, false);
    player.settle().await?;
    let after = Record::take(client).await?;
    say(&format!("{name}: {}", after.sum()));
    let mut noticed = before.compare(&after);

    load::answer(client, "asked").await?;
    load::resume(client).await?;
    player.finishing = true;
    player.settle().await?;
    let end = Record::take(client).await?;
    say(&format!("{name}, at the end: {}", end.sum()));
    noticed.extend(end.left(load::NEVER));
    Ok(noticed)
}

/// Says something to the person who waits.
#[expect(
    clippy::print_stdout,
    reason = "a command-line tool shows its result here"
)]
fn say(line: &str) {
    println!("{line}");
}
