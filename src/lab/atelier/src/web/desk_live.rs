//! The desk over the real services: the trainee's environment, its recorder and its judge.
//!
//! It carries acts over to the environment, keeps a recorder as long as there is one, and turns what all of them say
//! into the values of [`super::desk`].

mod convert;
mod follow;
mod prepare;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use clusters::provider::Environment;
use course::{Lab, LabId};
use exec::ExecError;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use store::Store;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::desk::{Act, AnswerRefusal, BoardView, Desk, EnvironmentIs, EnvironmentView, Verdicts};
use super::library::Library;
use super::terminal::{ShellRefusal, Shells};
use crate::environments::shell::{LabFiles, ShellCommand, ShellError, ShellKit};
use crate::environments::{self, Environments, local};
use crate::judge::{JudgeError, Session};
use crate::options::Options;
use crate::tools_cli;

/// Opens the desk. A machine without the cluster's programs still gets one: its view says what is missing.
pub async fn open(
    options: &Options,
    library: &Library,
    store: Store,
    stop: CancellationToken,
) -> Arc<dyn Desk> {
    let labs = library
        .labs()
        .iter()
        .map(|lab| (lab.rules.id.clone(), LabChannel::new(lab)));
    let shared = Arc::new(Shared {
        options: options.clone(),
        store,
        stop,
        service: Mutex::new(None),
        environment: watch::Sender::default(),
        board: watch::Sender::default(),
        labs: labs.collect(),
        folders: library
            .labs()
            .iter()
            .map(|lab| (lab.rules.id.clone(), library.folder(&lab.rules.id)))
            .collect(),
        preparing: tokio::sync::Mutex::default(),
    });
    shared.service_or_failure().await;
    Arc::new(Live(shared))
}

#[derive(Debug)]
struct Live(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    options: Options,
    store: Store,
    stop: CancellationToken,
    service: Mutex<Option<Service>>,
    environment: watch::Sender<EnvironmentView>,
    board: watch::Sender<Arc<BoardView>>,
    labs: BTreeMap<LabId, LabChannel>,
    folders: BTreeMap<LabId, PathBuf>,
    /// Labs are prepared one after the other.
    preparing: tokio::sync::Mutex<()>,
}

/// What exists once the cluster's programs are there.
#[derive(Debug, Clone)]
struct Service {
    environments: Environments,
    kit: ShellKit,
}

/// One lab's verdicts, whether it is being judged or not.
#[derive(Debug)]
struct LabChannel {
    lab: Arc<Lab>,
    verdicts: watch::Sender<Arc<Verdicts>>,
    session: Mutex<Option<Session>>,
}

impl LabChannel {
    fn new(lab: &Arc<Lab>) -> Self {
        Self {
            lab: Arc::clone(lab),
            verdicts: watch::Sender::default(),
            session: Mutex::default(),
        }
    }
}

impl Shared {
    /// The service, opened when it can be; otherwise the view says why not.
    async fn service_or_failure(self: &Arc<Self>) -> Option<Service> {
        if let Some(service) = self.service.lock().clone() {
            return Some(service);
        }
        match self.open_service().await {
            Ok(service) => {
                *self.service.lock() = Some(service.clone());
                service.environments.adopt().await;
                tokio::spawn(follow::follow(
                    Arc::clone(self),
                    service.environments.clone(),
                ));
                Some(service)
            }
            Err(error) => {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "environments cannot be made on this machine"
                );
                self.environment
                    .send_modify(|view| view.failure = Some(format!("{error:#}")));
                None
            }
        }
    }

    async fn open_service(&self) -> anyhow::Result<Service> {
        let tools = tools_cli::obtain(&self.options, tools_cli::Args::default()).await?;
        let kit = local::shell_kit(&self.options, &tools);
        Ok(Service {
            environments: local::solo(&self.options, tools)?,
            kit,
        })
    }

    async fn carry_out(self: Arc<Self>, act: Act, lab: Option<Arc<Lab>>) {
        let Some(service) = self.service_or_failure().await else {
            return;
        };
        let profile = lab
            .as_ref()
            .map(|lab| lab.rules.profile.clone())
            .or_else(|| self.environment.borrow().profile.clone());
        let Some(profile) = profile else {
            return self
                .environment
                .send_modify(|view| view.failure = Some("no lab says which nodes to make".into()));
        };
        let act = match act {
            Act::Create => environments::Act::Ensure { profile },
            Act::Reset => environments::Act::Reset { profile },
            Act::Start => environments::Act::Start,
            Act::Stop => environments::Act::Stop,
            Act::Delete => environments::Act::Delete,
        };
        let deletes = act == environments::Act::Delete;
        // What went wrong is in the view, which is what people look at.
        let done = service.environments.carry_out(act).await.is_ok();
        if done
            && deletes
            && let Err(error) = self.store.forget(service.environments.id().as_str()).await
        {
            tracing::error!(%error, "the record of a deleted environment is still there");
        }
    }

    /// Puts the objects that a lab starts from into the environment, unless they were put there before.
    async fn prepare(&self, environment: &Environment, lab: &LabId) -> Result<(), ShellRefusal> {
        let (Some(channel), Some(folder)) = (self.labs.get(lab), self.folders.get(lab)) else {
            return Ok(());
        };
        let _turn = self.preparing.lock().await;
        prepare::once(environment, lab, &channel.lab.rules.setup, folder)
            .await
            .map_err(|error| ShellRefusal::Failed(error.to_string()))
    }

    fn session(&self, lab: &LabId) -> Option<Session> {
        self.labs.get(lab)?.session.lock().clone()
    }
}

impl Desk for Live {
    fn environment(&self) -> watch::Receiver<EnvironmentView> {
        self.0.environment.subscribe()
    }

    fn act(&self, act: Act, lab: Option<Arc<Lab>>) {
        // Shown at once, so that a second click finds no button.
        self.0.environment.send_modify(|view| {
            view.is = match act {
                Act::Create | Act::Start => EnvironmentIs::Starting,
                Act::Stop => EnvironmentIs::Stopping,
                Act::Reset | Act::Delete => EnvironmentIs::Deleting,
            };
        });
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move {
            Arc::clone(&shared).carry_out(act, lab).await;
            follow::settle(&shared);
        });
    }

    fn logs(&self) -> Vec<(String, PathBuf)> {
        let service = self.0.service.lock().clone();
        let environment =
            service.and_then(|service| service.environments.watch().borrow().environment.clone());
        environment
            .map(|environment| local::logs(&environment.dir))
            .unwrap_or_default()
    }

    fn kubeconfig(&self) -> Option<String> {
        let environment = self.0.service.lock().clone()?.environments.running()?;
        local::kubeconfig_for_this_machine(
            &environment.trainee_kubeconfig,
            &environment.admin_kubeconfig,
        )
        .inspect_err(|error| {
            tracing::warn!(
                error = format!("{error:#}"),
                "the kubeconfig cannot be given"
            );
        })
        .ok()
    }

    fn verdicts(&self, lab: &LabId) -> watch::Receiver<Arc<Verdicts>> {
        // A lab that is not in the library has no verdicts, now or later.
        self.0.labs.get(lab).map_or_else(
            || watch::channel(Arc::default()).1,
            |channel| channel.verdicts.subscribe(),
        )
    }

    fn board(&self) -> watch::Receiver<Arc<BoardView>> {
        self.0.board.subscribe()
    }

    fn answers(&self, lab: &LabId) -> BTreeMap<String, Value> {
        let answers = self
            .0
            .session(lab)
            .map(|session| session.answers())
            .unwrap_or_default();
        answers
            .into_iter()
            .map(|(question, value)| (question.to_string(), value))
            .collect()
    }

    fn answer(
        &self,
        lab: &LabId,
        question: &str,
        value: Value,
    ) -> BoxFuture<'_, Result<(), AnswerRefusal>> {
        let (session, question) = (self.0.session(lab), question.to_owned());
        async move {
            let session = session.ok_or(AnswerRefusal::NoEnvironment)?;
            match session.answer(&question, value).await {
                Ok(_) => Ok(()),
                Err(JudgeError::BadAnswer { expected, .. }) => Err(AnswerRefusal::Unfit(expected)),
                Err(error) => Err(AnswerRefusal::Failed(error.to_string())),
            }
        }
        .boxed()
    }

    fn shells(&self) -> Arc<dyn Shells> {
        Arc::new(Sandboxed(Arc::clone(&self.0)))
    }
}

/// Shells where those of the environment run.
#[derive(Debug)]
struct Sandboxed(Arc<Shared>);

impl Shells for Sandboxed {
    fn shell(&self, lab: &LabId) -> BoxFuture<'_, Result<ShellCommand, ShellRefusal>> {
        let lab = lab.clone();
        let files = self.0.folders.get(&lab).map(|folder| folder.join("files"));
        async move {
            let service = self
                .0
                .service
                .lock()
                .clone()
                .ok_or(ShellRefusal::NoEnvironment)?;
            let environment = service
                .environments
                .running()
                .ok_or(ShellRefusal::NoEnvironment)?;
            self.0.prepare(&environment, &lab).await?;
            let files = LabFiles {
                id: lab.as_str(),
                files: files.as_deref().filter(|dir| dir.is_dir()),
            };
            service
                .kit
                .login(&environment, files)
                .await
                .map_err(|error| match error {
                    ShellError::Sandbox(ExecError::SandboxMissing) => ShellRefusal::NoSandbox,
                    other => ShellRefusal::Failed(other.to_string()),
                })
        }
        .boxed()
    }
}
