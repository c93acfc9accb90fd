//! Options common to all commands: where things are. The only place of this binary that reads the process environment.

use std::path::{Path, PathBuf};

/// Where the platform keeps and finds its files.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Folder of environments, records and working files [default: ~/.local/share/atelier-kueue]
    #[arg(long, env = "ATELIER_DATA", global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Folder that holds the cluster programs, looked at before PATH and the cache
    #[arg(long, env = "ATELIER_TOOLS", global = true, value_name = "DIR")]
    tools_dir: Option<PathBuf>,
    /// Folder of the course: labs and profiles [default: `labs` here or beside the program]
    #[arg(long, env = "ATELIER_LABS", global = true, value_name = "DIR")]
    labs_dir: Option<PathBuf>,
    /// Folder of the front end's bundle [default: `static/dist` here or beside the program]
    #[arg(long, env = "ATELIER_STATIC", global = true, value_name = "DIR")]
    static_dir: Option<PathBuf>,
    /// What environments are made of: servers of this machine, or containers of a kind cluster
    #[arg(
        long,
        env = "ATELIER_PROVIDER",
        global = true,
        value_name = "NAME",
        value_enum,
        default_value_t
    )]
    provider: ProviderName,
    /// The image of a kind cluster's nodes [default: what `cargo xtask images node` made]
    #[arg(
        long,
        env = "ATELIER_NODE_IMAGE",
        global = true,
        value_name = "IMAGE",
        hide = true
    )]
    node_image: Option<String>,
    /// What to log: error, warn, info or debug [default: info for `serve`, warn otherwise]
    #[arg(long, env = "ATELIER_LOG", global = true, value_name = "LEVEL")]
    log: Option<String>,
    /// Home folder of the user, from the environment
    #[arg(
        long,
        env = "HOME",
        hide = true,
        hide_env_values = true,
        global = true,
        default_value = "/"
    )]
    home: PathBuf,
}

/// What environments are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ProviderName {
    /// The servers of a cluster as processes of this machine; nodes are simulated.
    #[default]
    Local,
    /// A kind cluster each: nodes are containers that run real pods.
    Kind,
}

impl Options {
    /// Options of a test or of another binary: everything under `root`.
    #[must_use]
    pub fn for_root(root: &Path) -> Self {
        Self {
            data_dir: Some(root.join("data")),
            tools_dir: None,
            labs_dir: Some(root.join("labs")),
            static_dir: Some(root.join("static")),
            provider: ProviderName::Local,
            node_image: None,
            log: None,
            home: root.to_path_buf(),
        }
    }

    /// The same options with another folder of labs.
    #[must_use]
    pub fn with_labs_dir(self, labs_dir: PathBuf) -> Self {
        Self {
            labs_dir: Some(labs_dir),
            ..self
        }
    }

    /// Where environments, records and working files live.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.data_dir
            .clone()
            .unwrap_or_else(|| self.home.join(".local/share/atelier-kueue"))
    }

    /// The folder of environments, one subfolder each.
    #[must_use]
    pub fn environments_dir(&self) -> PathBuf {
        self.data_dir().join("environments")
    }

    /// An explicit folder of cluster programs, if one was named.
    #[must_use]
    pub fn tools_dir(&self) -> Option<&Path> {
        self.tools_dir.as_deref()
    }

    /// What environments are made of.
    #[must_use]
    pub const fn provider(&self) -> ProviderName {
        self.provider
    }

    /// The image of a kind cluster's nodes, if one was named.
    #[must_use]
    pub fn node_image(&self) -> Option<&str> {
        self.node_image.as_deref()
    }

    /// The cache of downloaded or built cluster programs, shared by all of the user's data folders.
    #[must_use]
    pub fn cache_dir(&self) -> PathBuf {
        self.home.join(".cache/atelier-kueue")
    }

    /// The folder of labs.
    #[must_use]
    pub fn labs_dir(&self) -> PathBuf {
        self.labs_dir
            .clone()
            .unwrap_or_else(|| beside_program("labs"))
    }

    /// The folder of environment profiles.
    #[must_use]
    pub fn profiles_dir(&self) -> PathBuf {
        self.labs_dir().join("profiles")
    }

    /// The folder of the bundled front end.
    #[must_use]
    pub fn static_dir(&self) -> PathBuf {
        self.static_dir
            .clone()
            .unwrap_or_else(|| beside_program("static/dist"))
    }

    /// The level of the log, if one was named.
    #[must_use]
    pub fn log(&self) -> Option<&str> {
        self.log.as_deref()
    }

    /// The user's home folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }
}

/// Looks for a folder of the source tree or installation: in the working folder, then upwards of the program,
/// then where this crate was compiled. Answers the first candidate when none exists, so that errors can name it.
fn beside_program(name: &str) -> PathBuf {
    let here = PathBuf::from(name);
    let program = std::env::current_exe().unwrap_or_default();
    let upwards = program
        .ancestors()
        .skip(1)
        .take(4)
        .map(|dir| dir.join(name));
    let compiled = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../..")
        .join(name);
    std::iter::once(here.clone())
        .chain(upwards)
        .chain([compiled])
        .find(|dir| dir.is_dir())
        .unwrap_or(here)
}
