//! Ends what runs for an environment, politely and then firmly, whoever started it.

use std::time::Duration;

use exec::process::{ProcessIdentity, Signal, group_members_in, signal_process};

use super::layout::Layout;
use super::record::Runtime;
use crate::control::{self, Request};

/// Pods have their own grace periods, and etcd writes its last pages.
const POLITE: Duration = Duration::from_secs(25);
/// Time to close connections; there is nothing left to be saved.
const SHORT: Duration = Duration::from_secs(1);
const FIRM: Duration = Duration::from_secs(10);

/// Asks the supervisor to end everything; kills what is left. When this returns, nothing runs.
pub(super) async fn end(layout: &Layout) {
    end_within(layout, POLITE).await;
}

/// As [`end`] for an environment that is thrown away: nobody waits for last pages to be written.
pub(super) async fn end_now(layout: &Layout) {
    end_within(layout, SHORT).await;
}

async fn end_within(layout: &Layout, patience: Duration) {
    let Some(runtime) = Runtime::read(layout) else {
        return;
    };
    let supervisor = runtime.process();
    if supervisor.is_alive() {
        let asked = control::request(&layout.control_socket(), Request::Stop).await;
        if asked.is_err() && runs_here(layout, supervisor) {
            signal_process(supervisor.pid, Signal::TERM);
        }
        gone(&[supervisor], patience).await;
    }
    kill_leftovers(layout).await;
}

/// Kills what a supervisor that is dead, or does not end, has left running.
pub(super) async fn kill_leftovers(layout: &Layout) {
    let Some(runtime) = Runtime::read(layout) else {
        return;
    };
    let left = group_members_in(runtime.pid, layout.dir());
    for process in &left {
        signal_process(process.pid, Signal::KILL);
    }
    gone(&left, FIRM).await;
    let _ = std::fs::remove_file(layout.runtime());
    let _ = std::fs::remove_file(layout.control_socket());
}

/// A number in a file is not proof enough to signal a process.
fn runs_here(layout: &Layout, process: ProcessIdentity) -> bool {
    group_members_in(process.pid, layout.dir()).contains(&process)
}

/// Processes that are not our children cannot be awaited, only looked for.
async fn gone(processes: &[ProcessIdentity], patience: Duration) {
    let mut pause = Duration::from_millis(10);
    let looking = async {
        while processes.iter().any(ProcessIdentity::is_alive) {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(200));
        }
    };
    let _ = tokio::time::timeout(patience, looking).await;
}
