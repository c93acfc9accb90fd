//! What is wrong with a lab, where, and what was expected. Lint prints these; a lab with findings is not served.

use std::fmt;

/// One thing that an author has to correct.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path below the lab's folder.
    pub file: String,
    /// 1-based; 0 when the whole file is meant.
    pub line: u32,
    /// What is wrong and what is expected, in a sentence fragment.
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}: {}", self.file, self.what)
        } else {
            write!(f, "{}:{}: {}", self.file, self.line, self.what)
        }
    }
}

/// All findings of one lab, in the order of files and lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
pub struct Findings(pub Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, file: &str, line: u32, what: impl Into<String>) {
        self.0.push(Finding {
            file: file.to_owned(),
            line,
            what: what.into(),
        });
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort();
        self.0.dedup();
        self
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{finding}")?;
        }
        Ok(())
    }
}

/// " (did you mean `x`?)" when one of the expected words is close to the one written, else the list of them.
pub(crate) fn suggestion(written: &str, expected: &[&str]) -> String {
    let near = expected
        .iter()
        .map(|word| (distance(written, word), *word))
        .filter(|(far, word)| *far <= 1 + word.len() / 4)
        .min();
    match near {
        Some((_, word)) => format!("did you mean `{word}`?"),
        None => format!("expected one of: {}", expected.join(", ")),
    }
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut previous = i;
        let mut left = i + 1;
        for (cell, y) in row.iter_mut().skip(1).zip(&b) {
            let here = (previous + usize::from(x != *y))
                .min(left + 1)
                .min(*cell + 1);
            previous = *cell;
            *cell = here;
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}
