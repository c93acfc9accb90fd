//! A platform of a test's own: its data folder, and the commands that work in it.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use exec::Cmd;
use tempfile::TempDir;

use crate::{Programs, sweep};

/// How long any single command may take before the test is given up. No assertion rests on it.
const PATIENCE: Duration = Duration::from_secs(300);

/// A data folder of its own. When it is dropped, every process that worked in it is killed, then it is removed.
#[derive(Debug)]
pub struct Platform {
    programs: Programs,
    labs: PathBuf,
    /// `--provider`, where it is not the usual one.
    provider: Option<&'static str>,
    dir: TempDir,
}

impl Platform {
    /// An empty platform with the course of this repository.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn new(programs: &Programs) -> Self {
        Self::with_labs(programs, &repository().join("labs"))
    }

    /// An empty platform whose environments are kind clusters.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn with_kind(programs: &Programs) -> Self {
        let mut platform = Self::new(programs);
        platform.provider = Some("kind");
        platform
    }

    /// An empty platform with another course.
    ///
    /// # Panics
    /// When no temporary folder can be made.
    pub fn with_labs(programs: &Programs, labs: &Path) -> Self {
        // Short, because unix sockets below it must stay under 108 bytes.
        let dir = tempfile::Builder::new()
            .prefix("e2e-")
            .tempdir_in("/tmp")
            .unwrap_or_else(|error| panic!("no temporary folder in /tmp: {error}"));
        Self {
            programs: programs.clone(),
            labs: labs.to_owned(),
            provider: None,
            dir,
        }
    }

    /// Where everything of this platform is.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// `--data-dir` of this platform.
    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// The folder of an environment.
    pub fn environment(&self, id: &str) -> PathBuf {
        self.data().join("environments").join(id)
    }

    /// `atelier …` on this platform's data.
    pub fn atelier<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Cmd {
        let mut command = Cmd::new(self.programs.atelier())
            .arg("--data-dir")
            .arg(self.data())
            .arg("--labs-dir")
            .arg(&self.labs);
        if let Some(tools) = self.programs.tools_dir() {
            command = command.arg("--tools-dir").arg(tools);
        }
        if let Some(provider) = self.provider {
            command = command.args(["--provider", provider]);
        }
        command.args(args).deadline(PATIENCE)
    }

    /// `kubectl …` with the administrator's rights in an environment.
    pub fn kubectl<A: AsRef<OsStr>>(
        &self,
        environment: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Cmd {
        self.tool("kubectl", environment, args)
    }

    /// `helm …` with the administrator's rights in an environment.
    pub fn helm<A: AsRef<OsStr>>(
        &self,
        environment: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Cmd {
        self.tool("helm", environment, args)
    }

    /// The living processes that work in this platform's folder or were told of it.
    pub fn processes(&self) -> Vec<u32> {
        sweep::working_in(self.dir.path())
    }

    fn tool<A: AsRef<OsStr>>(
        &self,
        name: &str,
        environment: &str,
        args: impl IntoIterator<Item = A>,
    ) -> Cmd {
        Cmd::new(self.programs.tool(name))
            .env(
                "KUBECONFIG",
                self.environment(environment).join("admin.kubeconfig"),
            )
            .env("HELM_CACHE_HOME", self.dir.path().join("helm"))
            .cwd(self.dir.path())
            .args(args)
            .deadline(PATIENCE)
    }

    /// Containers are no processes of ours: only the platform itself knows what an environment consists of.
    fn delete_environments(&self) {
        let entries = fs::read_dir(self.data().join("environments"));
        for entry in entries.into_iter().flatten().flatten() {
            let name = entry.file_name();
            let delete = self.atelier([OsStr::new("env"), OsStr::new("delete"), &name]);
            let deleting = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .map_err(|error| error.to_string())?;
                let deleted = runtime.block_on(delete.run());
                deleted.map(drop).map_err(|error| error.to_string())
            });
            if let Ok(Err(error)) = deleting.join() {
                writeln!(io::stderr(), "environment {}: {error}", name.display()).ok();
            }
        }
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        if self.provider.is_some() {
            self.delete_environments();
        }
        sweep::kill_all(self.dir.path());
    }
}

/// The root of this repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}
