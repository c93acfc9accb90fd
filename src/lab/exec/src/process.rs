//! Signals to processes and groups, and telling whether a process seen earlier is still the same one.
//!
//! A process is known by its id *and* its start time, because ids are used again.

use std::fs;
use std::path::{Path, PathBuf};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process, kill_process_group, test_kill_process};

/// One process of this machine, distinguishable from a later one with the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The process id.
    pub pid: u32,
    /// Clock ticks since boot at which it started.
    pub started: u64,
}

impl ProcessIdentity {
    /// The process that now has this id.
    pub fn of(pid: u32) -> Option<Self> {
        stat(pid).map(|stat| Self {
            pid,
            started: stat.started,
        })
    }

    /// This program.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Whether that very process runs. A zombie does not run.
    pub fn is_alive(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && stat.state != 'Z')
    }
}

struct Stat {
    state: char,
    group: u32,
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may itself hold spaces and parentheses.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(16)?.parse().ok()?;
    Some(Stat {
        state,
        group,
        started,
    })
}

/// The living members of a process group whose working folder is `dir` or below it.
///
/// The folder guards against a group number that was used again by strangers.
pub fn group_members_in(group: u32, dir: &Path) -> Vec<ProcessIdentity> {
    let dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    all_pids()
        .filter_map(|pid| stat(pid).map(|stat| (pid, stat)))
        .filter(|(pid, stat)| stat.group == group && stat.state != 'Z' && works_in(*pid, &dir))
        .map(|(pid, stat)| ProcessIdentity {
            pid,
            started: stat.started,
        })
        .collect()
}

fn works_in(pid: u32, dir: &Path) -> bool {
    let Ok(cwd) = fs::read_link(format!("/proc/{pid}/cwd")) else {
        return false;
    };
    // The folder may have been removed under the process.
    let cwd = cwd
        .to_string_lossy()
        .trim_end_matches(" (deleted)")
        .to_owned();
    PathBuf::from(cwd).starts_with(dir)
}

fn all_pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// Sends a signal to one process. False when there is none, or it is not ours.
pub fn signal_process(pid: u32, signal: Signal) -> bool {
    to_pid(pid).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// Sends a signal to a process group. False when there is none, or it is not ours.
pub fn signal_group(leader: u32, signal: Signal) -> bool {
    to_pid(leader).is_some_and(|pid| kill_process_group(pid, signal).is_ok())
}

/// Whether any process has this id.
pub fn exists(pid: u32) -> bool {
    to_pid(pid).is_some_and(|pid| test_kill_process(pid).is_ok())
}

fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid)
        .ok()
        .filter(|pid| *pid > 1)
        .and_then(Pid::from_raw)
}

/// Private memory of a process in bytes: the dirty pages that nobody else has, free again if it ended. Clean pages of
/// program files are left out: the page cache holds them once for all environments, though a lone one seems to own them.
pub fn private_memory(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let kilobytes: u64 = text
        .lines()
        .filter(|line| line.starts_with("Private_Dirty:"))
        .filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok())
        .sum();
    Some(kilobytes * 1024)
}

/// The living members of a process group, whoever they are.
pub fn group_members(group: u32) -> Vec<u32> {
    all_pids()
        .filter(|pid| stat(*pid).is_some_and(|stat| stat.group == group && stat.state != 'Z'))
        .collect()
}
