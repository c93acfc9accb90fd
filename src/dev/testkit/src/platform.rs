//! A platform of a test's own: its data folder, and the commands that work in it.

use std::{
    ffi::OsStr,
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
}

impl Drop for Platform {
    fn drop(&mut self) {
        sweep::kill_all(self.dir.path());
    }
}

/// The root of this repository.
fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}
