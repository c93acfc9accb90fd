//! What a trainee's shell may see and use. The terminal and the solutions of labs run in the same place.
//!
//! Visible are programs, read-only, kubectl and helm of the course, the chart, and the trainee's home; reachable is the
//! cluster, and nothing else. Where nodes are containers, so is the place (see [`container`]).

mod container;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use clusters::provider::Environment;
use exec::{Bind, Cmd, Container, ExecError, Limits, Sandbox, User};

use super::home::{Home, HomeError};
use container::stand;

/// The trainee's name in the shell.
pub const USER: &str = "stagiaire";
/// The trainee's home, which is also the working folder.
pub const HOME: &str = "/home/stagiaire";
/// The controller's chart in the home, for `helm install kueue ~/kueue`; a link to [`CHART`].
pub const CHART_LINK: &str = "kueue";
const CHART: &str = "/opt/atelier/kueue";
const KUBE: &str = "/opt/atelier/kube";
const PROGRAMS: &str = "/opt/atelier/bin";
const SETTINGS: &str = "/opt/atelier/shell";
const API: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 6443);
const HOST: &str = "cassiopee";
const UID: u32 = 1000;
const MIB: u64 = 1024 * 1024;
const BASHRC: &str = include_str!("bashrc");

/// Why there is no shell.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error(transparent)]
    Sandbox(#[from] ExecError),
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error("prepare the container of the shell: {0}")]
    Container(String),
    #[error("write the shell's settings {}: {source}", path.display())]
    Settings {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// What shells are made from; the same for all of them.
#[derive(Debug, Clone)]
pub struct ShellKit {
    pub data_dir: PathBuf,
    pub kubectl: PathBuf,
    pub helm: PathBuf,
    /// The folder of the controller's Helm chart.
    pub chart: PathBuf,
}

/// The lab whose files a shell works with.
#[derive(Debug, Clone, Copy)]
pub struct LabFiles<'a> {
    pub id: &'a str,
    /// Copied into a new home.
    pub files: Option<&'a Path>,
}

/// Where a trainee's programs run: what they see, reach and may use is decided.
#[derive(Debug)]
pub enum Shell {
    /// On this machine, beside servers that are processes of it too.
    Sandbox(Box<Sandbox>),
    /// On the network of nodes that are containers.
    Container(Box<Container>),
}

/// A command in a shell, and another that ends what the first leaves running when it is killed.
#[derive(Debug)]
pub struct ShellCommand {
    pub cmd: Cmd,
    pub ending: Option<Cmd>,
}

impl Shell {
    /// The command that runs `argv` there; `terminal` is true when it gets one.
    ///
    /// # Errors
    /// When the sandbox cannot be laid out.
    pub fn wrap<A: AsRef<str>>(
        &self,
        argv: &[A],
        terminal: bool,
    ) -> Result<ShellCommand, ExecError> {
        Ok(match self {
            Self::Sandbox(sandbox) => ShellCommand {
                cmd: sandbox.wrap(argv)?,
                ending: None,
            },
            Self::Container(container) => {
                let name = uuid::Uuid::new_v4().simple().to_string();
                ShellCommand {
                    cmd: container.enter(argv, &name, terminal),
                    ending: Some(container.end(&name)),
                }
            }
        })
    }
}

impl From<Cmd> for ShellCommand {
    fn from(cmd: Cmd) -> Self {
        Self { cmd, ending: None }
    }
}

impl ShellCommand {
    /// Ends what was left running. Without success it is only noted: whoever deletes the environment ends everything.
    pub async fn end(&self) {
        if let Some(ending) = &self.ending
            && let Err(error) = ending.run().await
        {
            tracing::debug!(%error, "programs of a shell were not ended");
        }
    }
}

impl ShellKit {
    /// Where shells of `environment` run, with the home of `lab` prepared. `terminal` is true when programs get one.
    ///
    /// # Errors
    /// When bubblewrap is missing, the home cannot be prepared or the container cannot be made.
    pub async fn place(
        &self,
        environment: &Environment,
        lab: LabFiles<'_>,
        terminal: bool,
    ) -> Result<Shell, ShellError> {
        let home = Home::new(&self.data_dir, &environment.id, lab.id);
        let chart = self.chart.join("Chart.yaml").is_file();
        home.prepare(lab.files, chart.then_some((CHART_LINK, CHART)))?;
        let network = environment.shells.as_ref();
        let server = network.map(|network| network.server.as_str());
        home.bring_kubeconfig(&environment.trainee_kubeconfig, server)?;
        let settings = self.settings().await?;
        Ok(match network {
            Some(network) => {
                let container = self.container(network, &home, lab.id, &settings)?;
                stand(network, &container).await?;
                Shell::Container(Box::new(container))
            }
            None => {
                let sandbox = self.sandbox(environment, &home, settings, terminal)?;
                Shell::Sandbox(Box::new(sandbox))
            }
        })
    }

    fn sandbox(
        &self,
        environment: &Environment,
        home: &Home,
        settings: PathBuf,
        terminal: bool,
    ) -> Result<Sandbox, ShellError> {
        let mut sandbox = Sandbox::new()?;
        sandbox.ro = vec![
            Bind::new(&self.kubectl, format!("{PROGRAMS}/kubectl")),
            Bind::new(&self.helm, format!("{PROGRAMS}/helm")),
            Bind::new(settings, SETTINGS),
        ];
        if self.chart.join("Chart.yaml").is_file() {
            sandbox.ro.push(Bind::new(&self.chart, CHART));
        }
        sandbox.rw = vec![Bind::new(home.dir(), HOME), Bind::new(home.kube(), KUBE)];
        sandbox.env = environment_variables(Path::new("/usr/bin/nano").exists(), terminal);
        sandbox.cwd = HOME.into();
        sandbox.hostname = HOST.to_owned();
        sandbox.user = User {
            name: USER.to_owned(),
            uid: UID,
            gid: UID,
            home: HOME.into(),
            shell: "/bin/bash".into(),
        };
        sandbox.relay_out = vec![(API, environment.api_socket.clone())];
        sandbox.limits = Limits {
            processes: 300,
            memory: 2048 * MIB,
            file_size: 64 * MIB,
            open_files: 4096,
            tmp_size: 128 * MIB,
        };
        sandbox.terminal = terminal;
        Ok(sandbox)
    }

    /// The command of a trainee's interactive shell.
    ///
    /// # Errors
    /// As [`Self::place`].
    pub async fn login(
        &self,
        environment: &Environment,
        lab: LabFiles<'_>,
    ) -> Result<ShellCommand, ShellError> {
        let shell = self.place(environment, lab, true).await?;
        let argv = ["/bin/bash", "--rcfile", &format!("{SETTINGS}/bashrc"), "-i"];
        Ok(shell.wrap(&argv, true)?)
    }

    /// The folder with the shell's settings and completions. They are made once for each version of the programs.
    async fn settings(&self) -> Result<PathBuf, ShellError> {
        let dir = self.data_dir.join("shell");
        std::fs::create_dir_all(&dir).map_err(|source| ShellError::Settings {
            path: dir.clone(),
            source,
        })?;
        write(&dir.join("bashrc"), BASHRC)?;
        for (name, program) in [("kubectl", &self.kubectl), ("helm", &self.helm)] {
            let path = dir.join(format!("{name}.bash"));
            if is_newer(&path, program) {
                continue;
            }
            // Without completion a shell is still a shell.
            if let Ok(output) = Cmd::new(program)
                .args(["completion", "bash"])
                .env("HOME", "/nonexistent")
                .output()
                .await
            {
                write(&path, &output.stdout)?;
            }
        }
        Ok(dir)
    }
}

fn is_newer(file: &Path, than: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|meta| meta.modified()).ok();
    matches!((time(file), time(than)), (Some(file), Some(than)) if file > than)
}

/// Written beside and renamed, because other shells may be reading it.
fn write(path: &Path, text: &str) -> Result<(), ShellError> {
    let failed = |source| ShellError::Settings {
        path: path.to_path_buf(),
        source,
    };
    if std::fs::read_to_string(path).is_ok_and(|before| before == text) {
        return Ok(());
    }
    let new = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&new, text).map_err(failed)?;
    std::fs::rename(&new, path).map_err(failed)
}

fn environment_variables(nano: bool, terminal: bool) -> Vec<(String, String)> {
    let editor = if nano { "nano" } else { "vi" };
    let pairs = [
        ("HOME", HOME),
        ("USER", USER),
        ("LOGNAME", USER),
        ("SHELL", "/bin/bash"),
        ("PATH", "/opt/atelier/bin:/usr/local/bin:/usr/bin:/bin"),
        ("KUBECONFIG", "/opt/atelier/kube/config"),
        ("LANG", "C.UTF-8"),
        ("EDITOR", editor),
        ("KUBE_EDITOR", editor),
        ("TERM", if terminal { "xterm-256color" } else { "dumb" }),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
