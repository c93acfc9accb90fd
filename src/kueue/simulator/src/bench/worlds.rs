//! Worlds to measure, as scripts of the same language that people write.

use std::fmt::Write as _;

use simulator::{World, parse, split};

/// How much quota each queue has of its own, in jobs.
pub(super) const ROOM: usize = 20;

/// Queues in cohorts, each with jobs that differ a little so that none stands for another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) queues: usize,
    pub(super) pending: usize,
    /// Cohorts above each queue: one of thirty queues, or three that grow from ten queues to all of them.
    pub(super) depth: usize,
    /// Whether the queues are full of jobs that matter less and may be evicted.
    pub(super) preempting: bool,
    pub(super) fair: bool,
}

impl Shape {
    /// Everything but the jobs that are measured.
    fn script(self) -> String {
        let mut text = String::new();
        if self.fair {
            text.push_str("set fair-sharing on\n");
        }
        text.push_str("flavor standard\n");
        if self.depth > 1 {
            for team in 0..self.queues.div_ceil(10) {
                let _ = writeln!(text, "cohort team-{team}, under wing-{}", team / 10);
            }
            for wing in 0..self.queues.div_ceil(100) {
                let _ = writeln!(text, "cohort wing-{wing}, under lab");
            }
        }
        for queue in 0..self.queues {
            let cohort = if self.depth > 1 {
                format!("team-{}", queue / 10)
            } else {
                format!("team-{}", queue / 30)
            };
            let policy = if self.preempting {
                ", preempt own lower, preempt reclaim any"
            } else {
                ""
            };
            let _ = writeln!(
                text,
                "queue q-{queue}, cohort {cohort}{policy}, quota standard cpu {ROOM}"
            );
        }
        text
    }

    fn jobs(self, prefix: &str, number: usize, priority: i32) -> String {
        let mut text = String::new();
        for queue in 0..self.queues {
            for job in 0..number {
                let _ = writeln!(
                    text,
                    "submit {prefix}-{queue}-{job} to q-{queue}, 1 pod of cpu {}m, priority {priority}",
                    1000 - job
                );
            }
        }
        text
    }

    pub(super) fn build(self) -> World {
        let mut world = World::new();
        play(&mut world, &self.script());
        if self.preempting {
            play(&mut world, &self.jobs("runs", ROOM, 0));
            world.fill();
        }
        play(&mut world, &self.jobs("waits", self.pending, 10));
        world
    }
}

/// A queue full of jobs that may be evicted, and one that asks for half of it: in the queue itself, or from the cohort.
pub(super) fn candidates(number: usize, reclaim: bool, fair: bool) -> World {
    let mut text = String::new();
    if fair {
        text.push_str("set fair-sharing on\n");
    }
    let half = number / 2;
    text.push_str("flavor standard\n");
    let _ = writeln!(
        text,
        "queue vision, cohort lab, preempt own lower, preempt reclaim any, quota standard cpu {}",
        if reclaim { half } else { number }
    );
    let _ = writeln!(
        text,
        "queue langage, cohort lab, quota standard cpu {}",
        if reclaim { half } else { 0 }
    );
    let to = if reclaim { "langage" } else { "vision" };
    for job in 0..number {
        let _ = writeln!(text, "submit runs-{job} to {to}, 1 pod of cpu 1");
    }
    let mut world = World::new();
    play(&mut world, &text);
    world.fill();
    play(
        &mut world,
        &format!("submit asks to vision, {half} pods of cpu 1, priority 10"),
    );
    world
}

/// Nodes of eight GPUs in racks of twenty and blocks of ten racks, and one job.
pub(super) fn data_centre(nodes: usize, job: &str) -> World {
    let mut text = String::from(
        "topology centre of bloc baie hostname\nflavor a100, topology centre, label gpu=a100\n",
    );
    for node in 0..nodes {
        let _ = writeln!(
            text,
            "node n-{node:05}, label bloc=b-{:03}, label baie=r-{:04}, label gpu=a100, has gpu 8 cpu 96",
            node / 200,
            node / 20
        );
    }
    let _ = writeln!(text, "queue vision, quota a100 gpu {}", nodes * 8);
    let _ = writeln!(text, "submit chiffres to vision, {job}");
    let mut world = World::new();
    play(&mut world, &text);
    world
}

/// Scripts that this file writes are always understood.
fn play(world: &mut World, text: &str) {
    for statement in split(text) {
        for command in parse(&statement).into_iter().flatten() {
            let _ = world.act(command);
        }
    }
}
