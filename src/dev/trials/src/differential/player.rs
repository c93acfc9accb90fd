//! Plays a script on a cluster: a world of the simulator says which objects each sentence changes, and they are written to the API server.
//! After each sentence that a controller answers, it is waited until all is quiet.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::Value;
use simulator::{Change, Command, Kind as Deletable, World};

use super::cluster::{Cluster, place};
use super::kinds::Kind;
use super::quiet::settle;
use super::scripts::Script;
use super::tasks::{self, Task};

type Known = BTreeMap<(String, String, String), Value>;

struct Player<'a> {
    cluster: &'a Cluster,
    world: World,
    known: Known,
    tasks: BTreeMap<String, Running>,
    /// Seconds of the script's clock.
    now: SignedDuration,
}

struct Running {
    task: Task,
    /// How long it runs once it was admitted, and when that was seen.
    runs: Option<SignedDuration>,
    since: Option<SignedDuration>,
}

/// Plays it to its end.
pub(super) async fn play(cluster: &Cluster, script: &Script) -> anyhow::Result<()> {
    let mut player = Player {
        cluster,
        world: World::new(),
        known: Known::new(),
        tasks: BTreeMap::new(),
        now: SignedDuration::ZERO,
    };
    for command in &script.commands {
        player.command(command).await?;
    }
    settle(cluster).await
}

impl Player<'_> {
    async fn command(&mut self, command: &Command) -> anyhow::Result<()> {
        match command {
            Command::Say(_) | Command::Show(_) => return Ok(()),
            Command::Cycles(_) | Command::Run => {
                let _ = self.world.run(|_, _| {});
                return Ok(());
            }
            Command::Advance(by) => return self.advance(*by).await,
            _ => {}
        }
        // What a script may not do in the simulator is not done here either.
        if self.world.act(command.clone()).is_err() {
            return Ok(());
        }
        match command {
            Command::Submit(workload, runs) => {
                self.objects().await?;
                let task = tasks::submit(self.cluster, workload).await?;
                let running = Running {
                    task,
                    runs: *runs,
                    since: None,
                };
                self.tasks.insert(workload.name().to_owned(), running);
            }
            Command::Change(job, change) => self.change(job, *change).await?,
            Command::Delete(Deletable::Job, job) => {
                if let Some(running) = self.tasks.remove(short(job)) {
                    running.task.delete(self.cluster).await?;
                }
            }
            Command::Apply(_) => return self.objects().await,
            _ => self.objects().await?,
        }
        settle(self.cluster).await
    }

    async fn change(&self, job: &str, change: Change) -> anyhow::Result<()> {
        let Some(Running { task, .. }) = self.tasks.get(short(job)) else {
            return Ok(());
        };
        match change {
            Change::Finish => task.finish(self.cluster).await,
            Change::Deactivate => task.active(self.cluster, false).await,
            Change::Activate => task.active(self.cluster, true).await,
            Change::Priority(priority) => task.priority(self.cluster, priority.into()).await,
        }
    }

    /// Jobs whose time is over end, those that end first before the others.
    async fn advance(&mut self, by: SignedDuration) -> anyhow::Result<()> {
        self.now += by;
        let _ = self.world.act(Command::Advance(by));
        loop {
            self.see_admitted(by).await?;
            let due = self.tasks.iter().filter_map(|(name, running)| {
                let end = running.since? + running.runs?;
                (end <= self.now).then(|| (end, name.clone()))
            });
            let Some((_, name)) = due.min() else {
                return Ok(());
            };
            if let Some(running) = self.tasks.remove(&name) {
                running.task.finish(self.cluster).await?;
            }
            settle(self.cluster).await?;
        }
    }

    async fn see_admitted(&mut self, by: SignedDuration) -> anyhow::Result<()> {
        for running in self.tasks.values_mut() {
            let workload = running.task.workload(self.cluster).await?;
            let admitted = workload.is_some_and(|workload| tasks::is(&workload, "Admitted"));
            // Whoever was admitted before the clock moved has run all that time.
            running.since = admitted.then(|| running.since.unwrap_or(self.now - by));
        }
        Ok(())
    }

    /// Writes what the world's objects have become.
    async fn objects(&mut self) -> anyhow::Result<()> {
        let mut now = Known::new();
        let mut order = Vec::new();
        for object in self.world.objects()? {
            let name = object["kind"].as_str().unwrap_or_default().to_owned();
            if name == "Workload" {
                continue;
            }
            let object = wanted(object);
            let (namespace, of) = place(&object);
            let key = (name, namespace.to_owned(), of.to_owned());
            order.push(key.clone());
            now.insert(key, object);
        }
        for key in order {
            let (Some(kind), Some(object)) = (Kind::named(&key.0), now.get(&key)) else {
                continue;
            };
            if self.known.get(&key) != Some(object) {
                self.cluster.apply(kind, object).await?;
            }
        }
        for key in self.known.keys().filter(|key| !now.contains_key(*key)) {
            if let Some(kind) = Kind::named(&key.0) {
                self.cluster.delete(kind, &key.1, &key.2).await?;
            }
        }
        self.known = now;
        Ok(())
    }
}

fn short(job: &str) -> &str {
    job.rsplit('/').next().unwrap_or(job)
}

/// An object as a user writes it: without what a server fills in, and without status unless it is a Node.
fn wanted(mut object: Value) -> Value {
    let is_node = object["kind"] == "Node";
    if let Some(fields) = object.as_object_mut()
        && !is_node
    {
        fields.remove("status");
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        for field in ["generation", "uid", "resourceVersion", "creationTimestamp"] {
            metadata.remove(field);
        }
    }
    object
}
