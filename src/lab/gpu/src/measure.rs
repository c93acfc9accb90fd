//! Looks at what the containers that hold devices do: their processes in `/proc`, their CPU time and memory in their cgroup, their
//! report, and their names from the kubelet. All paths are settings, so that a test looks at folders of its own.

mod cgroup;
mod pods;
mod processes;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::inventory::{self, Folders};
use crate::usage::{self, CpuSample, Holder, Owner, Source, Work};
use processes::Group;

/// Where to look.
#[derive(Debug, Clone)]
pub struct Places {
    /// `/proc` of the node.
    pub proc: PathBuf,
    /// `/sys/fs/cgroup` of the node.
    pub cgroups: PathBuf,
    /// The kubelet's socket for pod resources.
    pub pod_resources: PathBuf,
    pub folders: Folders,
}

/// A moment, by two clocks.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Of a clock that only goes forward.
    pub steady: Duration,
    /// Of the clock that files are dated by.
    pub wall: SystemTime,
}

/// Remembers the last look, for a share of CPU is a difference of two.
#[derive(Debug)]
pub struct Meter {
    places: Places,
    before: BTreeMap<String, CpuSample>,
}

/// An allocation that the kubelet knows of, or that a process shows.
#[derive(Debug, Default)]
struct Known {
    owner: Option<Owner>,
    ids: Vec<String>,
    group: Group,
}

impl Meter {
    #[must_use]
    pub fn new(places: Places) -> Self {
        Self {
            places,
            before: BTreeMap::new(),
        }
    }

    /// Who holds devices, and what they do.
    pub async fn look(&mut self, now: Now) -> Vec<Holder> {
        let pods = match pods::list(&self.places.pod_resources).await {
            Ok(pods) => pods,
            Err(error) => {
                tracing::debug!(%error, "the kubelet does not say whose devices they are");
                Vec::new()
            }
        };
        let groups = processes::scan(&self.places.proc);
        let known = together(pods, groups);
        let keys: BTreeSet<&String> = known.keys().collect();
        self.before.retain(|key, _| keys.contains(key));
        known
            .into_iter()
            .map(|(key, one)| self.holder(&key, one, now))
            .collect()
    }

    fn holder(&mut self, key: &str, known: Known, now: Now) -> Holder {
        let group = known.group;
        let (sample, memory_mib) = self.sample(&group, now.steady);
        let before = self.before.insert(key.to_owned(), sample);
        let busy = before.and_then(|before| usage::busy(before, sample));
        let measured = Work {
            busy: busy.unwrap_or(0.0),
            memory_mib,
            source: Source::Measured,
        };
        Holder {
            owner: known.owner,
            ids: known.ids,
            work: self.report(key, memory_mib, now.wall).unwrap_or(measured),
            processes: group.processes,
        }
    }

    /// CPU time and memory of a container: its cgroup knows best; where it cannot be read, the sum over its processes.
    fn sample(&self, group: &Group, at: Duration) -> (CpuSample, u64) {
        let cgroup = group
            .cgroup
            .as_deref()
            .and_then(|file| cgroup::read(&self.places.cgroups, file));
        let in_processes = group.processes.iter().map(|one| one.memory_mib).sum();
        match cgroup {
            Some(counted) => {
                let sample = CpuSample {
                    at,
                    used: counted.used,
                    limit: counted.limit,
                };
                (sample, counted.memory_mib.unwrap_or(in_processes))
            }
            None => {
                let sample = CpuSample {
                    at,
                    used: group.cpu,
                    limit: None,
                };
                (sample, in_processes)
            }
        }
    }

    fn report(&self, key: &str, memory_mib: u64, wall: SystemTime) -> Option<Work> {
        let path = self.places.folders.report(key).join(inventory::REPORT_FILE);
        let written = fs::metadata(&path).ok()?.modified().ok()?;
        // A file from the future is as fresh as can be: clocks of two containers agree, their readings of it need not.
        let age = wall.duration_since(written).unwrap_or_default();
        usage::reported(&fs::read_to_string(path).ok()?, age, memory_mib)
    }
}

/// Joins what the kubelet says with what the processes show.
fn together(
    pods: Vec<(Owner, Vec<String>)>,
    groups: BTreeMap<String, Group>,
) -> BTreeMap<String, Known> {
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (owner, ids) in pods {
        if let Some(key) = inventory::key(&ids) {
            let one = known.entry(key).or_default();
            one.owner = Some(owner);
            one.ids = ids;
        }
    }
    for (key, group) in groups {
        let one = known.entry(key).or_default();
        if one.ids.is_empty() {
            one.ids.clone_from(&group.visible);
        }
        one.group = group;
    }
    known
}

#[cfg(test)]
mod tests;
