//! `atelier solve`: plays a lab's solution, or one of its wrong answers, in an environment made for it, in the same place as a
//! trainee's shell, and says whether the verdicts are the expected ones.

mod play;
mod script;
#[cfg(test)]
mod tests;

use crate::{
    environments::{
        local,
        shell::{LabFiles, ShellKit},
    },
    judge::{
        self,
        shelf::{self, Shelved},
    },
    options::Options,
};
use anyhow::{Context, bail};
use clusters::{
    profile::Profile,
    provider::{Environment, EnvironmentId, EnvironmentSpec, Provider},
};
use course::{Answers, Expectation, Lab};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};
use store::Store;
use tokio_util::sync::CancellationToken;

/// Arguments of `atelier solve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The lab, or the beginning of its name
    lab: String,
    /// Play this wrong answer, and expect it to be refused
    #[arg(long, value_name = "NAME")]
    wrong: Option<String>,
    /// List the lab's wrong answers and stop
    #[arg(long)]
    list: bool,
    /// Leave the environment and its record behind
    #[arg(long)]
    keep: bool,
    /// Show what the script prints
    #[arg(long, short)]
    verbose: bool,
}

/// What is to be played.
struct Piece {
    lab: Lab,
    lab_dir: PathBuf,
    script: String,
    answers: Answers,
    expectation: Option<Expectation>,
    verbose: bool,
}

/// Carries out `atelier solve`: exit status 0 when the solution gets full marks, or the wrong answer is refused as expected.
///
/// # Errors
/// When the lab, the environment or the shell does not work.
pub async fn run(options: &Options, args: Args) -> anyhow::Result<ExitCode> {
    let Shelved {
        lab, dir: lab_dir, ..
    } = shelf::lab(&options.labs_dir(), &args.lab)?;
    if args.list {
        for name in wrong_names(&lab_dir)? {
            play::say(&name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let piece = piece(lab, lab_dir, args.wrong.as_deref(), args.verbose)?;
    let tools = local::tools(options).await?;
    let kit = local::shell_kit(options, &tools);
    let provider = local::provider(options, tools)?;
    let cancel = interrupted();
    let what = args.wrong.as_deref().unwrap_or("solution");
    let id = EnvironmentId::for_account(&format!(
        "solve {} {what} {}",
        piece.lab.rules.id,
        std::process::id()
    ));
    let store = Store::open(&judge::database(options)).await?;

    let profile = Profile::load(
        &options
            .profiles_dir()
            .join(format!("{}.yaml", piece.lab.rules.profile)),
    )?;
    play::say(&format!(
        "{what} of {} in environment {id}",
        piece.lab.rules.id
    ));
    let spec = EnvironmentSpec {
        id: id.clone(),
        profile,
    };
    let environment = provider.create(spec, cancel.clone()).await?;
    let result = in_environment(&piece, &environment, &kit, &store, cancel).await;
    if args.keep {
        play::say(&format!(
            "environment {id} is kept; `atelier env delete {id}` removes it"
        ));
    } else {
        clean(provider.as_ref(), &id, &store, &kit.data_dir).await;
    }
    Ok(if result? {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn in_environment(
    piece: &Piece,
    environment: &Environment,
    kit: &ShellKit,
    store: &Store,
    cancel: CancellationToken,
) -> anyhow::Result<bool> {
    let rules = &piece.lab.rules;
    judge::setup::apply(&environment.admin_kubeconfig, &piece.lab_dir, &rules.setup).await?;
    let recording = cancel.child_token();
    let session = judge::start(store, environment, &piece.lab, recording.clone()).await?;
    let files = piece.lab_dir.join("files");
    let lab_files = LabFiles {
        id: rules.id.as_str(),
        files: Some(&files),
    };
    let shell = kit
        .place(environment, lab_files, true)
        .await
        .context("prepare the shell")?;
    let done = play::play(piece, &session, &shell, &cancel).await;
    recording.cancel();
    done
}

/// Whatever happens, the environment goes, and with it its home and its record.
async fn clean(provider: &dyn Provider, id: &EnvironmentId, store: &Store, data_dir: &Path) {
    if let Err(error) = provider.delete(id.clone()).await {
        play::say(&format!("the environment could not be deleted: {error}"));
    }
    if let Err(error) = store.forget(id.as_str()).await {
        play::say(&format!("its record could not be deleted: {error}"));
    }
    let homes = data_dir.join("homes").join(id.as_str());
    // The home is the trainee's; that it could not be removed changes no verdict.
    let _ = tokio::fs::remove_dir_all(homes).await;
}

fn piece(lab: Lab, lab_dir: PathBuf, wrong: Option<&str>, verbose: bool) -> anyhow::Result<Piece> {
    let folder = match wrong {
        None => lab_dir.join("solution"),
        Some(name) if wrong_names(&lab_dir)?.iter().any(|known| known == name) => {
            lab_dir.join("wrong").join(name)
        }
        Some(name) => bail!(
            "lab {} has no wrong answer {name}; there are: {}",
            lab.rules.id,
            wrong_names(&lab_dir)?.join(", ")
        ),
    };
    let script = read(&folder.join("run.sh"))?;
    let answers = match folder.join("answers.yaml") {
        file if file.is_file() => Answers::read(&file.display().to_string(), &read(&file)?)?,
        _ => Answers::default(),
    };
    let expectation = match wrong {
        None => None,
        Some(_) => {
            let file = folder.join("expect.yaml");
            Some(Expectation::read(
                &file.display().to_string(),
                &read(&file)?,
                &lab.rules,
            )?)
        }
    };
    Ok(Piece {
        lab,
        lab_dir,
        script,
        answers,
        expectation,
        verbose,
    })
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))
}

fn wrong_names(lab_dir: &Path) -> anyhow::Result<Vec<String>> {
    let dir = lab_dir.join("wrong");
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&dir).with_context(|| format!("read {}", dir.display()))? {
        let entry = entry?;
        if entry.path().is_dir() {
            names.extend(entry.file_name().into_string().ok());
        }
    }
    names.sort();
    Ok(names)
}

/// Cancelled by Ctrl-C or a request to end, so that the environment is deleted all the same.
fn interrupted() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let terminated = async {
            match signal(SignalKind::terminate()) {
                Ok(mut stream) => drop(stream.recv().await),
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = terminated => {}
        }
        cancelled.cancel();
    });
    token
}
