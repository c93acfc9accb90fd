//! `atelier env`: environments from the command line, without the server.

mod progress;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Subcommand;
use clusters::profile::Profile;
use clusters::provider::{Environment, EnvironmentId, EnvironmentSpec, EnvironmentState, Provider};
use clusters::tools::Tools;
use tokio_util::sync::CancellationToken;

use crate::environments::local;
use crate::environments::shell::{LabFiles, ShellKit};
use crate::options::Options;

/// Arguments of `atelier env`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make an environment and wait until it is usable
    Create {
        /// Its name: a-z, 0-9 and -, at most 32
        name: String,
        /// Its nodes: a file of the profiles folder, without .yaml
        #[arg(long, default_value = "cassiopee-a100")]
        profile: String,
    },
    /// List environments
    List,
    /// Start a stopped environment and wait until it is usable
    Start { name: String },
    /// Stop an environment's programs and keep its data
    Stop { name: String },
    /// Remove an environment and everything in it
    Delete { name: String },
    /// Run one command as a trainee would, where their terminal runs
    Run {
        name: String,
        /// Whose files are in the home folder
        #[arg(long, default_value = "essai")]
        lab: String,
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Print the trainee's kubeconfig, for use on this machine
    Kubeconfig {
        name: String,
        /// Print the path of the administrator's kubeconfig instead
        #[arg(long)]
        admin: bool,
    },
}

/// Carries out `atelier env`.
///
/// # Errors
/// When the command cannot do its work.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let tools = match &args.verb {
        Verb::Create { .. } | Verb::Start { .. } | Verb::Run { .. } => {
            local::tools(options).await?
        }
        // An environment remembers its own programs; these acts only find it.
        _ => Tools::in_dir(options.tools_dir().unwrap_or_else(|| Path::new("/"))),
    };
    let kit = local::shell_kit(options, &tools);
    let provider = local::provider(options, tools)?;
    let provider = provider.as_ref();
    match args.verb {
        Verb::Create { name, profile } => create(options, provider, id(&name)?, &profile).await?,
        Verb::List => say(&table(&provider.list().await?)),
        Verb::Start { name } => {
            let id = id(&name)?;
            let work = provider.start(id.clone(), cancelled_by_interrupt());
            let environment = progress::shown(provider.subscribe(id), work).await?;
            say(&usable(&environment));
        }
        Verb::Stop { name } => {
            provider.stop(id(&name)?).await?;
            say(&format!("environment {name} is stopped; its data is kept"));
        }
        Verb::Delete { name } => {
            let id = id(&name)?;
            if !provider.list().await?.iter().any(|known| known.id == id) {
                anyhow::bail!(
                    "there is no environment {name}; `atelier env list` shows which there are"
                );
            }
            provider.delete(id).await?;
            say(&format!("environment {name} is deleted"));
        }
        Verb::Run { name, lab, command } => {
            let environment = provider.get(id(&name)?).await?;
            let files = options.labs_dir().join(&lab).join("files");
            return in_shell(
                &kit,
                &environment,
                LabFiles {
                    id: &lab,
                    files: Some(&files),
                },
                &command,
            )
            .await;
        }
        Verb::Kubeconfig { name, admin } => {
            let environment = provider.get(id(&name)?).await?;
            say(&kubeconfig(&environment, admin)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn in_shell(
    kit: &ShellKit,
    environment: &Environment,
    lab: LabFiles<'_>,
    command: &[String],
) -> anyhow::Result<ExitCode> {
    let shell = kit.place(environment, lab, false).await?;
    let command = shell.wrap(command, false)?;
    let ended = command
        .cmd
        .run_lines(&cancelled_by_interrupt(), |_, line| say(line))
        .await;
    command.end().await;
    match ended {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(exec::ExecError::Failed { output, .. }) => {
            let code = output
                .code
                .and_then(|code| u8::try_from(code).ok())
                .unwrap_or(1);
            Ok(ExitCode::from(code))
        }
        Err(error) => Err(error.into()),
    }
}

async fn create(
    options: &Options,
    provider: &dyn Provider,
    id: EnvironmentId,
    profile: &str,
) -> anyhow::Result<()> {
    let profile = Profile::load(&options.profiles_dir().join(format!("{profile}.yaml")))?;
    let spec = EnvironmentSpec {
        id: id.clone(),
        profile,
    };
    let work = provider.create(spec, cancelled_by_interrupt());
    let environment = progress::shown(provider.subscribe(id), work).await?;
    say(&usable(&environment));
    Ok(())
}

fn id(name: &str) -> anyhow::Result<EnvironmentId> {
    Ok(name.parse::<EnvironmentId>()?)
}

/// Ctrl-C ends a start in order, so that nothing is left behind; a second one is the system's.
fn cancelled_by_interrupt() -> CancellationToken {
    let cancel = CancellationToken::new();
    let told = cancel.clone();
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            told.cancel();
        }
    });
    cancel
}

fn usable(environment: &Environment) -> String {
    format!(
        "environment {} is usable\n  export KUBECONFIG={}",
        environment.id,
        environment.admin_kubeconfig.display()
    )
}

fn kubeconfig(environment: &Environment, admin: bool) -> anyhow::Result<String> {
    if admin {
        return Ok(environment.admin_kubeconfig.display().to_string());
    }
    local::kubeconfig_for_this_machine(
        &environment.trainee_kubeconfig,
        &environment.admin_kubeconfig,
    )
    .with_context(|| {
        format!(
            "environment {} has not been started yet, or its kubeconfig was removed",
            environment.id
        )
    })
}

/// The list as a table: one line an environment, columns in line.
fn table(environments: &[Environment]) -> String {
    if environments.is_empty() {
        return "no environments; `atelier env create NAME` makes one".to_owned();
    }
    let mut rows = vec![["NAME", "STATE", "PROFILE", "CREATED"].map(str::to_owned)];
    for environment in environments {
        let created = environment.created.strftime("%Y-%m-%d %H:%M").to_string();
        rows.push([
            environment.id.to_string(),
            state(&environment.state),
            environment.profile_name.clone(),
            created,
        ]);
    }
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..4).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; 4]| {
        let cells = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn state(state: &EnvironmentState) -> String {
    match state {
        EnvironmentState::Starting => "starting".to_owned(),
        EnvironmentState::Running => "running".to_owned(),
        EnvironmentState::Stopping => "stopping".to_owned(),
        EnvironmentState::Stopped => "stopped".to_owned(),
        EnvironmentState::Broken { reason } => {
            format!("broken: {}", reason.lines().next().unwrap_or_default())
        }
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a command line program answers on standard output"
)]
fn say(text: &str) {
    println!("{}", text.trim_end());
}
