//! Before a container starts: its objects are read, its volumes written, its environment made. What is missing is said
//! once, and the container waits for it.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use kube::ResourceExt as _;

use super::super::plan::PodPlan;
use super::super::status::Doing;
use super::super::{fetch, payload, volumes};
use super::{Runner, Told};

/// Watches wake a waiting container at once; this is for what cannot be watched.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// The API server's authorizer learns of a new pod a moment after this node does: not worth a word yet.
const PATIENCE: Duration = Duration::from_secs(2);
const SOON: Duration = Duration::from_millis(150);

/// Why a container cannot start yet.
struct Obstacle {
    waiting: &'static str,
    event: &'static str,
    message: String,
}

impl Runner {
    /// The environment of the container, once everything it needs is there.
    pub(super) async fn prepared(
        &mut self,
        plan: &PodPlan,
    ) -> Result<BTreeMap<String, String>, Told> {
        let namespace = self.pod.namespace().unwrap_or_default();
        let mut changes = fetch::changes(&self.context.options.client, &namespace, &plan.needs());
        let mut said = String::new();
        let patience = tokio::time::Instant::now() + PATIENCE;
        loop {
            let obstacle = match self.try_prepare(plan).await {
                Ok(env) => return Ok(env),
                Err(obstacle) => obstacle,
            };
            if tokio::time::Instant::now() < patience {
                match self.pause(SOON).await {
                    None | Some(Told::Changed) => continue,
                    Some(told) => return Err(told),
                }
            }
            if said != obstacle.message {
                said.clone_from(&obstacle.message);
                self.event_warning(obstacle.event, obstacle.message.clone())
                    .await;
                self.state.doing = Doing::Waiting {
                    reason: obstacle.waiting,
                    message: Some(obstacle.message),
                };
            }
            self.report().await;
            tokio::select! {
                told = self.told() => if told != Told::Changed { return Err(told) },
                _ = changes.next() => {}
                () = tokio::time::sleep(ASK_AGAIN) => {}
            }
        }
    }

    async fn try_prepare(&mut self, plan: &PodPlan) -> Result<BTreeMap<String, String>, Obstacle> {
        let mount = |message: String| Obstacle {
            waiting: "ContainerCreating",
            event: "FailedMount",
            message,
        };
        self.dir
            .make()
            .map_err(|error| mount(format!("make the pod's folder: {error}")))?;
        self.read(plan, true)
            .await
            .map_err(|error| mount(in_words(&error)))?;
        self.write_volumes(plan).map_err(mount)?;
        let address = self
            .state
            .address
            .map(|address| address.to_string())
            .unwrap_or_default();
        payload::environment(plan, &self.pod, &address, &self.fetched).map_err(|missing| Obstacle {
            waiting: "CreateContainerConfigError",
            event: "Failed",
            message: missing.to_string(),
        })
    }

    /// Reads the pod's objects anew, and its tokens if asked.
    pub(super) async fn read(&mut self, plan: &PodPlan, tokens: bool) -> kube::Result<()> {
        let client = self.context.options.client.clone();
        let namespace = self.pod.namespace().unwrap_or_default();
        let mut fetched = fetch::objects(&client, &namespace, &plan.needs()).await?;
        if tokens {
            fetch::tokens(&client, &self.pod, plan, &mut fetched).await?;
        } else {
            fetched.tokens = std::mem::take(&mut self.fetched.tokens);
        }
        self.fetched = fetched;
        Ok(())
    }

    /// Brings the volumes in line with what was read last.
    pub(super) fn write_volumes(&self, plan: &PodPlan) -> Result<(), String> {
        for volume in &plan.volumes {
            let dir = self.dir.volume(&volume.name);
            let files = payload::files(volume, &self.pod, &self.fetched).map_err(|missing| {
                format!(
                    "MountVolume.SetUp failed for volume {:?}: {missing}",
                    volume.name
                )
            })?;
            let written = match volume.content {
                super::super::plan::VolumeContent::Empty => std::fs::create_dir_all(&dir),
                super::super::plan::VolumeContent::Projected(_) => {
                    volumes::write(&dir, &files, self.context.now()).map(drop)
                }
            };
            written.map_err(|error| format!("write volume {:?}: {error}", volume.name))?;
        }
        Ok(())
    }
}

/// What the API server said, without the wrapping that only programmers read.
fn in_words(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.message.clone(),
        other => other.to_string(),
    }
}
