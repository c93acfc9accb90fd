//! A cursor over the words of one clause, whose complaints say what was expected.

use std::str::FromStr;

use kueue_api::Quantity;

use super::{Clause, Problem};

pub(super) struct Words<'a> {
    line: usize,
    words: &'a [String],
    /// The clause as a person wrote it, for complaints.
    all: &'a [String],
}

impl<'a> Words<'a> {
    pub(super) fn of(clause: &'a Clause) -> Self {
        Self {
            line: clause.line,
            words: &clause.words,
            all: &clause.words,
        }
    }

    pub(super) fn problem(&self, problem: impl Into<String>) -> Problem {
        Problem::new(self.line, problem)
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.words.first().map(String::as_str)
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    /// The next word, which is to be `what`.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a str, Problem> {
        let missing = self.expected(what, None);
        self.next().ok_or(missing)
    }

    /// The next word as a number or another value that is read from one word.
    pub(super) fn read<T: FromStr>(&mut self, what: &str) -> Result<T, Problem> {
        let word = self.word(what)?;
        word.parse().map_err(|_| self.expected(what, Some(word)))
    }

    /// The next word as an amount of a resource.
    pub(super) fn quantity(&mut self, what: &str) -> Result<Quantity, Problem> {
        let word = self.word(what)?;
        match word.parse::<quantity::Quantity>() {
            Ok(_) => Ok(Quantity(word.to_owned())),
            Err(_) => Err(self.expected(&format!("{what} such as 4 or 500m"), Some(word))),
        }
    }

    /// The next word as one of several; the value that belongs to it.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<T, Problem> {
        let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
        let what = format!("one of {}", names.join(", "));
        let word = self.word(&what)?;
        let found = choices.iter().find(|(name, _)| *name == word);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| self.expected(&what, Some(word)))
    }

    /// The next word as `key=value`.
    pub(super) fn pair(&mut self, what: &str) -> Result<(String, String), Problem> {
        let what = format!("{what} as key=value");
        let word = self.word(&what)?;
        let (key, value) = word
            .split_once('=')
            .ok_or_else(|| self.expected(&what, Some(word)))?;
        Ok((key.to_owned(), value.to_owned()))
    }

    /// Takes a word if it comes next.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let comes = self.peek() == Some(word);
        if comes {
            self.words = &self.words[1..];
        }
        comes
    }

    /// Takes a word that has to come next.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), Problem> {
        let found = self.word(&format!("`{word}`"))?;
        if found == word {
            return Ok(());
        }
        Err(self.expected(&format!("`{word}`"), Some(found)))
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), Problem> {
        match self.peek() {
            None => Ok(()),
            Some(word) => {
                Err(self.problem(format!("`{word}` is too much after `{}`", self.before())))
            }
        }
    }

    fn expected(&self, what: &str, found: Option<&str>) -> Problem {
        match found {
            Some(found) => self.problem(format!("expected {what}, found `{found}`")),
            None => self.problem(format!("expected {what} after `{}`", self.before())),
        }
    }

    fn before(&self) -> String {
        self.all[..self.all.len() - self.words.len()].join(" ")
    }
}

/// The resource behind a word: `gpu` is short for `nvidia.com/gpu`.
pub(super) fn resource(word: &str) -> String {
    match word {
        "gpu" => "nvidia.com/gpu".to_owned(),
        other => other.to_owned(),
    }
}

/// The node label behind the name of a level: `hostname` is short for `kubernetes.io/hostname`.
pub(super) fn level(word: &str) -> String {
    match word {
        "hostname" => "kubernetes.io/hostname".to_owned(),
        other => other.to_owned(),
    }
}
