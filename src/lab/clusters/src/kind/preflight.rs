//! Whether this machine can hold another cluster, and which limit binds first. Reads files and asks the engine; the
//! judgement itself is a pure function of what was read.

use std::fs;
use std::path::Path;

use super::Settings;
use super::engine::Engine;
use super::words;
use crate::machine::{free_memory_mib, number};

/// Memory of a cluster of two nodes with the controller, measured, with what a small training takes beside it.
const MEMORY_MIB: u64 = 1200;
/// inotify instances of one node: systemd, containerd, the kubelet and its pods.
const INSTANCES_PER_NODE: u64 = 40;
const INSTANCES: &str = "/proc/sys/fs/inotify/max_user_instances";

/// What was seen of the machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Why the engine does not answer; nothing when it does.
    pub engine_error: Option<String>,
    /// Whether the node image is there, in the engine or as an archive.
    pub image: bool,
    /// `v1`, `v2`, or nothing where no control groups are mounted.
    pub cgroup: Option<&'static str>,
    pub free_memory_mib: Option<u64>,
    pub inotify_instances: Option<u64>,
    pub inotify_in_use: u64,
    /// Whether containers may have every capability that the engine asks for.
    pub all_capabilities: bool,
    /// Whether the engine's runtime does without those that are lacking.
    pub bounded_runtime: bool,
}

/// Looks at the machine.
pub async fn facts(settings: &Settings) -> Facts {
    let engine = Engine(&settings.engine);
    let answer = engine
        .run(["info", "--format", "{{.DefaultRuntime}}"])
        .await;
    let runtime = answer.clone().unwrap_or_default();
    Facts {
        engine_error: answer.err().map(|error| words::of(&error, settings)),
        image: settings.node_archive.is_some() || engine.has_image(&settings.image).await,
        cgroup: cgroup(Path::new("/sys/fs/cgroup")),
        free_memory_mib: free_memory_mib(),
        inotify_instances: number(INSTANCES),
        inotify_in_use: inotify_in_use(),
        all_capabilities: has_sys_resource(),
        bounded_runtime: runtime == "bounded",
    }
}

/// Why no cluster of so many nodes can be made here, or nothing.
#[must_use]
pub fn refusal(facts: &Facts, settings: &Settings, nodes: u64) -> Option<String> {
    if let Some(error) = &facts.engine_error {
        return Some(error.clone());
    }
    if !facts.image {
        return Some(words::of("No such image", settings));
    }
    if facts.cgroup.is_none() {
        return Some(words::of("missing required cgroups", settings));
    }
    if !facts.all_capabilities && !facts.bounded_runtime {
        return Some("this machine lacks CAP_SYS_RESOURCE, and the engine's runtime asks for it: add images/node/runc-bounded as its default runtime (`.ci/docker` does)".to_owned());
    }
    if let Some(free) = facts.free_memory_mib.filter(|free| *free < MEMORY_MIB) {
        return Some(format!(
            "{free} MiB of memory are available, and another cluster needs {MEMORY_MIB} MiB: stop an environment, or add memory"
        ));
    }
    let limit = facts.inotify_instances?;
    lacking_inotify(limit, facts.inotify_in_use, nodes)
}

/// How many more clusters of so many nodes fit, and what ends it.
#[must_use]
pub fn room(facts: &Facts, nodes: u64) -> (u64, &'static str) {
    let memory = facts.free_memory_mib.unwrap_or(u64::MAX) / MEMORY_MIB;
    let free = facts
        .inotify_instances
        .unwrap_or(u64::MAX)
        .saturating_sub(facts.inotify_in_use);
    let watches = free / (INSTANCES_PER_NODE * nodes.max(1));
    if watches < memory {
        (watches, "fs.inotify.max_user_instances")
    } else {
        (memory, "memory")
    }
}

/// The limit of the machine that a node met, when it is this one.
pub(super) fn inotify() -> Option<String> {
    lacking_inotify(number(INSTANCES)?, inotify_in_use(), 1)
}

fn lacking_inotify(limit: u64, in_use: u64, nodes: u64) -> Option<String> {
    let needed = in_use + INSTANCES_PER_NODE * nodes;
    (needed > limit).then(|| {
        format!(
            "fs.inotify.max_user_instances = {limit}, about {} more needed: `sysctl -w fs.inotify.max_user_instances={}` as root",
            needed - limit,
            (needed * 2).max(1024)
        )
    })
}

fn cgroup(root: &Path) -> Option<&'static str> {
    if root.join("cgroup.controllers").exists() {
        Some("v2")
    } else if root.join("cpu").exists() || root.join("cpu,cpuacct").exists() {
        Some("v1")
    } else {
        None
    }
}

/// Instances of every process that may be looked at: each is an open file of its own kind.
fn inotify_in_use() -> u64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut count = 0;
    for process in processes {
        let files = fs::read_dir(process.path().join("fd"));
        for file in files.into_iter().flatten().flatten() {
            let target = fs::read_link(file.path()).unwrap_or_default();
            count += u64::from(target.as_os_str() == "anon_inode:inotify");
        }
    }
    count
}

/// `CAP_SYS_RESOURCE` in the bounding set of this process, and so of everything on this machine.
fn has_sys_resource() -> bool {
    const SYS_RESOURCE: u32 = 24;
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let bounded = text
        .lines()
        .find_map(|line| line.strip_prefix("CapBnd:"))
        .and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    bounded.is_none_or(|bits| bits & (1 << SYS_RESOURCE) != 0)
}
