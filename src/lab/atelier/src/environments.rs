//! The trainee's environment as a service over a provider: one at a time, acts that return at once, and a view that
//! says how they go.
//!
//! It decides nothing about pages. [`shell`] says what a trainee's shell may see; it is used by the terminal and by the
//! solutions of labs alike.

pub mod home;
pub mod local;
pub mod shell;
#[cfg(test)]
mod tests;
pub mod view;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clusters::profile::{Profile, ProfileError};
use clusters::provider::{
    Environment, EnvironmentId, EnvironmentSpec, EnvironmentState, Progress, Provider,
    ProviderError,
};
use futures::StreamExt as _;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio_util::sync::CancellationToken;

pub use view::{Is, PhaseProgress, View};

/// An act on the environment that failed.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentsError {
    #[error(transparent)]
    Profile(#[from] ProfileError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error("profile {wanted} is not there; known are {known}")]
    UnknownProfile { wanted: String, known: String },
}

/// What is asked of an environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// It should be there and run, made from this profile if it is not there.
    Ensure { profile: String },
    /// It is deleted and made anew from this profile. The trainee's files are kept.
    Reset { profile: String },
    /// Its programs are stopped, its data kept.
    Stop,
    /// Its programs run again.
    Start,
    /// Everything of it is removed. The trainee's files are kept.
    Delete,
}

/// One trainee's environment. Clones are the same service.
#[derive(Debug, Clone)]
pub struct Environments(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    provider: Arc<dyn Provider>,
    id: EnvironmentId,
    profiles_dir: PathBuf,
    view: watch::Sender<View>,
    /// Acts are carried out one after the other.
    turn: AsyncMutex<()>,
    /// Ends the act that is under way.
    current: Mutex<CancellationToken>,
}

impl Environments {
    /// The service of one environment. Call [`Self::adopt`] once, so that it knows what is already there.
    #[must_use]
    pub fn new(provider: Arc<dyn Provider>, id: EnvironmentId, profiles_dir: PathBuf) -> Self {
        let inner = Inner {
            provider,
            id,
            profiles_dir,
            view: watch::Sender::default(),
            turn: AsyncMutex::default(),
            current: Mutex::default(),
        };
        let environments = Self(Arc::new(inner));
        environments.listen();
        environments
    }

    /// The environment's name.
    #[must_use]
    pub fn id(&self) -> &EnvironmentId {
        &self.0.id
    }

    /// The view, as it changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<View> {
        self.0.view.subscribe()
    }

    /// The environment, when it is usable.
    #[must_use]
    pub fn running(&self) -> Option<Environment> {
        let view = self.0.view.borrow();
        view.environment.clone().filter(|_| view.is == Is::Running)
    }

    /// Takes over what an earlier run of the platform left.
    pub async fn adopt(&self) {
        let _turn = self.0.turn.lock().await;
        if let Err(error) = self.0.provider.adopt().await {
            tracing::warn!(%error, "take over environments");
            self.0
                .view
                .send_modify(|view| view.failure = Some(error.to_string()));
        }
        self.look().await;
    }

    /// Begins an act and returns; a deletion or a reset ends the act that is under way.
    pub fn begin(&self, act: Act) {
        let environments = self.clone();
        tokio::spawn(async move {
            // The view tells how it went.
            let _ = environments.carry_out(act).await;
        });
    }

    /// Carries out an act and returns when it is done.
    ///
    /// # Errors
    /// What the act could not do; the view says the same.
    pub async fn carry_out(&self, act: Act) -> Result<(), EnvironmentsError> {
        if matches!(act, Act::Reset { .. } | Act::Delete | Act::Stop) {
            self.current().cancel();
        }
        let _turn = self.0.turn.lock().await;
        let cancel = CancellationToken::new();
        *self.current() = cancel.clone();
        self.0.view.send_modify(|view| view.failure = None);
        let result = self.act(act, cancel).await;
        self.look().await;
        if let Err(error) = &result {
            self.0
                .view
                .send_modify(|view| view.failure = Some(error.to_string()));
        }
        result
    }

    async fn act(&self, act: Act, cancel: CancellationToken) -> Result<(), EnvironmentsError> {
        let (provider, id) = (&self.0.provider, self.0.id.clone());
        match act {
            Act::Ensure { profile } => match provider.get(id.clone()).await {
                Ok(environment) if environment.state == EnvironmentState::Running => {}
                Ok(_) => self.start(cancel).await?,
                Err(ProviderError::Unknown(_)) => self.create(&profile, cancel).await?,
                Err(error) => return Err(error.into()),
            },
            Act::Reset { profile } => {
                // Before anything is destroyed: a profile with a mistake must not cost the environment.
                self.profile(&profile)?;
                self.becomes(Is::Deleting);
                provider.delete(id).await?;
                self.create(&profile, cancel).await?;
            }
            Act::Start => self.start(cancel).await?,
            Act::Stop => {
                self.becomes(Is::Stopping);
                provider.stop(id).await?;
            }
            Act::Delete => {
                self.becomes(Is::Deleting);
                provider.delete(id).await?;
            }
        }
        Ok(())
    }

    async fn create(
        &self,
        profile: &str,
        cancel: CancellationToken,
    ) -> Result<(), EnvironmentsError> {
        let profile = self.profile(profile)?;
        self.0.view.send_modify(|view| view.begins(&profile));
        let spec = EnvironmentSpec {
            id: self.0.id.clone(),
            profile,
        };
        self.0.provider.create(spec, cancel).await?;
        Ok(())
    }

    async fn start(&self, cancel: CancellationToken) -> Result<(), EnvironmentsError> {
        self.becomes(Is::Starting);
        self.0.provider.start(self.0.id.clone(), cancel).await?;
        Ok(())
    }

    fn profile(&self, name: &str) -> Result<Profile, EnvironmentsError> {
        let path = self.0.profiles_dir.join(format!("{name}.yaml"));
        if path.is_file() {
            return Ok(Profile::load(&path)?);
        }
        let known = Profile::load_all(&self.0.profiles_dir)?;
        let known = known
            .iter()
            .map(|profile| profile.name.as_str().to_owned())
            .collect::<Vec<_>>()
            .join(", ");
        Err(EnvironmentsError::UnknownProfile {
            wanted: name.to_owned(),
            known,
        })
    }

    /// Brings the view in line with what the provider says.
    async fn look(&self) {
        let found = self.0.provider.get(self.0.id.clone()).await;
        self.0.view.send_modify(|view| match found {
            Ok(environment) => view.is_found(environment),
            Err(ProviderError::Unknown(_)) => view.is_absent(),
            Err(error) => view.failure = Some(error.to_string()),
        });
    }

    fn becomes(&self, is: Is) {
        self.0.view.send_modify(|view| view.is = is);
    }

    fn current(&self) -> std::sync::MutexGuard<'_, CancellationToken> {
        self.0
            .current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Phases and deaths of programs flow into the view for as long as the service lives.
    fn listen(&self) {
        let mut progress = self.0.provider.subscribe(self.0.id.clone());
        let inner = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            while let Some(event) = progress.next().await {
                let Some(inner) = inner.upgrade() else { return };
                let settled = matches!(&event, Progress::State(_));
                inner.view.send_modify(|view| view.hears(event));
                let service = Self(inner);
                // A state that changed by itself (a supervisor died and came back) brings new facts with it.
                if settled && service.0.turn.try_lock().is_ok() {
                    service.look().await;
                }
            }
        });
    }
}
