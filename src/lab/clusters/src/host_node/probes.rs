//! Probes of a running container: when to ask, what an answer means, and what the runner is told.

mod check;

use std::path::PathBuf;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::plan::{ProbePlan, Probes};

/// Which probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Startup,
    Liveness,
    Readiness,
}

impl Kind {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "Startup",
            Self::Liveness => "Liveness",
            Self::Readiness => "Readiness",
        }
    }
}

/// What a probe has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// One attempt failed; worth an event.
    Failed { kind: Kind, why: String },
    /// Its verdict changed.
    Verdict { kind: Kind, healthy: bool },
}

/// Counts answers until a threshold is reached. Pure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counter {
    verdict: Option<bool>,
    run: (bool, u32),
}

impl Counter {
    /// One more answer; the new verdict, when this answer changes it.
    pub(super) fn answer(&mut self, ok: bool, successes: u32, failures: u32) -> Option<bool> {
        self.run = if self.run.0 == ok {
            (ok, self.run.1.saturating_add(1))
        } else {
            (ok, 1)
        };
        let enough = self.run.1 >= if ok { successes } else { failures };
        if !enough || self.verdict == Some(ok) {
            return None;
        }
        self.verdict = Some(ok);
        Some(ok)
    }
}

/// The probes of one run of a container. Dropping it ends them.
#[derive(Debug)]
pub(super) struct Prober {
    tasks: JoinSet<()>,
    findings: mpsc::Receiver<Finding>,
}

impl Prober {
    /// Begins the probes; liveness and readiness wait for the startup probe.
    pub(super) fn begin(probes: &Probes, relay: PathBuf) -> Self {
        let (tell, findings) = mpsc::channel(16);
        let mut tasks = JoinSet::new();
        let Probes {
            startup,
            liveness,
            readiness,
        } = probes.clone();
        tasks.spawn(async move {
            if let Some(plan) = startup
                && !until_healthy(&plan, &relay, &tell).await
            {
                return;
            }
            let each = [(Kind::Liveness, liveness), (Kind::Readiness, readiness)];
            let each = each
                .into_iter()
                .filter_map(|(kind, plan)| Some((kind, plan?)));
            let running = each.map(|(kind, plan)| run(kind, plan, relay.clone(), tell.clone()));
            futures::future::join_all(running).await;
        });
        Self { tasks, findings }
    }

    /// The next finding; waits for ever when there is none to come.
    pub(super) async fn next(&mut self) -> Finding {
        match self.findings.recv().await {
            Some(finding) => finding,
            None => std::future::pending().await,
        }
    }

    /// Ends all probes.
    pub(super) fn end(&mut self) {
        self.tasks.abort_all();
    }
}

/// Runs the startup probe until its verdict; answers whether the container is up.
async fn until_healthy(
    plan: &ProbePlan,
    relay: &std::path::Path,
    tell: &mpsc::Sender<Finding>,
) -> bool {
    let mut counter = Counter::default();
    tokio::time::sleep(plan.initial_delay).await;
    loop {
        if let Some(healthy) = ask(Kind::Startup, plan, relay, tell, &mut counter).await {
            return healthy;
        }
        tokio::time::sleep(plan.period).await;
    }
}

async fn run(kind: Kind, plan: ProbePlan, relay: PathBuf, tell: mpsc::Sender<Finding>) {
    let mut counter = Counter::default();
    tokio::time::sleep(plan.initial_delay).await;
    loop {
        ask(kind, &plan, &relay, &tell, &mut counter).await;
        // Until the first verdict, ask often: a container that is ready after 200 ms need not wait for its period.
        let unknown = kind == Kind::Readiness && counter.verdict != Some(true);
        tokio::time::sleep(if unknown {
            plan.period.min(Duration::from_secs(1))
        } else {
            plan.period
        })
        .await;
    }
}

/// Asks once and tells what there is to tell.
async fn ask(
    kind: Kind,
    plan: &ProbePlan,
    relay: &std::path::Path,
    tell: &mpsc::Sender<Finding>,
    counter: &mut Counter,
) -> Option<bool> {
    let answer = match tokio::time::timeout(plan.timeout, check::once(&plan.check, relay)).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("no answer within {} s", plan.timeout.as_secs())),
    };
    let ok = answer.is_ok();
    if let Err(why) = answer {
        let _ = tell.send(Finding::Failed { kind, why }).await;
    }
    let verdict = counter.answer(ok, plan.successes, plan.failures)?;
    let _ = tell
        .send(Finding::Verdict {
            kind,
            healthy: verdict,
        })
        .await;
    Some(verdict)
}
