//! Runs cases one by one. A panic is the failure of its case, so that one bad case hides no other.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use crate::corpus::{Case, File};
use crate::suites;
use crate::verdict::Verdict;

/// A case and what came of it.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The folder it is in.
    pub folder: String,
    /// The file it is in.
    pub test: String,
    /// Its name.
    pub case: String,
    /// What came of it.
    pub verdict: Verdict,
}

/// Runs the cases whose name contains `filter`. A case that is not one fails, and so does one in which the code under test panics.
#[must_use]
pub fn run(files: &[File], filter: Option<&str>) -> Vec<Ran> {
    let wanted = |case: &Case<'_>| filter.is_none_or(|filter| case.name.contains(filter));
    keep_quiet_about_cases();
    let mut ran = Vec::new();
    for file in files {
        for (index, case) in file.cases().enumerate() {
            if !wanted(&case) {
                continue;
            }
            ran.push(Ran {
                folder: file.folder.clone(),
                test: file.test.clone(),
                case: if case.name.is_empty() {
                    format!("#{}", index + 1)
                } else {
                    case.name.to_owned()
                },
                verdict: one(case),
            });
        }
    }
    ran
}

thread_local! {
    /// Whether this thread runs a case, whose panic is its difference and not a fault of the program.
    static RUNS_A_CASE: Cell<bool> = const { Cell::new(false) };
}

fn keep_quiet_about_cases() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !RUNS_A_CASE.get() {
                before(panic);
            }
        }));
    });
}

fn one(case: Case<'_>) -> Verdict {
    if case.name.is_empty() || !case.input.is_object() || !case.want.is_object() {
        let text = "malformed: a case needs a `name`, and objects `in` and `want`";
        return Verdict::Failed(text.to_owned());
    }
    let Some(suite) = suites::find(&case.file.folder, &case.file.test) else {
        return Verdict::not_built(format!("{}/{}", case.file.folder, case.file.test));
    };
    RUNS_A_CASE.set(true);
    let ended = catch_unwind(AssertUnwindSafe(|| suite(case)));
    RUNS_A_CASE.set(false);
    ended.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Verdict::Failed(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
