//! A provider in memory that writes down what it was asked.

use std::sync::Mutex;

use clusters::provider::{
    Environment, EnvironmentId, EnvironmentSpec, EnvironmentState, Phase, PhaseEvent, PhaseState,
    Progress, Provider, ProviderError,
};
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt as _, StreamExt as _};
use jiff::Timestamp;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;

#[derive(Debug)]
pub(super) struct Fake {
    acts: Mutex<Vec<&'static str>>,
    there: Mutex<Option<Environment>>,
    progress: broadcast::Sender<Progress>,
    began: Notify,
    slow: bool,
}

impl Default for Fake {
    fn default() -> Self {
        let progress = broadcast::channel(64).0;
        Self {
            acts: Mutex::default(),
            there: Mutex::default(),
            progress,
            began: Notify::new(),
            slow: false,
        }
    }
}

impl Fake {
    pub(super) fn slow() -> Self {
        Self {
            slow: true,
            ..Self::default()
        }
    }

    pub(super) fn acts(&self) -> Vec<&'static str> {
        self.acts.lock().unwrap().clone()
    }

    pub(super) async fn creation_began(&self) {
        self.began.notified().await;
    }

    fn note(&self, act: &'static str) {
        self.acts.lock().unwrap().push(act);
    }

    fn set(&self, state: EnvironmentState) -> Environment {
        let mut there = self.there.lock().unwrap();
        let environment = there.as_mut().expect("an environment");
        environment.state = state;
        environment.clone()
    }

    fn tell(&self, state: PhaseState) {
        let event = PhaseEvent {
            phase: Phase::Directory,
            state,
            at: Timestamp::UNIX_EPOCH,
        };
        let _ = self.progress.send(Progress::Phase(event));
    }
}

impl Provider for Fake {
    fn create(
        &self,
        spec: EnvironmentSpec,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        async move {
            self.note("create");
            self.began.notify_one();
            self.tell(PhaseState::Started);
            if self.slow {
                cancel.cancelled().await;
                self.note("cancelled");
                return Err(ProviderError::Cancelled {
                    id: spec.id,
                    act: "create",
                });
            }
            self.tell(PhaseState::Done);
            let environment = Environment {
                id: spec.id,
                state: EnvironmentState::Running,
                dir: "/nowhere".into(),
                admin_kubeconfig: "/nowhere/admin".into(),
                trainee_kubeconfig: "/nowhere/trainee".into(),
                api_socket: "/nowhere/api/api.sock".into(),
                shells: None,
                profile_name: spec.profile.name.as_str().to_owned(),
                created: Timestamp::UNIX_EPOCH,
            };
            *self.there.lock().unwrap() = Some(environment.clone());
            Ok(environment)
        }
        .boxed()
    }

    fn start(
        &self,
        _id: EnvironmentId,
        _cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        self.note("start");
        let environment = self.set(EnvironmentState::Running);
        async { Ok(environment) }.boxed()
    }

    fn stop(&self, _id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>> {
        self.note("stop");
        self.set(EnvironmentState::Stopped);
        async { Ok(()) }.boxed()
    }

    fn delete(&self, _id: EnvironmentId) -> BoxFuture<'_, Result<(), ProviderError>> {
        self.note("delete");
        *self.there.lock().unwrap() = None;
        async { Ok(()) }.boxed()
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>> {
        let all = self.there.lock().unwrap().iter().cloned().collect();
        async { Ok(all) }.boxed()
    }

    fn get(&self, id: EnvironmentId) -> BoxFuture<'_, Result<Environment, ProviderError>> {
        let found = self
            .there
            .lock()
            .unwrap()
            .clone()
            .ok_or(ProviderError::Unknown(id));
        async { found }.boxed()
    }

    fn subscribe(&self, _id: EnvironmentId) -> BoxStream<'static, Progress> {
        let events = tokio_stream::wrappers::BroadcastStream::new(self.progress.subscribe());
        events.filter_map(|event| async { event.ok() }).boxed()
    }

    fn adopt(&self) -> BoxFuture<'_, Result<Vec<Environment>, ProviderError>> {
        self.list()
    }
}
