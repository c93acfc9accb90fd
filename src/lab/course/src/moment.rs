//! The words with which a criterion speaks of the past: subjects, moments, states, and what to take from them.

use crate::{ids::QuestionId, predicate::Predicate};
use serde::{Deserialize, Serialize};

/// A name in which `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(pub(crate) String);

impl Pattern {
    pub fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else {
            return rest.is_empty();
        };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = rest.get(at + part.len()..).unwrap_or_default(),
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

/// One job, or several when its name is a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRef {
    pub kind: String,
    pub namespace: Pattern,
    pub name: Pattern,
}

/// "One of these jobs".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobSet(pub Vec<JobRef>);

impl JobSet {
    pub fn contains(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.0.iter().any(|job| {
            job.kind == kind && job.namespace.matches(namespace) && job.name.matches(name)
        })
    }

    /// For messages: the names as the author wrote them.
    pub fn describe(&self) -> String {
        join(self.0.iter().map(|job| job.name.as_str().to_owned()))
    }
}

/// One object, or several when its name is a pattern. No namespace for cluster-scoped kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    pub kind: String,
    pub namespace: Option<Pattern>,
    pub name: Pattern,
}

/// "One of these objects".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectSet(pub Vec<ObjectRef>);

impl ObjectSet {
    pub fn contains(&self, kind: &str, namespace: Option<&str>, name: &str) -> bool {
        self.0.iter().any(|object| {
            object.kind == kind
                && object
                    .namespace
                    .as_ref()
                    .map_or(namespace.is_none(), |pattern| {
                        namespace.is_some_and(|name| pattern.matches(name))
                    })
                && object.name.matches(name)
        })
    }

    pub fn describe(&self) -> String {
        join(
            self.0
                .iter()
                .map(|object| format!("{}/{}", object.kind, object.name.as_str())),
        )
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($variant),+ }

        impl $name {
            /// The words of lab files, in the order of FORMAT.md.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

words!(
    /// What can happen to a job.
    FactName {
        Submitted = "submitted",
        Managed = "managed",
        Queued = "queued",
        QuotaReserved = "quota-reserved",
        Admitted = "admitted",
        Started = "started",
        Running = "running",
        Evicted = "evicted",
        Preempted = "preempted",
        Requeued = "requeued",
        Deactivated = "deactivated",
        Finished = "finished",
        Deleted = "deleted",
    }
);
words!(
    /// What a job can be for a while.
    StateName {
        Submitted = "submitted",
        Queued = "queued",
        QuotaReserved = "quota-reserved",
        Admitted = "admitted",
        Running = "running",
        Evicted = "evicted",
        Finished = "finished",
        Waiting = "waiting",
    }
);
words!(
    /// How a job ended.
    JobResult { Succeeded = "succeeded", Failed = "failed" }
);
words!(
    /// What an answer is compared with, out of the moments of the trainee's own job.
    Take {
        Reason = "reason",
        Message = "message",
        Flavor = "flavor",
        ClusterQueue = "cluster-queue",
        LocalQueue = "local-queue",
        Node = "node",
        By = "by",
        Name = "name",
        Job = "job",
        SecondsWaited = "seconds-waited",
    }
);

/// Narrows a moment or a state; an empty list asks for nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub reason: Vec<String>,
    pub message: Option<String>,
    pub flavor: Vec<String>,
    pub cluster_queue: Vec<String>,
    pub local_queue: Vec<String>,
    pub node: Option<Pattern>,
    pub by: Option<JobSet>,
    pub result: Option<JobResult>,
    pub borrows: Option<bool>,
}

/// Something that happens at one point of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    Job(JobMoment),
    Object(ObjectMoment),
    Answered(QuestionId),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobMoment {
    pub jobs: JobSet,
    pub becomes: FactName,
    pub filter: Filter,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMoment {
    pub objects: ObjectSet,
    pub change: ObjectChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectChange {
    Created,
    Deleted,
    /// The value at this dotted path differs from the version before.
    Changes(String),
    /// The predicate turns true.
    Holds(Predicate),
}

/// A state of a job that lasts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePattern {
    pub jobs: JobSet,
    pub is: StateName,
    pub filter: Filter,
}
