//! Builds programs with Go from modules whose every dependency is pinned by hash.
//!
//! The modules are part of this program, so that it can build wherever Go and its module proxy are to be had.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use exec::{Cmd, find_program};
use tokio_util::sync::CancellationToken;

use super::Tool;

macro_rules! pinned {
    ($path:literal) => {
        (
            $path,
            include_str!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../../images/control-plane/",
                $path
            )),
        )
    };
}

type Files = &'static [(&'static str, &'static str)];

const KUBERNETES: Files = &[
    pinned!("kubernetes/go.mod"),
    pinned!("kubernetes/go.sum"),
    pinned!("kubernetes/main.go"),
    pinned!("kubernetes/kubectl/main.go"),
];
const KWOK: Files = &[
    pinned!("kwok/go.mod"),
    pinned!("kwok/go.sum"),
    pinned!("kwok/tools.go"),
];
const HELM: Files = &[
    pinned!("helm/go.mod"),
    pinned!("helm/go.sum"),
    pinned!("helm/tools.go"),
];
const KIND: Files = &[
    pinned!("kind/go.mod"),
    pinned!("kind/go.sum"),
    pinned!("kind/tools.go"),
];

/// One run of `go build`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    /// What the result is called in the cache.
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    files: Files,
    folder: &'static str,
    package: &'static str,
    /// Variables that hold the program's version, and how it is written there.
    variables: &'static [(&'static str, &'static str)],
}

const KUBERNETES_VERSION: &[(&str, &str)] = &[
    ("k8s.io/component-base/version.gitVersion", "v1.37.2"),
    ("k8s.io/component-base/version.gitMajor", "1"),
    ("k8s.io/component-base/version.gitMinor", "37"),
    ("k8s.io/component-base/version.gitTreeState", "archive"),
    ("k8s.io/client-go/pkg/version.gitVersion", "v1.37.2"),
];

impl Unit {
    /// What must be built for a program. The four servers are one program that looks at its own name.
    pub(super) fn of(tool: Tool) -> Self {
        let version = tool.version();
        match tool {
            Tool::Etcd
            | Tool::KubeApiserver
            | Tool::KubeControllerManager
            | Tool::KubeScheduler => Self {
                name: "control-plane",
                version: Tool::KubeApiserver.version(),
                files: KUBERNETES,
                folder: "kubernetes",
                package: ".",
                variables: KUBERNETES_VERSION,
            },
            Tool::Kubectl => Self {
                name: tool.name(),
                version,
                files: KUBERNETES,
                folder: "kubernetes",
                package: "./kubectl",
                variables: KUBERNETES_VERSION,
            },
            Tool::Kwok => Self {
                name: tool.name(),
                version,
                files: KWOK,
                folder: "kwok",
                package: "sigs.k8s.io/kwok/cmd/kwok",
                variables: &[("sigs.k8s.io/kwok/pkg/consts.Version", "v0.8.0")],
            },
            Tool::Helm => Self {
                name: tool.name(),
                version,
                files: HELM,
                folder: "helm",
                package: "helm.sh/helm/v4/cmd/helm",
                variables: &[("helm.sh/helm/v4/internal/version.version", "v4.3.1")],
            },
            // It holds its version itself.
            Tool::Kind => Self {
                name: tool.name(),
                version,
                files: KIND,
                folder: "kind",
                package: "sigs.k8s.io/kind",
                variables: &[],
            },
        }
    }

    /// Whether it serves several programs, which then are links to it.
    pub(super) fn is_shared(&self) -> bool {
        self.name == "control-plane"
    }

    fn ldflags(&self) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!(" -X {name}={value}"));
        format!("-s -w{}", variables.collect::<String>())
    }
}

/// The `go` program: on the search path, or where its own installer puts it.
pub(super) fn find_go(search_path: Option<&OsStr>) -> Option<PathBuf> {
    let usual = Path::new("/usr/local/go/bin/go");
    search_path
        .and_then(|path| find_program("go", path))
        .or_else(|| usual.exists().then(|| usual.to_owned()))
}

/// Builds in `scratch` and answers the program's path. `progress` hears packages compiled, packages in all, seconds.
pub(super) async fn build(
    unit: Unit,
    go: &Path,
    scratch: &Path,
    cancel: &CancellationToken,
    mut progress: impl FnMut(u64, u64, u64) + Send,
) -> Result<PathBuf, String> {
    let module =
        write_module(unit, scratch).map_err(|error| format!("write the module: {error}"))?;
    let program = scratch.join("program");
    let begun = tokio::time::Instant::now();
    progress(0, 0, 0);
    let command = || {
        Cmd::new(go)
            .cwd(&module)
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "")
            .env("GOWORK", "off")
    };
    let list = command()
        .args(["list", "-deps", unit.package])
        .run_cancellable(cancel)
        .await;
    let packages = list
        .map_err(|error| without_proxy(&error.to_string()))?
        .stdout
        .lines()
        .count();
    let packages = u64::try_from(packages).unwrap_or_default();
    let mut compiled = 0;
    let build = command()
        .args([
            "build",
            "-v",
            "-trimpath",
            "-ldflags",
            &unit.ldflags(),
            "-o",
        ])
        .arg(&program)
        .arg(unit.package);
    let build = build.run_lines(cancel, |_, _| {
        compiled += 1;
        progress(compiled, packages, begun.elapsed().as_secs());
    });
    Box::pin(build)
        .await
        .map_err(|error| without_proxy(&error.to_string()))?;
    progress(
        packages,
        packages,
        begun
            .elapsed()
            .as_secs()
            .max(Duration::from_secs(1).as_secs()),
    );
    Ok(program)
}

fn write_module(unit: Unit, scratch: &Path) -> std::io::Result<PathBuf> {
    for (path, text) in unit.files {
        let path = scratch.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)?;
    }
    Ok(scratch.join(unit.folder))
}

/// Go's own words for "no network" are many lines; one says what to do.
fn without_proxy(error: &str) -> String {
    let unreachable = [
        "dial tcp",
        "no such host",
        "connection refused",
        "i/o timeout",
    ];
    if unreachable.iter().any(|sign| error.contains(sign)) {
        return format!(
            "Go cannot reach its module proxy (set GOPROXY to one that answers)\n{error}"
        );
    }
    error.to_owned()
}
