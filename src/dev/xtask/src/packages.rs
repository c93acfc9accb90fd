//! What must be on the machine before anything is built: Rust and Node by the person, system packages by this tool where it
//! may (root, or sudo without a password, on Debian or Ubuntu). It says which; elsewhere it prints the one command that does.

use std::path::Path;

use anyhow::bail;

use crate::run::{self, say};

/// A program and the Debian package that brings it.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    program: &'static str,
    name: &'static str,
}

/// What the platform needs at run time.
pub const FOR_SERVING: &[Package] = &[
    Package {
        program: "bwrap",
        name: "bubblewrap",
    },
    Package {
        program: "nano",
        name: "nano",
    },
    Package {
        program: "/usr/share/bash-completion/bash_completion",
        name: "bash-completion",
    },
    Package {
        program: "cc",
        name: "gcc",
    },
];

/// What the tests need on top: a real browser and its driver.
pub const FOR_TESTING: &[Package] = &[
    Package {
        program: "chromium",
        name: "chromium",
    },
    Package {
        program: "chromedriver",
        name: "chromium-driver",
    },
];

/// Checks the two things that a person installs: Rust and Node.
///
/// # Errors
/// Names what is missing or too old, and where it comes from.
pub fn languages() -> anyhow::Result<()> {
    let rust = run::output("rustc", &["--version"]);
    require("Rust", rust.as_deref(), 1, (1, 95), "https://rustup.rs")?;
    let node = run::output("node", &["--version"]);
    require("Node.js", node.as_deref(), 0, (20, 0), "https://nodejs.org")?;
    if run::output("npm", &["--version"]).is_none() {
        bail!(
            "npm is missing: it comes with Node.js (https://nodejs.org), or with the Debian package `npm`"
        );
    }
    Ok(())
}

fn require(
    what: &str,
    printed: Option<&str>,
    word: usize,
    least: (u32, u32),
    from: &str,
) -> anyhow::Result<()> {
    let Some(printed) = printed else {
        bail!(
            "{what} is missing: version {}.{} or newer is needed, see {from}",
            least.0,
            least.1
        );
    };
    let text = printed
        .split_whitespace()
        .nth(word)
        .unwrap_or(printed)
        .trim_start_matches('v');
    if version(text).is_none_or(|found| found < least) {
        bail!(
            "{what} {text} is too old: version {}.{} or newer is needed, see {from}",
            least.0,
            least.1
        );
    }
    Ok(())
}

/// Major and minor number of a version such as `20.20.2`.
#[must_use]
pub fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor = numbers.next()?.parse().ok()?;
    Some((major, minor))
}

/// Installs the packages whose programs are missing, or prints the command that would.
///
/// # Errors
/// When a package is missing and cannot be installed from here, with the command to run.
pub fn install(wanted: &[Package]) -> anyhow::Result<()> {
    let missing: Vec<&str> = wanted
        .iter()
        .filter(|package| !present(package.program))
        .map(|package| package.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let by_hand = format!("apt-get install -y {}", missing.join(" "));
    if run::output("apt-get", &["--version"]).is_none() {
        bail!(
            "missing on this machine: {}. Install them with this system's package manager (on Debian: `sudo {by_hand}`)",
            missing.join(", ")
        );
    }
    let prefix: &[&str] = if run::output("id", &["-u"]).as_deref() == Some("0") {
        &[]
    } else if run::output("sudo", &["-n", "true"]).is_some() {
        &["sudo", "-n"]
    } else {
        bail!(
            "missing on this machine: {}. Run `sudo {by_hand}`, then start again",
            missing.join(", ")
        );
    };
    say(&format!(
        "Installing system packages: {}",
        missing.join(", ")
    ));
    apt(prefix, &["update", "-q"])?;
    let mut arguments = vec!["install", "-y", "-q", "--no-install-recommends"];
    arguments.extend(&missing);
    apt(prefix, &arguments)
}

fn apt(prefix: &[&str], arguments: &[&str]) -> anyhow::Result<()> {
    let mut words = prefix.to_vec();
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    words.extend(arguments);
    let (program, rest) = words.split_first().unwrap_or((&"apt-get", &[]));
    run::step(
        &format!("apt-get {}", arguments.join(" ")),
        run::command(program).args(rest),
    )
}

fn present(program: &str) -> bool {
    if program.starts_with('/') {
        return Path::new(program).exists();
    }
    let path = run::variable("PATH").unwrap_or_default();
    path.split(':')
        .any(|folder| Path::new(folder).join(program).is_file())
}

#[cfg(test)]
mod tests;
