//! Where each file of an environment is.

use std::path::{Path, PathBuf};

/// The folder of one environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    dir: PathBuf,
}

impl Layout {
    pub(crate) fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Sockets, and the working folder of the servers: they name their sockets relative to it, so that the length of
    /// the data folder's path does not matter.
    pub(crate) fn run(&self) -> PathBuf {
        self.dir.join("run")
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.dir.join("logs")
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.logs().join(format!("{name}.log"))
    }

    pub(crate) fn pki(&self) -> PathBuf {
        self.dir.join("pki")
    }

    pub(crate) fn record(&self) -> PathBuf {
        self.dir.join("environment.json")
    }

    pub(crate) fn runtime(&self) -> PathBuf {
        self.dir.join("state.json")
    }

    pub(crate) fn control_socket(&self) -> PathBuf {
        self.run().join("control.sock")
    }

    pub(crate) fn egress_socket(&self) -> PathBuf {
        self.run().join("egress.sock")
    }

    /// Alone in its folder, which sandboxes let in.
    pub(crate) fn api_socket(&self) -> PathBuf {
        self.run().join("api").join("api.sock")
    }

    pub(crate) fn kubeconfig(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.kubeconfig"))
    }

    pub(crate) fn host_node(&self) -> PathBuf {
        self.run().join("host-node")
    }

    /// What claims of a kind cluster hold, a folder each.
    pub(crate) fn volumes(&self) -> PathBuf {
        self.dir.join("volumes")
    }

    /// Every folder that must exist before the first program starts.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        vec![
            self.dir.clone(),
            self.run(),
            self.run().join("api"),
            self.logs(),
            self.pki(),
            self.volumes(),
        ]
    }
}
