//! The controller's processes on this machine, as the host node runs them.

use testkit::Platform;

use crate::commands::program_of;

/// The processes of an environment's controller.
pub(crate) fn managers_in(platform: &Platform, environment: &str) -> Vec<u32> {
    let environment = platform.environment(environment);
    let environment = environment.to_string_lossy();
    let in_this_environment = |pid: &u32| {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/mountinfo")).unwrap_or_default();
        maps.contains(environment.as_ref())
    };
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| program_of(*pid) == "/manager")
        .filter(in_this_environment)
        .collect()
}

/// The only one.
pub(crate) fn manager_in(platform: &Platform, environment: &str) -> u32 {
    let all = managers_in(platform, environment);
    *all.first().expect("the controller runs")
}

/// The pod that a process belongs to, as its environment says.
pub(crate) fn pod_of(pid: u32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let mut variables = environment.split('\0');
    variables.find_map(|one| Some(one.strip_prefix("POD_NAME=")?.to_owned()))
}
