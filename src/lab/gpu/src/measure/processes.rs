//! The processes that hold devices: those whose environment carries the variables that the plugin gave their container.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::inventory::{ALLOCATION, VISIBLE};
use crate::usage::Process;

/// `USER_HZ`: what the kernel counts CPU time in for `/proc`, on every architecture this runs on.
const TICKS: u64 = 100;
/// Bytes of a page, for `statm`.
const PAGE: u64 = 4096;
const MIB: u64 = 1024 * 1024;

/// The processes of one container.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) processes: Vec<Process>,
    /// CPU time of all of them and of the children they waited for.
    pub(super) cpu: Duration,
    /// Text of `/proc/<pid>/cgroup`.
    pub(super) cgroup: Option<String>,
    /// Devices, where the kubelet does not say.
    pub(super) visible: Vec<String>,
}

/// Every container with devices, by the key of its allocation. Processes that end meanwhile are left out.
pub(super) fn scan(proc: &Path) -> BTreeMap<String, Group> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let mut pids: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    pids.sort_unstable();
    for pid in pids {
        let folder = proc.join(pid.to_string());
        let Some((key, visible)) = allocation(&folder) else {
            continue;
        };
        let Some((cpu, process)) = process(&folder, pid) else {
            continue;
        };
        let group = groups.entry(key).or_default();
        group.cpu += cpu;
        group.processes.push(process);
        if group.cgroup.is_none() {
            group.cgroup = fs::read_to_string(folder.join("cgroup")).ok();
            group.visible = visible;
        }
    }
    groups
}

fn allocation(folder: &Path) -> Option<(String, Vec<String>)> {
    let environment = fs::read(folder.join("environ")).ok()?;
    let variable = |name: &str| {
        environment.split(|byte| *byte == 0).find_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(String::from_utf8_lossy(value).into_owned())
        })
    };
    let key = variable(ALLOCATION)?;
    let visible = variable(VISIBLE).unwrap_or_default();
    let ids = visible.split(',').filter(|id| !id.is_empty());
    Some((key, ids.map(str::to_owned).collect()))
}

fn process(folder: &Path, pid: u32) -> Option<(Duration, Process)> {
    let stat = fs::read_to_string(folder.join("stat")).ok()?;
    let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
    let pages = fs::read_to_string(folder.join("statm")).unwrap_or_default();
    let resident: u64 = pages.split(' ').nth(1)?.parse().ok()?;
    let command = fs::read(folder.join("cmdline")).unwrap_or_default();
    let process = Process {
        // As it is called inside its container.
        pid: inner_pid(&status).unwrap_or(pid),
        name: name(&command, &stat),
        memory_mib: resident * PAGE / MIB,
    };
    Some((cpu(&stat)?, process))
}

/// User and system time, of the process and of the children it waited for. The command in parentheses may hold anything.
fn cpu(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let times = fields.split_whitespace().skip(11).take(4);
    let ticks: u64 = times.filter_map(|text| text.parse::<u64>().ok()).sum();
    Some(Duration::from_millis(ticks * 1000 / TICKS))
}

fn inner_pid(status: &str) -> Option<u32> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn name(command: &[u8], stat: &str) -> String {
    let words = command
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty());
    let words: Vec<_> = words.map(String::from_utf8_lossy).collect();
    if !words.is_empty() {
        return words.join(" ");
    }
    let name = stat
        .split_once('(')
        .and_then(|(_, rest)| rest.rsplit_once(')'));
    name.map_or_else(String::new, |(name, _)| name.to_owned())
}
