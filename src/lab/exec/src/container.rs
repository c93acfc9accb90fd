//! What a program in a container may see and use, turned into command lines of a container engine (`docker`, `podman`).
//!
//! Beside [`crate::Sandbox`], for clusters whose nodes are containers: the program lives on their network, with limits that
//! hold for all its processes together. The container itself does nothing but stay; shells are started in it and end by
//! themselves or by [`Container::end`]. Before the first one, [`Container::cut`] takes away every way out but the network;
//! [`Container::stand`] does all that is needed.

mod standing;
#[cfg(test)]
mod tests;

use std::net::Ipv4Addr;
use std::path::PathBuf;

use crate::{Bind, Cmd};

/// Stays until it is told to end, and takes in orphans of shells meanwhile.
const STAY: &str = "trap 'exit 0' TERM; while :; do sleep 86400 & wait $!; done";
/// Ends every process of one terminal: first in peace, then by force.
const END: &str = r#"
of() { grep -lsz "^$1$" /proc/[0-9]*/environ | cut -d/ -f3; }
for signal in HUP KILL; do
    for pid in $(of "$1"); do [ "$pid" = $$ ] || kill -$signal "$pid" 2>/dev/null; done
    [ $signal = KILL ] || sleep 0.5
done
"#;
/// Says to which terminal a process belongs.
const TERMINAL: &str = "ATELIER_TERMINAL";
/// Where cloud machines keep their secrets, and what else is only ever on the local link.
const LINK_LOCAL: &str = "169.254.0.0/16";
/// Set aside for examples (RFC 5737): names beyond the container's network are asked for where nobody is.
const NO_RESOLVER: &str = "192.0.2.1";

/// What all programs of the container may use together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// In cores, as `1.5`.
    pub cpus: String,
    /// Bytes of memory; there is no swap beside it.
    pub memory: u64,
    /// Processes and threads.
    pub processes: u64,
    /// Bytes of one file.
    pub file_size: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Bytes of `/tmp`.
    pub tmp_size: u64,
}

/// A container that is not yet running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// The engine's own program.
    pub engine: PathBuf,
    /// Its name, unique on this machine.
    pub name: String,
    /// What it is made from. It has a shell, `sleep`, `grep`, `cut` and `cat`.
    pub image: String,
    /// The engine's network that it lives on.
    pub network: String,
    /// Labels, to find it again.
    pub labels: Vec<(String, String)>,
    /// Read-only.
    pub ro: Vec<Bind>,
    /// Writable.
    pub rw: Vec<Bind>,
    /// The whole environment of its programs beside what the image says.
    pub env: Vec<(String, String)>,
    /// Working folder.
    pub cwd: PathBuf,
    /// Host name.
    pub hostname: String,
    /// Who its programs are, by number: never 0.
    pub user: (u32, u32),
    /// Limits.
    pub share: Share,
    /// Whether it may go further than its own network.
    pub internet: bool,
}

impl Container {
    /// Makes and starts it. It is not cut off yet: nothing of the trainee's runs in it before [`Self::cut`] has.
    #[must_use]
    pub fn start(&self) -> Cmd {
        let share = &self.share;
        let bytes = |bytes: u64| bytes.to_string();
        let mut cmd = Cmd::new(&self.engine)
            .args(["run", "--detach", "--name", &self.name])
            .args(["--hostname", &self.hostname, "--network", &self.network])
            .args(["--restart", "no", "--pull", "never"])
            .args(["--user", &self.account(), "--read-only"])
            .args(["--cap-drop", "ALL", "--security-opt", "no-new-privileges"])
            .args(["--cpus", &share.cpus])
            .args(["--memory", &bytes(share.memory)])
            .args(["--memory-swap", &bytes(share.memory)])
            .args(["--pids-limit", &bytes(share.processes)])
            .args(["--ulimit", &format!("fsize={}", share.file_size)])
            .args(["--ulimit", &format!("nofile={}", share.open_files)])
            .args(["--ulimit", "core=0"])
            .args([
                "--tmpfs",
                &format!("/tmp:rw,nosuid,nodev,size={}", share.tmp_size),
            ]);
        if !self.internet {
            cmd = cmd.args(["--dns", NO_RESOLVER]);
        }
        for (name, value) in &self.labels {
            cmd = cmd.args(["--label", &format!("{name}={value}")]);
        }
        for (binds, ending) in [(&self.ro, ",readonly"), (&self.rw, "")] {
            for Bind { host, inside } in binds {
                let (host, inside) = (host.display(), inside.display());
                let mount = format!("type=bind,source={host},target={inside}{ending}");
                cmd = cmd.args(["--mount", &mount]);
            }
        }
        for (name, value) in &self.env {
            cmd = cmd.args(["--env", &format!("{name}={value}")]);
        }
        cmd.args(["--workdir", &self.cwd.to_string_lossy()]).args([
            "--entrypoint",
            "/bin/bash",
            &self.image,
            "-c",
            STAY,
        ])
    }

    /// Takes its routes away, from outside: it has no right to bring them back. `tools` is an image with `ip`; `gateways` are
    /// this machine's addresses on the container's network, which stay out of reach even where the internet is allowed.
    #[must_use]
    pub fn cut(&self, tools: &str, gateways: &[Ipv4Addr]) -> Cmd {
        let mut lines = Vec::new();
        if !self.internet {
            lines.push("route replace unreachable default metric 0".to_owned());
            lines.push("route del default".to_owned());
        }
        let barred = gateways.iter().map(|gateway| format!("{gateway}/32"));
        let barred = barred.chain([LINK_LOCAL.to_owned()]);
        lines.extend(barred.map(|range| format!("route replace unreachable {range}")));
        Cmd::new(&self.engine)
            .args(["run", "--rm", "--interactive", "--pull", "never"])
            .args(["--network", &format!("container:{}", self.name)])
            .args(["--user", "0:0", "--read-only"])
            .args(["--cap-drop", "ALL", "--cap-add", "NET_ADMIN"])
            .args(["--security-opt", "no-new-privileges"])
            .args(["--entrypoint", "ip", tools, "-batch", "-"])
            .stdin(lines.join("\n") + "\n")
    }

    /// A program in it, known by `name` to [`Self::end`]. With `terminal` it is given one.
    #[must_use]
    pub fn enter<A: AsRef<str>>(&self, argv: &[A], name: &str, terminal: bool) -> Cmd {
        let mut cmd = Cmd::new(&self.engine)
            .args(["exec", "--user", &self.account(), "--interactive"])
            .args(["--env", &format!("{TERMINAL}={name}")]);
        if terminal {
            cmd = cmd.args(["--tty", "--env", "TERM=xterm-256color"]);
        }
        cmd.arg(&self.name).args(argv.iter().map(AsRef::as_ref))
    }

    /// Ends what was started under a name: the engine lets it run on when whoever started it goes.
    #[must_use]
    pub fn end(&self, name: &str) -> Cmd {
        Cmd::new(&self.engine)
            .args(["exec", "--user", &self.account(), &self.name])
            .args(["/bin/bash", "-c", END, "end"])
            .arg(format!("{TERMINAL}={name}"))
    }

    /// Removes it with everything that runs in it. What was bound into it stays.
    #[must_use]
    pub fn remove(&self) -> Cmd {
        Cmd::new(&self.engine).args(["rm", "--force", "--volumes", &self.name])
    }

    fn account(&self) -> String {
        format!("{}:{}", self.user.0, self.user.1)
    }
}
