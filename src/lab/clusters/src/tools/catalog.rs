//! Which programs there are: versions, how each tells its own, and where its release is.

use serde::{Deserialize, Serialize};

const KUBERNETES: &str = "1.37.2";

/// One program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    Etcd,
    KubeApiserver,
    KubeControllerManager,
    KubeScheduler,
    Kubectl,
    Kwok,
    Helm,
    Kind,
}

/// How a release is packed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Packing {
    /// The program itself.
    Plain,
    /// A gzipped tar with the program at this path.
    TarGz(String),
}

/// A release to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Artifact {
    /// Its name in the table of hashes.
    pub(super) name: String,
    /// Host and path.
    pub(super) origin: String,
    pub(super) packing: Packing,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Etcd,
        Self::KubeApiserver,
        Self::KubeControllerManager,
        Self::KubeScheduler,
        Self::Kubectl,
        Self::Kwok,
        Self::Helm,
        Self::Kind,
    ];

    /// The program's file name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::KubeApiserver => "kube-apiserver",
            Self::KubeControllerManager => "kube-controller-manager",
            Self::KubeScheduler => "kube-scheduler",
            Self::Kubectl => "kubectl",
            Self::Kwok => "kwok",
            Self::Helm => "helm",
            Self::Kind => "kind",
        }
    }

    /// The version that is wanted, without a `v`.
    #[must_use]
    pub const fn version(self) -> &'static str {
        match self {
            Self::Etcd => "3.7.3",
            Self::KubeApiserver
            | Self::KubeControllerManager
            | Self::KubeScheduler
            | Self::Kubectl => KUBERNETES,
            Self::Kwok => "0.8.0",
            Self::Helm => "4.3.1",
            Self::Kind => "0.33.0",
        }
    }

    /// What makes it print its version.
    pub(super) const fn version_args(self) -> &'static [&'static str] {
        match self {
            Self::Kubectl => &["version", "--client"],
            Self::Helm => &["version", "--short"],
            _ => &["--version"],
        }
    }

    /// Its release for a processor, as Go names it.
    pub(super) fn artifact(self, arch: &str) -> Artifact {
        let (name, version) = (self.name(), self.version());
        let named = format!("{name}-v{version}-linux-{arch}");
        let archive = format!("{named}.tar.gz");
        match self {
            Self::Etcd => Artifact {
                origin: format!("github.com/etcd-io/etcd/releases/download/v{version}/{archive}"),
                packing: Packing::TarGz(format!("{named}/etcd")),
                name: archive,
            },
            Self::Helm => Artifact {
                origin: format!("get.helm.sh/{archive}"),
                packing: Packing::TarGz(format!("linux-{arch}/helm")),
                name: archive,
            },
            Self::Kwok => Artifact {
                origin: format!(
                    "github.com/kubernetes-sigs/kwok/releases/download/v{version}/kwok-linux-{arch}"
                ),
                packing: Packing::Plain,
                name: named,
            },
            Self::Kind => Artifact {
                origin: format!(
                    "github.com/kubernetes-sigs/kind/releases/download/v{version}/kind-linux-{arch}"
                ),
                packing: Packing::Plain,
                name: named,
            },
            Self::KubeApiserver
            | Self::KubeControllerManager
            | Self::KubeScheduler
            | Self::Kubectl => Artifact {
                origin: format!("dl.k8s.io/release/v{version}/bin/linux/{arch}/{name}"),
                packing: Packing::Plain,
                name: named,
            },
        }
    }
}

/// This machine's processor, as Go names it.
pub(super) fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}
