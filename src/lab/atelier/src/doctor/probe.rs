//! Looking at the machine. What cannot be found out is left out; the checks say what that means.

use std::path::Path;
use std::time::Duration;

use clusters::kind::preflight;
use clusters::machine::{free_memory_mib, number};
use clusters::tools::Tools;
use exec::{Cmd, Sandbox, find_program, sibling};

use super::checks::Facts;
use crate::environments::local;
use crate::options::{Options, ProviderName};

const HELPERS: [&str; 3] = ["environment-supervisor", "sandbox-relay", "kueue-manager"];
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything there is to know.
pub(super) async fn facts(options: &Options) -> Facts {
    let (tools_missing, tools_place) = tools(options);
    let data_dir = options.data_dir();
    Facts {
        debian: Path::new("/etc/debian_version").exists(),
        bubblewrap: Sandbox::bubblewrap().map(|path| path.display().to_string()),
        sandbox_error: sandbox_error().await,
        helpers: HELPERS
            .iter()
            .map(|name| (*name, sibling(name).is_some()))
            .collect(),
        tools_missing,
        tools_place,
        editor: ["nano", "vim"].into_iter().find(|name| program(name)),
        completion: Path::new("/usr/share/bash-completion/bash_completion").exists(),
        node: version("node").await,
        go: program("go"),
        free_memory_mib: free_memory_mib(),
        free_disk_mib: free_disk_mib(&data_dir).await,
        data_dir: data_dir.display().to_string(),
        inotify_instances: number("/proc/sys/fs/inotify/max_user_instances"),
        inotify_watches: number("/proc/sys/fs/inotify/max_user_watches"),
        open_files: open_files(),
        chart: local::chart_dir(options).join("Chart.yaml").is_file(),
        clusters: clusters(options).await,
    }
}

async fn clusters(options: &Options) -> Option<Result<(u64, &'static str), String>> {
    const NODES: u64 = 2;
    if options.provider() != ProviderName::Kind {
        return None;
    }
    // The tools are looked at elsewhere; the engine is found without them.
    let tools = Tools::in_dir(options.tools_dir().unwrap_or(Path::new("")));
    let settings = local::kind_settings(options, &tools);
    let facts = preflight::facts(&settings).await;
    Some(match preflight::refusal(&facts, &settings, NODES) {
        Some(reason) => Err(reason),
        None => Ok(preflight::room(&facts, NODES)),
    })
}

fn tools(options: &Options) -> (Vec<&'static str>, String) {
    let Some(dir) = options.tools_dir() else {
        return (
            Vec::new(),
            "obtained when needed (atelier tools)".to_owned(),
        );
    };
    let tools = Tools::in_dir(dir);
    let all = [
        ("etcd", &tools.etcd),
        ("kube-apiserver", &tools.kube_apiserver),
        ("kube-controller-manager", &tools.kube_controller_manager),
        ("kube-scheduler", &tools.kube_scheduler),
        ("kubectl", &tools.kubectl),
        ("kwok", &tools.kwok),
        ("helm", &tools.helm),
    ];
    let missing = all
        .into_iter()
        .filter(|(_, path)| !path.is_file())
        .map(|(name, _)| name)
        .collect();
    (missing, dir.display().to_string())
}

fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

fn program(name: &str) -> bool {
    find_program(name, &search_path()).is_some()
}

async fn version(name: &str) -> Option<String> {
    let path = find_program(name, &search_path())?;
    let output = Cmd::new(path)
        .arg("--version")
        .deadline(PATIENCE)
        .run()
        .await
        .ok()?;
    Some(output.stdout.trim().to_owned())
}

/// Tries what every terminal will need. Nothing when it works.
async fn sandbox_error() -> Option<String> {
    let sandbox = match Sandbox::new() {
        Ok(sandbox) => sandbox,
        Err(error) => return Some(error.to_string()),
    };
    let tried = match sandbox.wrap(&["/bin/true"]) {
        Ok(cmd) => cmd.deadline(PATIENCE).run().await.map(drop),
        Err(error) => Err(error),
    };
    tried.err().map(|error| error.to_string())
}

/// Free space where the data will be: of the nearest folder above it that exists.
async fn free_disk_mib(dir: &Path) -> Option<u64> {
    let there = dir.ancestors().find(|dir| dir.is_dir())?;
    let output = Cmd::new("df")
        .args(["--output=avail", "-BM"])
        .arg(there)
        .deadline(PATIENCE)
        .run()
        .await
        .ok()?;
    output
        .stdout
        .lines()
        .nth(1)?
        .trim()
        .trim_end_matches('M')
        .parse()
        .ok()
}

fn open_files() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}
