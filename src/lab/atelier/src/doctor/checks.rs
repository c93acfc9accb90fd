//! From facts about a machine to findings with advice. Pure.

/// What was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Facts {
    /// Debian or one of its children: packages are named as there.
    pub(super) debian: bool,
    pub(super) bubblewrap: Option<String>,
    /// What a sandbox said when it was tried; nothing when it worked.
    pub(super) sandbox_error: Option<String>,
    /// Helpers that stand beside this program, and whether they are there.
    pub(super) helpers: Vec<(&'static str, bool)>,
    /// The cluster programs that were not found, and where they were looked for.
    pub(super) tools_missing: Vec<&'static str>,
    pub(super) tools_place: String,
    pub(super) editor: Option<&'static str>,
    pub(super) completion: bool,
    pub(super) node: Option<String>,
    pub(super) go: bool,
    pub(super) free_memory_mib: Option<u64>,
    pub(super) free_disk_mib: Option<u64>,
    pub(super) data_dir: String,
    pub(super) inotify_instances: Option<u64>,
    pub(super) inotify_watches: Option<u64>,
    pub(super) open_files: Option<u64>,
    pub(super) chart: bool,
    /// With kind clusters: how many more fit and what ends that, or why none can be made. Nothing with another provider.
    pub(super) clusters: Option<Result<(u64, &'static str), String>>,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Good,
    /// The platform works, but something will be slow, or missing for trainees.
    Advice,
    /// The platform cannot work.
    Missing,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) what: &'static str,
    pub(super) severity: Severity,
    pub(super) found: String,
    pub(super) advice: Option<String>,
    pub(super) package: Option<&'static str>,
}

impl Finding {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self {
            what,
            severity: Severity::Good,
            found: found.into(),
            advice: None,
            package: None,
        }
    }

    fn bad(
        what: &'static str,
        severity: Severity,
        found: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self {
            what,
            severity,
            found: found.into(),
            advice: Some(advice.into()),
            package: None,
        }
    }

    fn package(self, package: &'static str) -> Self {
        Self {
            package: Some(package),
            ..self
        }
    }
}

/// Private memory of one environment, as measured, with room for its controller and shells.
const MEMORY_EACH_MIB: u64 = 600;
const DISK_EACH_MIB: u64 = 400;
const DISK_FOR_ALL_MIB: u64 = 1024;
const INOTIFY_INSTANCES_EACH: u64 = 24;

/// Every finding, what cannot be done without first.
pub(super) fn all(facts: &Facts, environments: u64) -> Vec<Finding> {
    let environments = environments.max(1);
    let mut findings = vec![
        bubblewrap(facts),
        sandbox(facts),
        helpers(facts),
        tools(facts),
    ];
    findings.extend([
        memory(facts, environments),
        disk(facts, environments),
        inotify(facts, environments),
    ]);
    findings.extend(clusters(facts, environments));
    findings.extend([
        open_files(facts),
        editor(facts),
        completion(facts),
        node(facts),
        chart(facts),
    ]);
    findings
}

fn bubblewrap(facts: &Facts) -> Finding {
    match &facts.bubblewrap {
        Some(path) => Finding::good("bubblewrap", path),
        None => Finding::bad(
            "bubblewrap",
            Severity::Missing,
            "not found",
            "terminals and the controller only run in its sandbox, and refuse to start without it",
        )
        .package("bubblewrap"),
    }
}

fn sandbox(facts: &Facts) -> Finding {
    match (&facts.bubblewrap, &facts.sandbox_error) {
        (None, _) => Finding::bad(
            "sandbox",
            Severity::Missing,
            "not tried without bubblewrap",
            "install it first",
        ),
        (Some(_), None) => Finding::good(
            "sandbox",
            "a program ran in a sandbox with a network of its own",
        ),
        (Some(_), Some(error)) => Finding::bad(
            "sandbox",
            Severity::Missing,
            error,
            "user namespaces are probably switched off: sudo sysctl -w kernel.unprivileged_userns_clone=1 \
             user.max_user_namespaces=15000; on Ubuntu 24.04 and later also \
             sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
    }
}

fn helpers(facts: &Facts) -> Finding {
    let missing: Vec<&str> = facts
        .helpers
        .iter()
        .filter(|(_, there)| !there)
        .map(|(name, _)| *name)
        .collect();
    if missing.is_empty() {
        return Finding::good("helpers", "all beside this program");
    }
    Finding::bad(
        "helpers",
        Severity::Missing,
        format!("{} not beside this program", missing.join(", ")),
        "cargo xtask up builds them",
    )
}

fn tools(facts: &Facts) -> Finding {
    if facts.tools_missing.is_empty() {
        return Finding::good("cluster programs", &facts.tools_place);
    }
    let how = if facts.go {
        "atelier tools downloads or builds them"
    } else {
        "atelier tools downloads them; to build them where releases cannot be reached, Go 1.26 or newer is needed"
    };
    Finding::bad(
        "cluster programs",
        Severity::Missing,
        format!(
            "{} not in {}",
            facts.tools_missing.join(", "),
            facts.tools_place
        ),
        how,
    )
}

fn memory(facts: &Facts, environments: u64) -> Finding {
    let needed = MEMORY_EACH_MIB * environments;
    enough(
        "memory",
        facts.free_memory_mib,
        needed,
        environments,
        "fewer environments at once, or a larger machine",
    )
}

fn disk(facts: &Facts, environments: u64) -> Finding {
    let needed = DISK_FOR_ALL_MIB + DISK_EACH_MIB * environments;
    let advice = format!(
        "free some of the disk that holds {}, or name another folder with --data-dir",
        facts.data_dir
    );
    enough("disk", facts.free_disk_mib, needed, environments, &advice)
}

fn enough(
    what: &'static str,
    free: Option<u64>,
    needed: u64,
    environments: u64,
    advice: &str,
) -> Finding {
    let Some(free) = free else {
        return Finding::bad(what, Severity::Advice, "could not be measured", advice);
    };
    let found = format!("{free} MiB free; {environments} environment(s) want {needed} MiB");
    if free >= needed {
        Finding::good(what, found)
    } else {
        Finding::bad(what, Severity::Advice, found, advice)
    }
}

fn inotify(facts: &Facts, environments: u64) -> Finding {
    let (instances, watches) = (
        facts.inotify_instances.unwrap_or(0),
        facts.inotify_watches.unwrap_or(0),
    );
    let wanted = INOTIFY_INSTANCES_EACH * environments + 64;
    let found = format!("{instances} instances, {watches} watches a user");
    if instances >= wanted && watches >= 8192 {
        return Finding::good("inotify", found);
    }
    let advice = format!(
        "sudo sysctl -w fs.inotify.max_user_instances={} fs.inotify.max_user_watches=524288",
        wanted.max(512)
    );
    Finding::bad("inotify", Severity::Advice, found, advice)
}

/// Engine, node image, cgroups, capabilities, and what binds first.
fn clusters(facts: &Facts, environments: u64) -> Option<Finding> {
    const WHAT: &str = "kind clusters";
    Some(match facts.clusters.as_ref()? {
        Ok((room, binds)) => {
            let found = format!("{room} more fit, then {binds} is used up");
            if *room >= environments {
                Finding::good(WHAT, found)
            } else {
                let advice = "fewer environments at once, or more of what is used up";
                Finding::bad(WHAT, Severity::Advice, found, advice)
            }
        }
        Err(reason) => Finding::bad(WHAT, Severity::Missing, "none can be made", reason.clone()),
    })
}

fn open_files(facts: &Facts) -> Finding {
    match facts.open_files {
        Some(limit) if limit < 4096 => Finding::bad(
            "open files",
            Severity::Advice,
            format!("{limit} a process"),
            "ulimit -n 65536 before the platform is started",
        ),
        Some(limit) => Finding::good("open files", format!("{limit} a process")),
        None => Finding::good("open files", "no limit"),
    }
}

fn editor(facts: &Facts) -> Finding {
    match facts.editor {
        Some(name) => Finding::good("editor for trainees", name),
        None => Finding::bad(
            "editor for trainees",
            Severity::Advice,
            "neither nano nor vim",
            "trainees change YAML files in the terminal",
        )
        .package("nano"),
    }
}

fn completion(facts: &Facts) -> Finding {
    if facts.completion {
        return Finding::good("completion in the terminal", "bash-completion");
    }
    let advice = "kubectl and helm complete names with it";
    Finding::bad(
        "completion in the terminal",
        Severity::Advice,
        "bash-completion is not there",
        advice,
    )
    .package("bash-completion")
}

fn node(facts: &Facts) -> Finding {
    match &facts.node {
        Some(version) => Finding::good("Node.js", version),
        None => Finding::bad(
            "Node.js",
            Severity::Advice,
            "not found",
            "only needed to bundle the front end from source (cargo xtask up)",
        )
        .package("nodejs"),
    }
}

fn chart(facts: &Facts) -> Finding {
    if facts.chart {
        return Finding::good("the controller's chart", "there");
    }
    let advice = "cargo xtask generates it; without it trainees cannot install the controller";
    Finding::bad(
        "the controller's chart",
        Severity::Advice,
        "not found",
        advice,
    )
}
