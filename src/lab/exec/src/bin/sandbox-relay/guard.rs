//! Limits on what is run: the kernel's, and one of our own where the kernel's does not count.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, kill_process_group, setrlimit};

use crate::options::Options;

const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) fn limit(options: &Options) -> Result<(), String> {
    let limits = [
        ("processes", Resource::Nproc, options.processes),
        ("memory", Resource::Data, options.memory),
        ("file size", Resource::Fsize, options.file_size),
        ("open files", Resource::Nofile, options.open_files),
        ("core dumps", Resource::Core, Some(0)),
    ];
    for (name, resource, limit) in limits {
        let Some(limit) = limit else { continue };
        // A lower limit that the machine already has stays.
        let maximum = rustix::process::getrlimit(resource)
            .maximum
            .map_or(limit, |maximum| maximum.min(limit));
        setrlimit(
            resource,
            Rlimit {
                current: Some(maximum),
                maximum: Some(maximum),
            },
        )
        .map_err(|error| format!("cannot limit {name}: {error}"))?;
    }
    Ok(())
}

/// The kernel does not count the processes of the host's root, so where root started the sandbox they are counted
/// here. Completes when there are too many; by then all of them are killed.
pub(crate) async fn too_many_processes(limit: Option<u64>) {
    let Some(limit) = limit.filter(|_| started_by_root() && alone_in_pid_namespace()) else {
        return std::future::pending().await;
    };
    let mut ticks = tokio::time::interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if processes() > limit {
            // Process group 1 is, to kill(2), every process of this namespace but the first and ourselves.
            let _ = kill_process_group(Pid::INIT, Signal::KILL);
            return;
        }
    }
}

fn processes() -> u64 {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter(|entry| {
        entry
            .file_name()
            .to_string_lossy()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    });
    u64::try_from(processes.count()).unwrap_or(u64::MAX)
}

fn started_by_root() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_whitespace().nth(1) == Some("0")
}

/// Killing "everything" must never be said outside a sandbox.
fn alone_in_pid_namespace() -> bool {
    getppid() == Some(Pid::INIT)
        && fs::read_to_string("/proc/1/comm").is_ok_and(|name| name.trim() == "bwrap")
}
