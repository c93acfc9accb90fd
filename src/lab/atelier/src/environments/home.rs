//! A trainee's home folder: one for each lab, made from the lab's files, kept when the environment is made anew.
//!
//! What is inside belongs to the trainee, links included. So this side never follows a path through it: it only makes
//! entries in the two folders that a sandbox lets in, which the trainee can fill but not replace.

use std::fs;
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, lchown, symlink,
};
use std::path::{Path, PathBuf};

use clusters::provider::EnvironmentId;

/// An act on a home folder that failed.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    #[error("make the folder {}: {source}", path.display())]
    Make { path: PathBuf, source: io::Error },
    #[error("copy {} into the trainee's folder: {source}", path.display())]
    Copy { path: PathBuf, source: io::Error },
    #[error("read the trainee's kubeconfig {}: {source}", path.display())]
    ReadKubeconfig { path: PathBuf, source: io::Error },
    #[error("write the trainee's kubeconfig {}: {source}", path.display())]
    WriteKubeconfig { path: PathBuf, source: io::Error },
    #[error("give {} to the trainee: {source}", path.display())]
    Give { path: PathBuf, source: io::Error },
}

/// A trainee's files for one lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// Where they are, or will be.
    #[must_use]
    pub fn new(data_dir: &Path, environment: &EnvironmentId, lab: &str) -> Self {
        Self(data_dir.join("homes").join(environment.as_str()).join(lab))
    }

    /// The home folder.
    #[must_use]
    pub fn dir(&self) -> PathBuf {
        self.0.join("home")
    }

    /// The folder with the trainee's own copy of the kubeconfig, which `kubectl config` may change.
    #[must_use]
    pub fn kube(&self) -> PathBuf {
        self.0.join("kube")
    }

    /// Makes the home if it is not there, with the lab's `files`, and a link to the chart in it.
    ///
    /// # Errors
    /// When a folder cannot be made or a file cannot be copied.
    pub fn prepare(
        &self,
        files: Option<&Path>,
        chart: Option<(&str, &str)>,
    ) -> Result<(), HomeError> {
        let dir = self.dir();
        if !dir.is_dir() {
            // Beside its place first: a copy that was interrupted must not look like a home.
            let new = self.0.join("new");
            let _ = fs::remove_dir_all(&new);
            make_private(&new)?;
            if let Some(files) = files.filter(|files| files.is_dir()) {
                copy_into(files, &new)?;
            }
            fs::rename(&new, &dir).map_err(|source| HomeError::Make {
                path: dir.clone(),
                source,
            })?;
        }
        match chart.map(|(name, target)| symlink(target, dir.join(name))) {
            // Something has that name: the link of last time, or a thing of the trainee's.
            Some(Err(source)) if source.kind() != io::ErrorKind::AlreadyExists => {
                Err(HomeError::Make { path: dir, source })
            }
            _ => Ok(()),
        }
    }

    /// Gives everything to whom the shell runs as, unless it is theirs. Before the first shell of theirs: later, what is
    /// inside is their own by itself, and only a kubeconfig may have come anew.
    ///
    /// # Errors
    /// When this program may not give away files.
    pub fn give(&self, owner: (u32, u32)) -> Result<(), HomeError> {
        for path in [self.dir(), self.kube().join("config"), self.kube()] {
            let given = fs::symlink_metadata(&path).and_then(|meta| {
                if (meta.uid(), meta.gid()) == owner {
                    return Ok(());
                }
                give_all(&path, owner)
            });
            given.map_err(|source| HomeError::Give { path, source })?;
        }
        Ok(())
    }

    /// Brings the environment's kubeconfig, unless the one of the same environment is already there: the trainee may
    /// have chosen a namespace in it. Done before every shell, so a deleted one comes back. `server` is where the API
    /// server is seen from the shell, when it is elsewhere than the kubeconfig says.
    ///
    /// # Errors
    /// When the kubeconfig cannot be read or written.
    pub fn bring_kubeconfig(
        &self,
        kubeconfig: &Path,
        server: Option<&str>,
    ) -> Result<(), HomeError> {
        let unreadable = |source| HomeError::ReadKubeconfig {
            path: kubeconfig.to_path_buf(),
            source,
        };
        let mut issued = fs::read(kubeconfig).map_err(unreadable)?;
        if let Some(server) = server {
            issued = pointed_at(&issued, server).map_err(|error| unreadable(error.into()))?;
        }
        make_private(&self.kube())?;
        let (target, origin) = (self.kube().join("config"), self.0.join("issued-kubeconfig"));
        let there = fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_file());
        if there && fs::read(&origin).is_ok_and(|before| before == issued) {
            return Ok(());
        }
        write_private(&target, &issued)?;
        write_private(&origin, &issued)
    }
}

/// The same kubeconfig for an API server at another address, which shows the certificate that every cluster's has.
fn pointed_at(kubeconfig: &[u8], server: &str) -> serde_json::Result<Vec<u8>> {
    let mut config: serde_json::Value = serde_json::from_slice(kubeconfig)?;
    if let Some(cluster) = config.pointer_mut("/clusters/0/cluster") {
        cluster["server"] = server.into();
        cluster["tls-server-name"] = "kubernetes".into();
    }
    Ok(format!("{config:#}\n").into_bytes())
}

/// The folder itself last: as long as it is not given, what is in it is looked through again.
fn give_all(path: &Path, owner: (u32, u32)) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        for entry in fs::read_dir(path)? {
            give_all(&entry?.path(), owner)?;
        }
    }
    lchown(path, Some(owner.0), Some(owner.1))
}

fn make_private(path: &Path) -> Result<(), HomeError> {
    let mut builder = fs::DirBuilder::new();
    builder
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| HomeError::Make {
            path: path.to_path_buf(),
            source,
        })
}

/// Copies files and folders; links are neither followed nor copied.
fn copy_into(from: &Path, to: &Path) -> Result<(), HomeError> {
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |source| HomeError::Copy { path, source }
    };
    for entry in fs::read_dir(from).map_err(failed(from))? {
        let entry = entry.map_err(failed(from))?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().map_err(failed(&path))?;
        if kind.is_dir() {
            make_private(&target)?;
            copy_into(&path, &target)?;
        } else if kind.is_file() {
            fs::copy(&path, &target).map_err(failed(&path))?;
            let mode = fs::metadata(&path)
                .map_err(failed(&path))?
                .permissions()
                .mode()
                | 0o600;
            fs::set_permissions(&target, fs::Permissions::from_mode(mode))
                .map_err(failed(&path))?;
        }
    }
    Ok(())
}

/// A new file each time, renamed into place: a link that the trainee put there is replaced and never followed.
fn write_private(path: &Path, bytes: &[u8]) -> Result<(), HomeError> {
    let failed = |source| HomeError::WriteKubeconfig {
        path: path.to_path_buf(),
        source,
    };
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)
        .map_err(failed)?;
    io::Write::write_all(&mut file, bytes).map_err(failed)?;
    fs::rename(&new, path).map_err(failed)
}
