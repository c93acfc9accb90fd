//! Runs cases one by one. A panic is the failure of its case, so that one bad case hides no other.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

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

/// Runs the cases whose name contains `filter`.
#[must_use]
pub fn run(files: &[File], filter: Option<&str>) -> Vec<Ran> {
    let wanted = |case: &Case<'_>| filter.is_none_or(|filter| case.name.contains(filter));
    let before = take_hook();
    set_hook(Box::new(|_| {}));
    let mut ran = Vec::new();
    for file in files {
        for case in file.cases().filter(wanted) {
            ran.push(Ran {
                folder: file.folder.clone(),
                test: file.test.clone(),
                case: case.name.to_owned(),
                verdict: one(case),
            });
        }
    }
    set_hook(before);
    ran
}

fn one(case: Case<'_>) -> Verdict {
    let Some(suite) = suites::find(&case.file.folder, &case.file.test) else {
        return Verdict::not_built(format!("{}/{}", case.file.folder, case.file.test));
    };
    catch_unwind(AssertUnwindSafe(|| suite(case))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Verdict::Failed(format!("panicked: {}", text.unwrap_or("without a text")))
    })
}
