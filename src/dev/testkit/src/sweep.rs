//! Leaving nothing behind: the processes of a test are known by the folder they work in or were told of.

use std::{fs, path::Path};

use exec::process::{Signal, signal_process};

#[cfg(test)]
mod tests;

/// How often the processes are looked for again: each killed parent may have had a child just then.
const ROUNDS: usize = 200;

/// Kills every process of that folder, until there is none.
pub(crate) fn kill_all(dir: &Path) {
    for _ in 0..ROUNDS {
        let found = working_in(dir);
        if found.is_empty() {
            return;
        }
        for pid in found {
            signal_process(pid, Signal::KILL);
        }
    }
}

/// The living processes, this one excepted, whose working folder is below `dir` or whose command line names it.
pub(crate) fn working_in(dir: &Path) -> Vec<u32> {
    let own = std::process::id();
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| *pid != own && is_alive(*pid) && (stands_in(*pid, dir) || is_told(*pid, dir)))
        .collect()
}

fn stands_in(pid: u32, dir: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(dir))
}

fn is_told(pid: u32, dir: &Path) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(&*dir.to_string_lossy())
}

fn is_alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .ok()
        .and_then(|stat| {
            let (_, rest) = stat.rsplit_once(") ")?;
            Some(!rest.starts_with('Z'))
        })
        .unwrap_or(false)
}
