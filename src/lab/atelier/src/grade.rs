//! `atelier grade`: a lab's verdicts from the record alone. The server need not run, and nothing is asked of the cluster.

pub(crate) mod report;
#[cfg(test)]
mod tests;

use crate::{
    judge::{database, shelf},
    options::Options,
};
use anyhow::{Context, bail};
use course::{Lab, Language};
use std::{io::Write as _, process::ExitCode};
use store::Store;
use timeline::{LabVerdicts, Timeline, verdict};

/// Arguments of `atelier grade`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The lab, or the beginning of its name
    lab: String,
    /// The environment whose record is judged; may be left out when there is only one
    #[arg(long, value_name = "NAME")]
    env: Option<String>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Language of titles and explanations
    #[arg(long, value_enum, default_value = "fr")]
    language: Tongue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
    Junit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Tongue {
    Fr,
    En,
}

impl From<Tongue> for Language {
    fn from(tongue: Tongue) -> Self {
        match tongue {
            Tongue::Fr => Self::Fr,
            Tongue::En => Self::En,
        }
    }
}

/// Carries out `atelier grade`: exit status 0 only for full marks.
///
/// # Errors
/// When the lab or the record cannot be read.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let Args {
        lab,
        env,
        format,
        language,
    } = args;
    let lab = shelf::lab(&options.labs_dir(), &lab)?.lab;
    let store = Store::open_read_only(&database(options)).await?;
    let environment = environment(&store, env).await?;
    let entries = store.entries(&environment, 0).await?;
    if entries.is_empty() {
        bail!("nothing was recorded in environment {environment}");
    }
    let timeline = Timeline::from_entries(&entries);
    let verdicts = judged(&timeline, &lab);
    let text = match format {
        Format::Text => report::text(&lab, &verdicts, language.into()),
        Format::Json => report::json(&lab, &verdicts, &timeline, language.into())?,
        Format::Junit => report::junit(&lab, &verdicts, &timeline, language.into())?,
    };
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("print the report")?;
    Ok(if verdicts.full_marks() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Judged at the time of the last entry: what was not recorded does not count.
fn judged(timeline: &Timeline, lab: &Lab) -> LabVerdicts {
    verdict(
        timeline,
        &lab.rules,
        timeline.last_at().unwrap_or(jiff::Timestamp::UNIX_EPOCH),
    )
}

async fn environment(store: &Store, wanted: Option<String>) -> anyhow::Result<String> {
    let recorded = store.recorded().await?;
    match (wanted, recorded.as_slice()) {
        (Some(name), _) if recorded.contains(&name) => Ok(name),
        (Some(name), _) => bail!(
            "nothing was recorded in environment {name}; there are: {}",
            recorded.join(", ")
        ),
        (None, [only]) => Ok(only.clone()),
        (None, []) => bail!("nothing was recorded yet"),
        (None, several) => bail!(
            "name the environment with --env; there are: {}",
            several.join(", ")
        ),
    }
}
