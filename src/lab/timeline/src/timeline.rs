//! The history of one cluster, built by pushing entries. Everything here is a function of the entries alone.

use crate::{
    attempt::{Attempt, JobFact, JobName},
    entry::{Entry, ObjectEntry, Verb, What},
    evidence::{Evidence, Note, Subject},
    facts,
    objects::{Objects, Version},
    place::Place,
    reservations::Reservations,
    silence::{Gap, Silence},
};
use course::{JobSet, QuestionId};
use jiff::Timestamp;
use serde_json::Value;
use std::{collections::BTreeMap, sync::Arc};

/// An answer that the trainee gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub place: Place,
    pub value: Value,
}

/// What is known about one cluster, from its first entry to its latest.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    pub(crate) objects: Objects,
    pub(crate) attempts: Vec<Attempt>,
    /// Job uid → place in `attempts`.
    pub(crate) by_uid: BTreeMap<String, usize>,
    /// Workload uid → job uid.
    pub(crate) owners: BTreeMap<String, String>,
    pub(crate) reservations: Reservations,
    pub(crate) silence: Silence,
    answers: BTreeMap<QuestionId, Vec<Answer>>,
    notes: BTreeMap<u64, Note>,
    last: Option<(u64, Timestamp)>,
}

impl Timeline {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn from_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut timeline = Self::new();
        for entry in entries {
            timeline.push(entry);
        }
        timeline
    }

    /// Adds the next entry. One that is already known (not after the last) changes nothing.
    pub fn push(&mut self, entry: &Entry) {
        if self.last.is_some_and(|(seq, _)| entry.seq <= seq) {
            return;
        }
        // What was concluded at the entry before stands: a blind time that is only now known begins after it.
        let before = self.last.map_or(entry.at, |(_, at)| at);
        self.last = Some((entry.seq, entry.at));
        match &entry.what {
            What::Object(object) => self.object_entry(object, entry.seq, entry.at),
            What::Gap { kinds, from, to } => {
                self.note(
                    entry.seq,
                    entry.at,
                    Subject::Plain(format!("{from} … {to} ? {}", kinds.join(", "))),
                );
                self.silence.gap(Gap {
                    kinds: kinds.clone(),
                    from: (*from).max(before),
                    to: *to,
                    seq: entry.seq,
                });
            }
            What::Lost { kinds, since } => self
                .silence
                .lost(kinds, since.map_or(entry.at, |since| since.max(before))),
            What::Back { kinds } => self.silence.back(kinds, entry.at),
            What::Answer { question, value } => {
                let place = Place {
                    seq: entry.seq,
                    rank: 0,
                    at: entry.at,
                    version: None,
                };
                self.note(
                    entry.seq,
                    entry.at,
                    Subject::Plain(format!("{question} = {value}")),
                );
                self.answers
                    .entry(question.clone())
                    .or_default()
                    .push(Answer {
                        place,
                        value: value.clone(),
                    });
            }
            What::Tick => {}
        }
    }

    fn object_entry(&mut self, entry: &ObjectEntry, seq: u64, at: Timestamp) {
        let Some(step) = self.objects.push(entry, seq, at) else {
            return;
        };
        let path = entry
            .namespace
            .as_ref()
            .map_or_else(String::new, |namespace| format!("{namespace}/"));
        let name = format!("{} {path}{}", entry.kind, entry.name);
        let (before, after) = (step.before.clone(), Arc::clone(&step.after));
        self.note(
            seq,
            at,
            Subject::Object {
                verb: entry.verb,
                name,
                before,
                after,
            },
        );
        facts::derive(self, entry, &step, entry.verb == Verb::Deleted);
    }

    fn note(&mut self, seq: u64, at: Timestamp, subject: Subject) {
        self.notes.insert(seq, Note { at, subject });
    }

    /// The entries that a verdict rests on, as lines to read.
    pub fn evidence(&self, seqs: &[u64]) -> Vec<Evidence> {
        seqs.iter()
            .filter_map(|seq| Some(self.notes.get(seq)?.evidence(*seq)))
            .collect()
    }

    /// The sequence number of the latest entry, 0 before the first.
    pub fn last_seq(&self) -> u64 {
        self.last.map_or(0, |(seq, _)| seq)
    }

    /// When the latest entry was received.
    pub fn last_at(&self) -> Option<Timestamp> {
        self.last.map(|(_, at)| at)
    }

    /// Every attempt at every job, in the order of their first appearance.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    pub fn attempt(&self, job_uid: &str) -> Option<&Attempt> {
        self.attempts.get(*self.by_uid.get(job_uid)?)
    }

    /// The answers to a question, oldest first.
    pub fn answers(&self, question: &QuestionId) -> &[Answer] {
        self.answers.get(question).map_or(&[], Vec::as_slice)
    }

    /// What exists now under that name, pruned.
    pub fn object(&self, kind: &str, namespace: Option<&str>, name: &str) -> Option<&Arc<Value>> {
        self.objects.live(kind, namespace, name)
    }

    /// Everything of a kind that exists now, by namespace and name.
    pub fn all<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (Option<&'a str>, &'a str, &'a Version)> {
        self.objects
            .all_live(kind)
            .map(|(key, version)| (key.namespace.as_deref(), key.name.as_str(), version))
    }

    /// Spans in which changes may have been missed: kinds, from, to, the entry that says so.
    pub fn gaps(&self) -> impl Iterator<Item = (&[String], Timestamp, Timestamp, u64)> {
        self.silence
            .gaps()
            .iter()
            .map(|gap| (gap.kinds.as_slice(), gap.from, gap.to, gap.seq))
    }

    /// The job that a preemption was made for.
    pub fn preemptor(&self, fact: &JobFact) -> Option<&JobName> {
        fact.details.by.iter().find_map(|uid| {
            let job = self.owners.get(uid).unwrap_or(uid);
            self.attempt(job).map(|attempt| &attempt.job)
        })
    }

    pub(crate) fn attempts_of<'a>(&'a self, jobs: &'a JobSet) -> impl Iterator<Item = &'a Attempt> {
        self.attempts.iter().filter(|attempt| {
            jobs.contains(&attempt.job.kind, &attempt.job.namespace, &attempt.job.name)
        })
    }
}
