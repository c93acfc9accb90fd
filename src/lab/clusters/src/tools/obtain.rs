//! Goes through the sources in their order until each program is found.

use std::path::PathBuf;

use futures::future::join_all;
use tokio_util::sync::CancellationToken;

use super::build::{self, Unit};
use super::cache::{Cache, Lock};
use super::{Options, Source, Step, Tool, ToolProgress, Tools, ToolsError, download, version};

/// Finds, downloads or builds every program. What is found already costs no network and little time.
pub async fn obtain_all(
    options: &Options,
    cancel: &CancellationToken,
    progress: &(dyn Fn(ToolProgress) + Send + Sync),
) -> Result<Tools, ToolsError> {
    let obtain = Obtain {
        options,
        cancel,
        progress,
        cache: Cache::new(&options.cache),
    };
    cancel
        .run_until_cancelled(obtain.all())
        .await
        .unwrap_or(Err(ToolsError::Cancelled))
}

struct Obtain<'a> {
    options: &'a Options,
    cancel: &'a CancellationToken,
    progress: &'a (dyn Fn(ToolProgress) + Send + Sync),
    cache: Cache,
}

type Reasons = Vec<(Source, String)>;

impl Obtain<'_> {
    async fn all(&self) -> Result<Tools, ToolsError> {
        // Looking is quick and can go on at once; getting is not and is one after the other.
        let found = join_all(Tool::ALL.map(|tool| self.look(tool))).await;
        let mut places = Vec::new();
        for (tool, found) in Tool::ALL.into_iter().zip(found) {
            let (source, path) = match found {
                Ok(found) => found,
                Err(reasons) => Box::pin(self.get(tool, reasons)).await?,
            };
            self.tell(
                tool,
                Step::Found {
                    source,
                    path: path.clone(),
                },
            );
            places.push((tool, path));
        }
        Ok(Tools::from_fn(|wanted| {
            let place = places.iter().find(|(tool, _)| *tool == wanted);
            place.map(|(_, path)| path.clone()).unwrap_or_default()
        }))
    }

    fn tell(&self, tool: Tool, step: Step) {
        (self.progress)(ToolProgress { tool, step });
    }

    /// The sources that need no network.
    async fn look(&self, tool: Tool) -> Result<(Source, PathBuf), Reasons> {
        let mut reasons = Vec::new();
        if let Some(dir) = &self.options.dir {
            let path = dir.join(tool.name());
            match version::check(tool, &path).await {
                Ok(()) => return Ok((Source::Directory, path)),
                Err(reason) => reasons.push((Source::Directory, reason)),
            }
        }
        let on_path = self
            .options
            .search_path
            .as_deref()
            .and_then(|path| exec::find_program(tool.name(), path));
        match on_path {
            Some(path) => match version::check(tool, &path).await {
                Ok(()) => return Ok((Source::SearchPath, path)),
                Err(reason) => reasons.push((Source::SearchPath, reason)),
            },
            None => reasons.push((Source::SearchPath, "it is not there".to_owned())),
        }
        match self.cache.find(tool) {
            Some(path) => Ok((Source::Cache, path)),
            None => {
                reasons.push((
                    Source::Cache,
                    format!("{} is not there", self.cache.path(tool).display()),
                ));
                Err(reasons)
            }
        }
    }

    /// The sources that fill the cache.
    async fn get(&self, tool: Tool, mut reasons: Reasons) -> Result<(Source, PathBuf), ToolsError> {
        let lock = self.cache.lock(|| self.tell(tool, Step::Waiting)).await;
        let lock = match lock {
            Ok(lock) => lock,
            Err(error) => {
                reasons.push((
                    Source::Cache,
                    format!("{}: {error}", self.options.cache.display()),
                ));
                return Err(ToolsError::NotToBeHad { tool, reasons });
            }
        };
        // Whoever held the lock before may have been after the same, and one build serves several programs.
        if let Some(path) = self.cache.find(tool) {
            return Ok((Source::Cache, path));
        }
        for source in [Source::Download, Source::Build] {
            let got = match source {
                Source::Download => self.download(tool, &lock).await,
                _ => self.build(tool, &lock).await,
            };
            match got {
                Ok(path) => return Ok((source, path)),
                Err(reason) => {
                    self.tell(
                        tool,
                        Step::Refused {
                            source,
                            reason: reason.clone(),
                        },
                    );
                    reasons.push((source, reason));
                }
            }
        }
        Err(ToolsError::NotToBeHad { tool, reasons })
    }

    async fn download(&self, tool: Tool, lock: &Lock) -> Result<PathBuf, String> {
        if !self.options.download {
            return Err("it is not allowed".to_owned());
        }
        let scratch = self
            .cache
            .scratch(lock)
            .map_err(|error| error.to_string())?;
        let progress = |bytes, of| self.tell(tool, Step::Downloading { bytes, of });
        let program = download::download(tool, self.options, scratch.path(), progress).await;
        self.keep(tool, program.map_err(|error| error.to_string())?)
            .await
    }

    async fn build(&self, tool: Tool, lock: &Lock) -> Result<PathBuf, String> {
        if !self.options.build {
            return Err("it is not allowed".to_owned());
        }
        let go = build::find_go(self.options.search_path.as_deref())
            .ok_or("Go is not installed (https://go.dev/dl, or `apt-get install golang-go` where that is 1.26 or newer)")?;
        let unit = Unit::of(tool);
        let scratch = self
            .cache
            .scratch(lock)
            .map_err(|error| error.to_string())?;
        let progress = |compiled, of, seconds| {
            self.tell(
                tool,
                Step::Building {
                    compiled,
                    of,
                    seconds,
                },
            );
        };
        let program = build::build(unit, &go, scratch.path(), self.cancel, progress).await?;
        if !unit.is_shared() {
            return self.keep(tool, program).await;
        }
        let shared = self.cache.folder(unit.name, unit.version).join("kube");
        let place = self.cache.path(tool);
        let kept = self.cache.put(&program, &shared).and_then(|()| {
            // Every program it serves; each appears whole, for what it points to is.
            Tool::ALL
                .into_iter()
                .filter(|other| Unit::of(*other) == unit)
                .try_for_each(|other| self.cache.link(&scratch, &shared, &self.cache.path(other)))
        });
        kept.map_err(|error| format!("put it into the cache: {error}"))?;
        version::check(tool, &place).await?;
        Ok(place)
    }

    /// Into the cache only what tells the right version.
    async fn keep(&self, tool: Tool, program: PathBuf) -> Result<PathBuf, String> {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))
            .map_err(|error| error.to_string())?;
        version::check(tool, &program).await?;
        let place = self.cache.path(tool);
        self.cache
            .put(&program, &place)
            .map_err(|error| format!("put it into the cache: {error}"))?;
        Ok(place)
    }
}
