//! Prints what came of the cases: a line a file, a line a folder, and one last line.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::run::Ran;
use crate::verdict::{Skip, Verdict};

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// As the reference.
    pub passed: usize,
    /// Otherwise.
    pub failed: usize,
    /// Not run, because of something that is not built.
    pub feature: usize,
    /// Not run, because nobody could see the outcome.
    pub internal: usize,
}

impl Count {
    /// Counts one verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Passed => self.passed += 1,
            Verdict::Failed(_) => self.failed += 1,
            Verdict::Skipped(Skip::Feature(_)) => self.feature += 1,
            Verdict::Skipped(Skip::Internal(_)) => self.internal += 1,
        }
    }

    /// Of the cases whose outcome a user could see, how many per hundred passed. `None` if there are none.
    #[must_use]
    pub fn percent(&self) -> Option<f64> {
        let all = u32::try_from(self.passed + self.failed + self.feature).unwrap_or(u32::MAX);
        let passed = u32::try_from(self.passed).unwrap_or(u32::MAX);
        (all > 0).then(|| 100.0 * f64::from(passed) / f64::from(all))
    }

    fn skipped(&self) -> usize {
        self.feature + self.internal
    }
}

impl std::fmt::Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} passed, {} failed, {} skipped",
            self.passed,
            self.failed,
            self.skipped()
        )
    }
}

/// Counts by the part of a case that `key` picks.
#[must_use]
pub fn counts(ran: &[Ran], key: impl Fn(&Ran) -> String) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for one in ran {
        counts.entry(key(one)).or_default().add(&one.verdict);
    }
    counts
}

/// How much is said about single cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The names of those that failed.
    Names,
    /// Those, with what was decided and what was expected.
    Differences,
    /// Every case by name, for a look at a few.
    Everything,
}

/// The whole report.
#[must_use]
pub fn text(ran: &[Ran], detail: Detail) -> String {
    let mut out = String::new();
    if ran.is_empty() {
        let _ = writeln!(out, "no case matches");
    }
    for (file, count) in counts(ran, |one| format!("{}/{}", one.folder, one.test)) {
        let _ = writeln!(out, "{file}: {count}");
        let own = || {
            ran.iter()
                .filter(|one| format!("{}/{}", one.folder, one.test) == file)
        };
        for (reason, number) in reasons(own()) {
            let _ = writeln!(out, "    {number} skipped, {reason}");
        }
        own().for_each(|one| case(&mut out, one, detail));
    }
    let _ = writeln!(out);
    totals(&mut out, ran);
    out
}

fn case(out: &mut String, one: &Ran, detail: Detail) {
    match &one.verdict {
        Verdict::Failed(difference) => {
            let _ = writeln!(out, "    failed: {}", one.case);
            if detail != Detail::Names {
                let _ = writeln!(out, "      {}", difference.replace('\n', "\n      "));
            }
        }
        Verdict::Passed if detail == Detail::Everything => {
            let _ = writeln!(out, "    passed: {}", one.case);
        }
        Verdict::Skipped(_) if detail == Detail::Everything => {
            let _ = writeln!(out, "    skipped: {}", one.case);
        }
        Verdict::Passed | Verdict::Skipped(_) => {}
    }
}

fn totals(out: &mut String, ran: &[Ran]) {
    for (folder, count) in counts(ran, |one| one.folder.clone()) {
        let percent = count
            .percent()
            .map_or_else(|| "-".to_owned(), |percent| format!("{percent:.1} %"));
        let _ = writeln!(out, "{folder}: {count} ({percent} of what users can see)");
    }
    let mut total = Count::default();
    for one in ran {
        total.add(&one.verdict);
    }
    let _ = writeln!(out, "{total}");
}

fn reasons<'a>(ran: impl Iterator<Item = &'a Ran>) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for one in ran {
        if let Verdict::Skipped(skip) = &one.verdict {
            *reasons.entry(skip.to_string()).or_default() += 1;
        }
    }
    reasons
}
