//! One run of a container: start, probes, fresh volumes, and the ways in which it ends.

use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use jiff::Timestamp;
use kube::ResourceExt as _;
use tracing::debug;

use super::super::plan::PodPlan;
use super::super::probes::{Finding, Kind, Prober};
use super::super::process::{self, End, Process};
use super::super::status::{Doing, Ended};
use super::super::{fetch, plan};
use super::{Outcome, Runner, Told, report};

/// A host node that stops must not keep the platform waiting for a slow controller.
const LONGEST_SHUTDOWN: Duration = Duration::from_secs(5);

/// What a running container waits for.
enum Happened {
    Ended(End),
    Found(Finding),
    ObjectsChanged,
    TokensAge,
    Told(Told),
}

struct Run<'a> {
    plan: &'a PodPlan,
    process: Process,
    prober: Prober,
    changes: BoxStream<'static, ()>,
    renew_tokens: tokio::time::Instant,
    since: Timestamp,
}

impl Runner {
    pub(super) async fn one_run(&mut self, plan: &PodPlan) -> Outcome {
        let env = match self.prepared(plan).await {
            Ok(env) => env,
            Err(told) => return Outcome::Told(self.stopped_early(told).await),
        };
        let since = self.context.now();
        let log = self
            .context
            .logs
            .begin(&self.key(), &self.dir.logs(), self.state.restarts);
        let process = process::command(&self.context.options, plan, &self.dir, &env)
            .and_then(|cmd| Process::start(&cmd, &log, self.context.options.clock));
        let process = match process {
            Ok(process) => process,
            Err(error) => {
                let failure = format!("start container {}: {error}", plan.container.name);
                self.event_warning("Failed", failure.clone()).await;
                return Outcome::Ended(ended(
                    End {
                        code: 128,
                        failure: Some(failure),
                    },
                    since,
                    since,
                ));
            }
        };
        let namespace = self.pod.namespace().unwrap_or_default();
        let run = Run {
            plan,
            process,
            prober: Prober::begin(&plan.container.probes, self.dir.relay()),
            changes: fetch::changes(&self.context.options.client, &namespace, &plan.needs()),
            renew_tokens: tokio::time::Instant::now() + token_age(plan),
            since,
        };
        self.started(plan, since).await;
        self.watch_over(run).await
    }

    async fn started(&mut self, plan: &PodPlan, since: Timestamp) {
        if let Some(address) = self.state.address {
            self.context
                .options
                .routes
                .add_pod(address, &self.dir.relay());
        }
        let plan::Probes {
            startup, readiness, ..
        } = &plan.container.probes;
        let started = startup.is_none();
        self.state.doing = Doing::Running {
            since,
            started,
            ready: started && readiness.is_none(),
        };
        self.report().await;
        let (name, image) = (&plan.container.name, &plan.container.image);
        self.event(
            "Pulled",
            format!("Container image {image:?} stands for a program of this machine"),
        )
        .await;
        self.event("Started", format!("Container {name} started"))
            .await;
    }

    async fn watch_over(&mut self, mut run: Run<'_>) -> Outcome {
        let plan = run.plan;
        loop {
            match self.next(&mut run).await {
                Happened::Ended(end) => {
                    return Outcome::Ended(ended(end, run.since, self.context.now()));
                }
                Happened::Found(finding) => {
                    if self.found(plan, run.since, finding).await {
                        let end = self.end(&mut run, plan.grace).await;
                        return Outcome::Ended(ended(end, run.since, self.context.now()));
                    }
                }
                Happened::ObjectsChanged => self.refresh(plan, false).await,
                Happened::TokensAge => {
                    self.refresh(plan, true).await;
                    run.renew_tokens = tokio::time::Instant::now() + token_age(plan);
                }
                Happened::Told(Told::Changed) => self.refresh(plan, false).await,
                Happened::Told(told) => return Outcome::Told(self.stop(run, told).await),
            }
        }
    }

    async fn next(&mut self, run: &mut Run<'_>) -> Happened {
        loop {
            let Run {
                process,
                prober,
                changes,
                renew_tokens,
                ..
            } = run;
            tokio::select! {
                end = process.ended() => return Happened::Ended(end),
                told = self.told() => return Happened::Told(told),
                finding = prober.next() => return Happened::Found(finding),
                Some(()) = changes.next() => return Happened::ObjectsChanged,
                () = tokio::time::sleep_until(*renew_tokens) => return Happened::TokensAge,
                () = tokio::time::sleep(report::TRY_AGAIN), if self.behind => self.report().await,
            }
        }
    }

    /// Acts on a probe's finding; true when the container must be ended.
    async fn found(&mut self, plan: &PodPlan, since: Timestamp, finding: Finding) -> bool {
        let name = &plan.container.name;
        match finding {
            Finding::Failed { kind, why } => {
                self.event_warning(
                    "Unhealthy",
                    format!("{} probe failed: {why}", kind.as_str()),
                )
                .await;
                false
            }
            Finding::Verdict {
                kind: Kind::Startup | Kind::Liveness,
                healthy: false,
            } => {
                let why = "failed its probe and is ended";
                self.event("Killing", format!("Container {name} {why}"))
                    .await;
                true
            }
            Finding::Verdict {
                kind: Kind::Startup,
                healthy: true,
            } => {
                let ready = plan.container.probes.readiness.is_none();
                self.state.doing = Doing::Running {
                    since,
                    started: true,
                    ready,
                };
                self.report().await;
                false
            }
            Finding::Verdict {
                kind: Kind::Readiness,
                healthy,
            } => {
                self.state.doing = Doing::Running {
                    since,
                    started: true,
                    ready: healthy,
                };
                self.report().await;
                false
            }
            Finding::Verdict {
                kind: Kind::Liveness,
                healthy: true,
            } => false,
        }
    }

    /// A change that cannot be shown now is shown at the next one; the container keeps what it has.
    async fn refresh(&mut self, plan: &PodPlan, tokens: bool) {
        let outcome = match self.read(plan, tokens).await {
            Ok(()) => self.write_volumes(plan),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = outcome {
            debug!(%error, pod = self.pod.name_any(), "refresh the volumes of a pod");
        }
    }

    /// Ends the container for a reason that came from outside.
    async fn stop(&mut self, mut run: Run<'_>, told: Told) -> Told {
        let plan = run.plan;
        let end = match told {
            Told::Deleting(grace) => {
                self.event(
                    "Killing",
                    format!("Stopping container {}", run.plan.container.name),
                )
                .await;
                self.end(&mut run, grace).await
            }
            Told::Shutdown => self.end(&mut run, plan.grace.min(LONGEST_SHUTDOWN)).await,
            Told::Gone | Told::Changed => self.end(&mut run, Duration::ZERO).await,
        };
        if let Told::Deleting(_) = told {
            self.state.deleting = true;
            self.state.doing = Doing::Ended(ended(end, run.since, self.context.now()));
            self.report().await;
        }
        told
    }

    /// The pod is deleted before its container ever ran (again).
    async fn stopped_early(&mut self, told: Told) -> Told {
        if let Told::Deleting(_) = told {
            self.state.deleting = true;
            self.report().await;
        }
        told
    }

    /// SIGTERM, and SIGKILL when the grace period is over or made shorter by a second deletion.
    async fn end(&mut self, run: &mut Run<'_>, grace: Duration) -> End {
        run.prober.end();
        if let Some(address) = self.state.address {
            self.context.options.routes.remove_pod(address);
        }
        if !grace.is_zero() {
            run.process.terminate().await;
            let deadline = tokio::time::Instant::now() + grace;
            tokio::select! {
                end = run.process.ended() => return end,
                () = tokio::time::sleep_until(deadline) => {}
                () = self.hurried() => {}
            }
        }
        run.process.kill().await;
        run.process.ended().await
    }

    /// Completes when the pod is force-deleted.
    async fn hurried(&mut self) {
        loop {
            if let Some(Told::Gone | Told::Deleting(Duration::ZERO)) = self.already_told() {
                return;
            }
            if self.news.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

/// Tokens are renewed when four fifths of their life are over.
fn token_age(plan: &PodPlan) -> Duration {
    let shortest = fetch::wanted_tokens(plan)
        .into_iter()
        .filter_map(|(_, seconds)| u64::try_from(seconds).ok())
        .min();
    Duration::from_secs(shortest.unwrap_or(24 * 3600) / 5 * 4)
}

fn ended(end: End, started: Timestamp, finished: Timestamp) -> Ended {
    let End { code, failure } = end;
    let reason = match (&failure, code) {
        (Some(_), _) => "StartError",
        (None, 0) => "Completed",
        (None, _) => "Error",
    };
    Ended {
        code,
        reason,
        message: failure,
        started,
        finished,
    }
}
