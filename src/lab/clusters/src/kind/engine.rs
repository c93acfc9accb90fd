//! The container engine, spoken to through its own program. Every answer is text; errors are the engine's own words.

use std::path::Path;
use std::time::Duration;

use exec::Cmd;

/// Longer than any of these takes on a machine that works at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// A node image is several hundred megabytes.
const LOADING: Duration = Duration::from_secs(600);
/// How often, and how far apart, an engine is asked for containers of a creation that was broken off.
const LOOKS_AGAIN: u32 = 3;
/// How often it is asked again while it removes a container already.
const PATIENT_LOOKS: u32 = 60;
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
/// The label that kind gives to the containers of a cluster.
const CLUSTER_LABEL: &str = "io.x-k8s.kind.cluster";

/// A node's container as the engine sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Container {
    pub(super) name: String,
    /// As the engine calls it: `running`, `exited`, `created`…
    pub(super) state: String,
}

impl Container {
    pub(super) fn runs(&self) -> bool {
        self.state == "running"
    }

    pub(super) fn is_control_plane(&self) -> bool {
        self.name.ends_with("-control-plane")
    }
}

/// One engine.
#[derive(Debug, Clone)]
pub(super) struct Engine<'a>(pub(super) &'a Path);

impl Engine<'_> {
    pub(super) async fn run<'b>(
        &self,
        args: impl IntoIterator<Item = &'b str>,
    ) -> Result<String, String> {
        self.run_within(PATIENCE, args).await
    }

    async fn run_within<'b>(
        &self,
        patience: Duration,
        args: impl IntoIterator<Item = &'b str>,
    ) -> Result<String, String> {
        let cmd = Cmd::new(self.0).args(args).deadline(patience);
        match cmd.run().await {
            Ok(output) => Ok(output.stdout.trim().to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The containers of a cluster, whether they run or not, the control plane first.
    pub(super) async fn containers(&self, cluster: &str) -> Result<Vec<Container>, String> {
        let filter = format!("label={CLUSTER_LABEL}={cluster}");
        let format = "{{.Names}}\t{{.State}}";
        let answer = self
            .run(["ps", "--all", "--filter", &filter, "--format", format])
            .await?;
        let mut containers: Vec<Container> = answer.lines().filter_map(container).collect();
        containers.sort_by_key(|container| (!container.is_control_plane(), container.name.clone()));
        Ok(containers)
    }

    /// The port of this machine behind which a cluster's API server is.
    pub(super) async fn api_port(&self, cluster: &str) -> Result<u16, String> {
        let container = format!("{cluster}-control-plane");
        let answer = self.run(["port", &container, "6443/tcp"]).await?;
        answer
            .lines()
            .find_map(|line| line.rsplit(':').next()?.parse().ok())
            .ok_or_else(|| format!("the engine names no port for {container}: {answer:?}"))
    }

    pub(super) async fn has_image(&self, image: &str) -> bool {
        self.run(["image", "inspect", "--format", "{{.Id}}", image])
            .await
            .is_ok()
    }

    /// Puts the image of an archive, which calls it `inside`, under `image` into the engine.
    pub(super) async fn load(
        &self,
        archive: &Path,
        inside: &str,
        image: &str,
    ) -> Result<(), String> {
        let archive = archive.to_string_lossy();
        self.run_within(LOADING, ["load", "--quiet", "--input", &archive])
            .await?;
        self.run(["tag", inside, image]).await.map(drop)
    }

    /// Removes the other images of a repository, of a gigabyte each. One that a container still needs stays.
    pub(super) async fn keep_only(&self, image: &str) {
        let Some((repository, _)) = image.rsplit_once(':') else {
            return;
        };
        let repository = repository.trim_start_matches("docker.io/");
        let format = "{{.Repository}}:{{.Tag}}";
        let listed = self
            .run(["image", "ls", "--format", format, repository])
            .await;
        for older in listed.unwrap_or_default().lines() {
            if !image.ends_with(older) {
                let _ = self.run(["image", "rm", older]).await;
            }
        }
    }

    pub(super) async fn create_network(&self, name: &str) -> Result<(), String> {
        if self.run(["network", "inspect", name]).await.is_ok() {
            return Ok(());
        }
        let label = format!("{CLUSTER_LABEL}={name}");
        self.run(["network", "create", "--label", &label, name])
            .await
            .map(drop)
    }

    /// Removes every container with a label, and looks so many times more whether others come.
    pub(super) async fn remove_labelled(&self, label: &str, looks: u32) -> Result<(), String> {
        let filter = format!("label={label}");
        let (mut empty, mut others) = (0, 0);
        loop {
            let list = ["ps", "--all", "--quiet", "--filter", &filter];
            let found = self.run(list).await?;
            if found.is_empty() {
                if empty == looks {
                    return Ok(());
                }
                empty += 1;
            } else {
                empty = 0;
                let remove = ["rm", "--force", "--volumes"].into_iter();
                match self.run(remove.chain(found.lines())).await {
                    Ok(_) => continue,
                    // Another removal goes on, and is waited for.
                    Err(error) if super::words::is_going(&error) && others < PATIENT_LOOKS => {
                        others += 1;
                    }
                    Err(error) => return Err(error),
                }
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Removes every container, volume and network of a cluster. What is not there is removed already.
    ///
    /// Where a creation was broken off, the engine may still be making a container that was asked for: it is looked for until
    /// nothing comes any more.
    pub(super) async fn remove(&self, cluster: &str, broken_off: bool) -> Result<(), String> {
        super::shells::remove(self, cluster).await?;
        let looks = if broken_off { LOOKS_AGAIN } else { 0 };
        let label = format!("{CLUSTER_LABEL}={cluster}");
        self.remove_labelled(&label, looks).await?;
        match self.run(["network", "rm", cluster]).await {
            Err(error) if !super::words::is_missing(&error) => Err(error),
            _ => Ok(()),
        }
    }
}

fn container(line: &str) -> Option<Container> {
    let (name, state) = line.split_once('\t')?;
    Some(Container {
        name: name.to_owned(),
        state: state.to_owned(),
    })
}
