//! CPU time, CPU limit and memory of a cgroup, in version 1 and 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: u64 = 1024 * 1024;

/// What a cgroup counts.
#[derive(Debug, PartialEq)]
pub(super) struct Counted {
    pub(super) used: Duration,
    /// In cores.
    pub(super) limit: Option<f64>,
    pub(super) memory_mib: Option<u64>,
}

/// Reads the cgroup that a process's `cgroup` file names, below the mounted `root`.
pub(super) fn read(root: &Path, file: &str) -> Option<Counted> {
    unified(root, file).or_else(|| legacy(root, file))
}

fn unified(root: &Path, file: &str) -> Option<Counted> {
    let path = below(
        root,
        file.lines().find_map(|line| line.strip_prefix("0::"))?,
    );
    let used = field(&text(&path, "cpu.stat")?, "usage_usec")?;
    let limit = text(&path, "cpu.max").and_then(|text| {
        let (quota, period) = text.trim().split_once(' ')?;
        cores(quota, period)
    });
    let memory = text(&path, "memory.stat").and_then(|text| field(&text, "anon"));
    Some(Counted {
        used: Duration::from_micros(used),
        limit,
        memory_mib: memory.map(|bytes| bytes / MIB),
    })
}

fn legacy(root: &Path, file: &str) -> Option<Counted> {
    let cpu = controller(root, file, "cpuacct")?;
    let used = text(&cpu, "cpuacct.usage")?.trim().parse().ok()?;
    let limit = controller(root, file, "cpu").and_then(|path| {
        let (quota, period) = (
            text(&path, "cpu.cfs_quota_us")?,
            text(&path, "cpu.cfs_period_us")?,
        );
        cores(quota.trim(), period.trim())
    });
    let memory = controller(root, file, "memory").and_then(|path| {
        let counted = text(&path, "memory.stat")?;
        field(&counted, "total_rss").or_else(|| field(&counted, "rss"))
    });
    Some(Counted {
        used: Duration::from_nanos(used),
        limit,
        memory_mib: memory.map(|bytes| bytes / MIB),
    })
}

/// The folder of one controller: they are mounted under their names, or under both names where two share a mount.
fn controller(root: &Path, file: &str, wanted: &str) -> Option<PathBuf> {
    let (names, path) = file.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (names, path) = (parts.next()?, parts.next()?);
        names
            .split(',')
            .any(|name| name == wanted)
            .then_some((names, path))
    })?;
    [names, wanted]
        .into_iter()
        .map(|mount| below(&root.join(mount), path))
        .find(|folder| folder.exists())
}

/// A path of the file starts at the root of the hierarchy that the reader sees.
fn below(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

fn text(folder: &Path, name: &str) -> Option<String> {
    fs::read_to_string(folder.join(name)).ok()
}

fn field(text: &str, name: &str) -> Option<u64> {
    let value = |line: &str| {
        line.strip_prefix(name)?
            .strip_prefix(' ')?
            .trim()
            .parse()
            .ok()
    };
    text.lines().find_map(value)
}

fn cores(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    // No limit is written `max` in version 2, which is no number, and -1 in version 1.
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}
