//! Where the product's binaries and the cluster programs are on this machine.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The product's binaries that must stand beside each other.
const BINARIES: &[&str] = &[
    "atelier",
    "environment-supervisor",
    "sandbox-relay",
    "kueue-manager",
];
/// The cluster programs that every environment needs.
const TOOLS: &[&str] = &[
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kwok",
    "helm",
];

/// All that a real environment takes.
#[derive(Clone, Debug)]
pub struct Programs {
    atelier: PathBuf,
    tools_dir: Option<PathBuf>,
    tools: Vec<PathBuf>,
}

impl Programs {
    /// Everything, or nothing and a line that says what is missing.
    ///
    /// # Panics
    /// Where `CI=true` and something is missing: a green CI means that it ran.
    pub fn find() -> Option<Self> {
        let found = Self::look();
        found.map_err(|missing| lacking(&missing)).ok()
    }

    fn look() -> Result<Self, String> {
        for name in BINARIES {
            if exec::sibling(name).is_none() {
                return Err(format!(
                    "no `{name}` beside the test program; `cargo build --workspace` makes it"
                ));
            }
        }
        if program("bwrap").is_none() {
            return Err("bubblewrap is not installed".to_owned());
        }
        let tools_dir = env::var_os("ATELIER_TOOLS_DIR").map(PathBuf::from);
        let tools = TOOLS
            .iter()
            .map(|name| {
                tool(name, tools_dir.as_deref())
                    .ok_or_else(|| format!("no `{name}`; `cargo xtask tools` obtains it"))
            })
            .collect::<Result<_, _>>()?;
        let atelier = exec::sibling("atelier").ok_or("no `atelier`")?;
        Ok(Self {
            atelier,
            tools_dir,
            tools,
        })
    }

    /// The platform's binary.
    pub fn atelier(&self) -> &Path {
        &self.atelier
    }

    /// The folder of tools that was named explicitly, if any.
    pub fn tools_dir(&self) -> Option<&Path> {
        self.tools_dir.as_deref()
    }

    /// One of the cluster programs.
    ///
    /// # Panics
    /// When it is none of them: a mistake of the test.
    pub fn tool(&self, name: &str) -> &Path {
        let found = self.tools.iter().find(|path| path.ends_with(name));
        found.unwrap_or_else(|| panic!("`{name}` is not one of {TOOLS:?}"))
    }
}

/// A program of the machine, such as `chromedriver`.
pub fn program(name: &str) -> Option<PathBuf> {
    exec::find_program(name, &env::var_os("PATH")?)
}

/// Says that a test was skipped, and why.
///
/// # Panics
/// Where `CI=true`.
pub fn lacking(what: &str) {
    assert!(
        env::var_os("CI").is_none_or(|ci| ci != "true"),
        "in CI nothing may be missing: {what}"
    );
    // Past the capture of the test harness: `cargo xtask test` counts these lines.
    writeln!(io::stdout(), "skipped: {what}").ok();
}

/// In the named folder, or in the cache, which keeps one folder for each version.
fn tool(name: &str, dir: Option<&Path>) -> Option<PathBuf> {
    if let Some(dir) = dir {
        return Some(dir.join(name)).filter(|path| path.exists());
    }
    let cache = PathBuf::from(env::var_os("HOME")?).join(".cache/atelier-kueue/tools");
    let mut versions: Vec<PathBuf> = fs::read_dir(cache)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let folder = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            folder
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == 'v'))
        })
        .map(|path| path.join(name))
        .filter(|path| path.exists())
        .collect();
    versions.sort();
    versions.pop()
}
