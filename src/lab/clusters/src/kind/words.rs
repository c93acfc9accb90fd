//! Why a cluster could not be made, in words that say what to do. The engine and kind describe symptoms; each row here is a
//! symptom that users searched for hours about, and its cause.

use super::Settings;
use super::preflight;

/// One symptom: what is printed, and what it means.
struct Row {
    signs: &'static [&'static str],
    cause: fn(&Settings) -> String,
}

const ROWS: &[Row] = &[
    Row {
        signs: &[
            "Cannot connect to the Docker daemon",
            "docker daemon is not running",
            "Is the docker daemon running",
        ],
        cause: |settings| {
            format!(
                "the container engine does not answer ({}): start it (`systemctl start docker`, or `.ci/docker` where there is no systemd)",
                settings.engine.display()
            )
        },
    },
    Row {
        signs: &["permission denied while trying to connect"],
        cause: |_| {
            "you may not speak to the container engine: join its group (`usermod -aG docker $USER`, then sign in again)".to_owned()
        },
    },
    Row {
        signs: &[
            "failed to pull image",
            "pull access denied",
            "manifest unknown",
            "No such image",
        ],
        cause: |settings| {
            format!(
                "the node image {} is not on this machine and no registry gives it: `cargo xtask images node` makes it",
                settings.image
            )
        },
    },
    Row {
        signs: &["no space left on device", "disk quota exceeded"],
        cause: |_| {
            "the disk that holds the engine's data is full: free some space there (`docker system df` says what uses it)".to_owned()
        },
    },
    Row {
        signs: &[
            "non-overlapping IPv4 address pool",
            "all predefined address pools have been fully subnetted",
        ],
        cause: |_| {
            "the engine has no address range left for another network: remove networks that nobody uses (`docker network prune`), or give it more ranges (`default-address-pools` in its configuration)".to_owned()
        },
    },
    Row {
        signs: &["port is already allocated", "address already in use"],
        cause: |_| "the port of its API server was taken by another program: try again".to_owned(),
    },
    Row {
        signs: &[
            "too many open files",
            "inotify_add_watch",
            "failed to create fsnotify watcher",
            "could not find a log line that matches",
        ],
        cause: |_| {
            preflight::inotify().unwrap_or_else(|| {
                "a node's first process did not get as far as it must: cgroups of this machine cannot be used from a container (cgroup v2, or v1 with its own namespace, is needed), or it is out of processes or file handles (`ulimit -n`)".to_owned()
            })
        },
    },
    Row {
        signs: &[
            "cannot allocate memory",
            "out of memory",
            "signal: killed",
            "exit status 137",
        ],
        cause: |_| {
            "this machine has too little memory for another cluster: stop one, or add memory"
                .to_owned()
        },
    },
    Row {
        signs: &[
            "no cgroup namespace of its own",
            "cgroup mount",
            "failed to create cgroup",
            "missing required cgroups",
        ],
        cause: |_| {
            "the control groups of this machine cannot be used from a container: mount cgroup v2 at /sys/fs/cgroup, or all controllers of v1".to_owned()
        },
    },
    Row {
        signs: &["node(s) already exist for a cluster with the name"],
        cause: |_| {
            "containers of a cluster of this name are there already: delete the environment first"
                .to_owned()
        },
    },
];

/// What an error of the engine or of kind means, with the last of its own lines.
pub(super) fn of(error: &str, settings: &Settings) -> String {
    let lower = error.to_lowercase();
    let row = ROWS.iter().find(|row| {
        let shown = |sign: &&str| lower.contains(&sign.to_lowercase());
        row.signs.iter().any(shown)
    });
    let last = own_words(error);
    match row {
        Some(row) => format!("{} ({last})", (row.cause)(settings)),
        None => last,
    }
}

/// The line that says most: kubeadm's reason, else kind's own ERROR, else the last that is not empty.
pub(super) fn own_words(error: &str) -> String {
    let lines = || error.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines()
        .find(|line| line.starts_with("error: error execution phase"))
        .or_else(|| lines().find(|line| line.starts_with("ERROR") || line.starts_with("Error")))
        .or_else(|| lines().next_back());
    line.unwrap_or("it says nothing").to_owned()
}

/// Whether the engine says that it is removing something already, or that it went meanwhile.
pub(super) fn is_going(error: &str) -> bool {
    error.to_lowercase().contains("is already in progress") || is_missing(error)
}

/// Whether the engine says that something is not there (any more).
pub(super) fn is_missing(error: &str) -> bool {
    let lower = error.to_lowercase();
    ["no such", "not found"]
        .iter()
        .any(|sign| lower.contains(sign))
}
