//! The programs an environment is made of, in the versions the course is written for.
//!
//! Each is looked for in an explicit directory, on the search path, in the cache, then downloaded, then built. The
//! cache is shared by all users of a machine account and never holds a half-made program.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Where each program is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tools {
    pub etcd: PathBuf,
    pub kube_apiserver: PathBuf,
    pub kube_controller_manager: PathBuf,
    pub kube_scheduler: PathBuf,
    pub kubectl: PathBuf,
    pub kwok: PathBuf,
    pub helm: PathBuf,
}

impl Tools {
    /// All of them in one folder, under their own names.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Self {
        Self {
            etcd: dir.join("etcd"),
            kube_apiserver: dir.join("kube-apiserver"),
            kube_controller_manager: dir.join("kube-controller-manager"),
            kube_scheduler: dir.join("kube-scheduler"),
            kubectl: dir.join("kubectl"),
            kwok: dir.join("kwok"),
            helm: dir.join("helm"),
        }
    }
}
