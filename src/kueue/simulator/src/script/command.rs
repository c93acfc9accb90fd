//! What a statement asks for.

use jiff::SignedDuration;
use kueue_api::v1beta2::{self as api, StopPolicy};

use super::objects::{Object, yaml};
use super::words::Words;
use super::{Body, Problem, Statement, node, pods, queues};

/// One thing to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Show text.
    Say(String),
    /// Choose what the operator of a controller chooses, before anything exists.
    Set(Setting),
    /// Create or replace an object.
    Apply(Object),
    /// Replace one quota of a ClusterQueue or cohort.
    Quota(String, api::FlavorQuotas),
    /// Stop a queue, or let it go on.
    Stop(String, StopPolicy),
    /// A job arrives.
    Submit(Box<api::Workload>, Option<SignedDuration>),
    /// Something happens to a job.
    Change(String, Change),
    /// An object goes away.
    Delete(Kind, String),
    /// Time passes.
    Advance(SignedDuration),
    /// This many scheduling cycles, at most.
    Cycles(usize),
    /// Cycles until nothing is left to do.
    Run,
    /// Print the world.
    Show(View),
}

/// What the operator chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Fair sharing between queues.
    FairSharing(bool),
    /// A feature gate by its name in the reference.
    Gate(String, bool),
}

/// What can happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It ends.
    Finish,
    /// Somebody deactivates it.
    Deactivate,
    /// Somebody activates it again.
    Activate,
    /// It matters more or less from now on.
    Priority(i32),
}

/// Kinds that can be deleted, beside jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A ClusterQueue.
    Queue,
    /// A LocalQueue.
    Local,
    /// A Cohort.
    Cohort,
    /// A ResourceFlavor.
    Flavor,
    /// A Node.
    Node,
    /// A job.
    Job,
}

/// What `show` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All of it.
    All,
    /// Cohorts and ClusterQueues with what they have and use.
    Tree,
    /// Who waits where.
    Queues,
    /// Every job and why.
    Jobs,
    /// Nodes and what runs there.
    Nodes,
}

const VERBS: &str = "say, set, namespace, flavor, topology, node, cohort, queue, local, quota, hold, drain, resume, submit, finish, deactivate, activate, priority, delete, advance, cycle, run, show, or `---` before YAML";

/// Reads one statement; several commands only from YAML with several documents.
///
/// # Errors
/// The line that cannot be understood, and what was expected there.
pub fn parse(statement: &Statement) -> Result<Vec<Command>, Problem> {
    let clauses = match &statement.body {
        Body::Say(text) => return Ok(vec![Command::Say(text.clone())]),
        Body::Yaml(text) => {
            let objects = yaml(text, statement.line)?;
            return Ok(objects.into_iter().map(applied).collect());
        }
        Body::Clauses(clauses) => clauses,
    };
    let Some((head, settings)) = clauses.split_first() else {
        return Ok(Vec::new());
    };
    let mut words = Words::of(head);
    let verb = words.word(VERBS)?;
    let command = match verb {
        "namespace" | "flavor" | "node" | "cohort" | "queue" => {
            let name = words.word("a name")?;
            words.end()?;
            let object = match verb {
                "namespace" => node::namespace(name, settings),
                "flavor" => node::flavor(name, settings),
                "node" => node::node(name, settings),
                "cohort" => queues::cohort(name, settings),
                _ => queues::queue(name, settings),
            };
            return Ok(vec![Command::Apply(object?)]);
        }
        "local" => {
            let name = words.word("a name")?;
            return Ok(vec![Command::Apply(queues::local(
                name, &mut words, settings,
            )?)]);
        }
        "submit" => {
            let (workload, runs) = pods::submit(&mut words, settings)?;
            return Ok(vec![Command::Submit(Box::new(workload), runs)]);
        }
        _ => simple(verb, &mut words)?,
    };
    words.end()?;
    match settings.first() {
        None => Ok(vec![command]),
        Some(extra) => Err(Problem::new(
            extra.line,
            format!(
                "`{verb}` takes no settings, found `{}`",
                extra.words.join(" ")
            ),
        )),
    }
}

/// Sentences without settings.
fn simple(verb: &str, words: &mut Words<'_>) -> Result<Command, Problem> {
    Ok(match verb {
        "set" => Command::Set(setting(words)?),
        "topology" => {
            let name = words.word("a name")?;
            Command::Apply(node::topology(name, words)?)
        }
        "quota" => {
            let name = words.word("a queue or cohort")?.to_owned();
            Command::Quota(name, queues::quota(words)?)
        }
        "hold" => Command::Stop(queue(words)?, StopPolicy::Hold),
        "drain" => Command::Stop(queue(words)?, StopPolicy::HoldAndDrain),
        "resume" => Command::Stop(queue(words)?, StopPolicy::None),
        "finish" => Command::Change(job(words)?, Change::Finish),
        "deactivate" => Command::Change(job(words)?, Change::Deactivate),
        "activate" => Command::Change(job(words)?, Change::Activate),
        "priority" => {
            let job = job(words)?;
            Command::Change(job, Change::Priority(words.read("a number")?))
        }
        "delete" => deleted(words)?,
        "advance" => Command::Advance(words.read("a duration such as 30s or 5m")?),
        "cycle" => match words.peek() {
            None => Command::Cycles(1),
            Some(_) => Command::Cycles(words.read("a number of cycles")?),
        },
        "run" => Command::Run,
        "show" => Command::Show(match words.peek() {
            None => View::All,
            Some(_) => words.one_of(&[
                ("tree", View::Tree),
                ("queues", View::Queues),
                ("jobs", View::Jobs),
                ("nodes", View::Nodes),
            ])?,
        }),
        other => return Err(words.problem(format!("expected {VERBS}, found `{other}`"))),
    })
}

fn setting(words: &mut Words<'_>) -> Result<Setting, Problem> {
    const SWITCH: &[(&str, bool)] = &[("on", true), ("off", false)];
    Ok(match words.word("fair-sharing or gate")? {
        "fair-sharing" => Setting::FairSharing(words.one_of(SWITCH)?),
        "gate" => {
            let name = words.word("the name of a feature gate")?.to_owned();
            Setting::Gate(name, words.one_of(SWITCH)?)
        }
        other => {
            return Err(words.problem(format!("expected fair-sharing or gate, found `{other}`")));
        }
    })
}

/// `delete [KIND] NAME`: a job when no kind is named.
fn deleted(words: &mut Words<'_>) -> Result<Command, Problem> {
    let kind = match words.peek() {
        Some("queue") => Kind::Queue,
        Some("local") => Kind::Local,
        Some("cohort") => Kind::Cohort,
        Some("flavor") => Kind::Flavor,
        Some("node") => Kind::Node,
        _ => return Ok(Command::Delete(Kind::Job, job(words)?)),
    };
    words.next();
    let name = words.word("its name")?.to_owned();
    Ok(Command::Delete(kind, name))
}

fn queue(words: &mut Words<'_>) -> Result<String, Problem> {
    Ok(words.word("a queue")?.to_owned())
}

fn job(words: &mut Words<'_>) -> Result<String, Problem> {
    Ok(words.word("a job")?.to_owned())
}

fn applied(object: Object) -> Command {
    match object {
        Object::Workload(workload) => Command::Submit(workload, None),
        other => Command::Apply(other),
    }
}
