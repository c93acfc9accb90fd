//! The script of a seed: a few flavors, cohorts in a tree, queues with all kinds of policies, then a day of jobs that come and go, quotas
//! that change and queues that stop. Amounts are small on purpose, so that everything is scarce.

mod places;

use std::fmt::Write as _;

use super::chance::Chance;

const FLAVORS: &[&str] = &["a100", "v100", "t4"];
const QUEUES: &[&str] = &["vision", "langage", "reco", "audio", "robots"];
const COHORTS: &[&str] = &["cassiopee", "recherche", "production", "annexe"];

struct Plan {
    chance: Chance,
    text: String,
    flavors: usize,
    cohorts: usize,
    queues: usize,
    jobs: usize,
    with_cpu: bool,
    preempting: bool,
    places: bool,
    nodes: usize,
}

/// The script of a seed.
#[must_use]
pub fn script(seed: u64) -> String {
    let mut chance = Chance::new(seed);
    let mut plan = Plan {
        flavors: chance.between(1, FLAVORS.len()),
        cohorts: chance.between(0, COHORTS.len()),
        queues: chance.between(1, QUEUES.len()),
        jobs: 0,
        with_cpu: chance.once_in(3),
        preempting: chance.once_in(2),
        places: chance.once_in(4),
        nodes: 0,
        text: String::new(),
        chance,
    };
    if plan.chance.once_in(4) {
        plan.line("set fair-sharing on");
    }
    if plan.chance.once_in(6) {
        plan.line("set gate PrioritizePreemptorWorkloads on");
    }
    if plan.places {
        plan.topology();
    }
    for (at, flavor) in FLAVORS[..plan.flavors].iter().enumerate() {
        let mut line = format!("flavor {flavor}");
        if plan.chance.once_in(6) {
            line.push_str(", taint ancien=oui:NoSchedule");
        }
        if plan.places && at == 0 {
            line.push_str(", topology salle");
        }
        plan.line(&line);
    }
    if plan.places {
        plan.all_nodes();
    }
    for at in 0..plan.cohorts {
        plan.cohort(at);
    }
    for at in 0..plan.queues {
        plan.queue(at);
    }
    for _ in 0..plan.chance.between(5, 40) {
        plan.step();
    }
    plan.line("run");
    plan.text
}

impl Plan {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    /// Parents come first, so that no circle is made here.
    fn cohort(&mut self, at: usize) {
        let mut line = format!("cohort {}", COHORTS[at]);
        if at > 0 && !self.chance.once_in(3) {
            let parent = COHORTS[self.chance.below(at)];
            let _ = write!(line, ", under {parent}");
        }
        if self.chance.once_in(2) {
            let flavor = self.flavor();
            let quota = self.quota(flavor);
            let _ = write!(line, ", quota {quota}");
        }
        self.weight(&mut line);
        self.line(&line);
    }

    fn flavor(&mut self) -> &'static str {
        FLAVORS[self.chance.below(self.flavors)]
    }

    /// `a100 gpu 4 borrow 2 lend 1 cpu 8`.
    fn quota(&mut self, flavor: &str) -> String {
        let mut quota = format!("{flavor} gpu {}", self.amount());
        self.limits(&mut quota);
        if self.with_cpu {
            let _ = write!(quota, " cpu {}", self.amount());
            self.limits(&mut quota);
        }
        quota
    }

    fn limits(&mut self, quota: &mut String) {
        if self.chance.once_in(3) {
            let _ = write!(quota, " borrow {}", self.chance.below(4));
        }
        if self.chance.once_in(3) {
            let _ = write!(quota, " lend {}", self.chance.below(4));
        }
    }

    fn amount(&mut self) -> usize {
        self.chance.between(0, 6)
    }

    fn weight(&mut self, line: &mut String) {
        if self.chance.once_in(4) {
            let weight = self.chance.one(&["0", "500m", "2", "3"]);
            let _ = write!(line, ", weight {weight}");
        }
    }

    fn queue(&mut self, at: usize) {
        let mut line = format!("queue {}", QUEUES[at]);
        if self.cohorts > 0 && !self.chance.once_in(5) {
            let cohort = COHORTS[self.chance.below(self.cohorts)];
            let _ = write!(line, ", cohort {cohort}");
        }
        if self.chance.once_in(3) {
            line.push_str(", strict");
        }
        if self.preempting {
            self.preemption(&mut line);
        }
        if self.chance.once_in(3) {
            let policy = self.chance.one(&[
                "borrow try-next",
                "preempt stop",
                "preempt try-next",
                "prefer preemption",
            ]);
            let _ = write!(line, ", fungibility {policy}");
        }
        self.weight(&mut line);
        let first = self.chance.below(self.flavors);
        for flavor in &FLAVORS[first..self.flavors] {
            let quota = self.quota(flavor);
            let _ = write!(line, ", quota {quota}");
        }
        self.line(&line);
    }

    fn preemption(&mut self, line: &mut String) {
        let own = self.chance.one(&["never", "lower", "lower-or-newer"]);
        let reclaim = self.chance.one(&["never", "lower", "any"]);
        let _ = write!(line, ", preempt own {own}, preempt reclaim {reclaim}");
        if reclaim != "never" && self.chance.once_in(2) {
            line.push_str(", preempt borrowing lower");
            if self.chance.once_in(2) {
                let _ = write!(line, " up-to {}", self.chance.below(3));
            }
        }
    }

    fn step(&mut self) {
        if self.places && self.chance.once_in(6) {
            return self.about_a_node();
        }
        match self.chance.below(24) {
            0..=9 => self.submit(),
            10..=12 => self.about_a_job("finish"),
            13 => self.about_a_job("delete"),
            14 => {
                let priority = self.chance.below(4);
                self.about_a_job(&format!("priority {priority}"));
            }
            15 => {
                let verb = self.chance.one(&["deactivate", "activate"]);
                self.about_a_job(verb);
            }
            16 => {
                let flavor = self.flavor();
                let (queue, quota) = (self.queue_name(), self.quota(flavor));
                self.line(&format!("quota {queue} {quota}"));
            }
            17 => {
                let (verb, queue) = (
                    self.chance.one(&["hold", "drain", "resume", "resume"]),
                    self.queue_name(),
                );
                self.line(&format!("{verb} {queue}"));
            }
            18 => {
                let seconds = self.chance.between(1, 90);
                self.line(&format!("advance {seconds}s"));
            }
            19 | 20 => self.line("cycle"),
            _ => self.line("run"),
        }
    }

    fn queue_name(&mut self) -> &'static str {
        QUEUES[self.chance.below(self.queues)]
    }

    /// `priority 3` becomes `priority job-7 3`.
    fn about_a_job(&mut self, what: &str) {
        if self.jobs == 0 {
            return;
        }
        let job = self.chance.below(self.jobs);
        let line = match what.split_once(' ') {
            Some((verb, rest)) => format!("{verb} job-{job} {rest}"),
            None => format!("{what} job-{job}"),
        };
        self.line(&line);
    }

    fn submit(&mut self) {
        let (job, queue) = (self.jobs, self.queue_name());
        self.jobs += 1;
        let mut line = format!("submit job-{job} to {queue}");
        let sets = if self.chance.once_in(4) { 2 } else { 1 };
        let group = sets == 2 && self.places && self.chance.once_in(2);
        let request = self.request();
        for set in 0..sets {
            // Of a group, the first is the leader.
            let pods = if group && set == 0 {
                1
            } else {
                self.chance.between(1, 4)
            };
            let name = if sets == 2 {
                format!("set-{set}: ")
            } else {
                String::new()
            };
            let gpu = self.chance.between(0, 2);
            let _ = write!(line, ", {name}{pods} pods of gpu {gpu}");
            if self.with_cpu && self.chance.once_in(2) {
                let _ = write!(line, " cpu {}", self.chance.one(&["500m", "1", "2"]));
            }
            if group {
                let _ = write!(line, "{request}, group meute");
            } else if self.chance.once_in(6) {
                let _ = write!(line, ", at least {}{request}", self.chance.between(1, pods));
            } else {
                line.push_str(&request);
                self.slices(&mut line, &request, pods);
            }
            if self.chance.once_in(3) {
                line.push_str(", tolerates ancien");
            }
        }
        if self.chance.once_in(2) {
            let _ = write!(line, ", priority {}", self.chance.below(4));
        }
        if self.chance.once_in(3) {
            let _ = write!(line, ", for {}s", self.chance.between(1, 120));
        }
        self.line(&line);
    }
}
