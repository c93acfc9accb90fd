//! The runner (`runner.rs`), and the whole corpus, held against the list of cases that are known to fail: a new failure is a failure here, and so is a listed case that passes.

use std::collections::BTreeSet;

use conformance::report::{self, Count, Detail};
use conformance::verdict::{Skip, Verdict};
use conformance::{corpus, run};

mod runner;

/// One line a case, `folder/test: name`. It may only get shorter.
const KNOWN: &str = include_str!("../../known.txt");

/// One sentence for each file that is skipped as internal.
const INTERNAL: &str = include_str!("../../INTERNAL.md");

/// Of the cases whose outcome a user could see, how many per hundred have to pass. It only rises.
const GOALS: &[(&str, f64)] = &[
    ("pkg-podset", 100.0),
    ("pkg-resources", 100.0),
    ("pkg-util-admissioncheck", 100.0),
    ("pkg-util-equality", 100.0),
    ("pkg-util-limitrange", 100.0),
    ("pkg-util-pod", 100.0),
    ("pkg-util-podset", 100.0),
    ("pkg-util-priority", 100.0),
    ("pkg-util-resource", 100.0),
    ("pkg-util-tolerations", 100.0),
    ("pkg-webhooks", 100.0),
    ("pkg-workload", 95.0),
    ("pkg-workload-evict", 100.0),
    ("pkg-workload-finish", 100.0),
    ("pkg-workload-patching", 100.0),
    ("pkg-scheduler", 97.0),
    ("pkg-scheduler-flavorassigner", 97.0),
    ("pkg-scheduler-preemption", 97.0),
    ("pkg-cache-scheduler", 97.0),
    ("pkg-cache-queue", 97.0),
    ("pkg-cache-queue-afs", 97.0),
    ("pkg-config", 95.0),
    ("pkg-visibility", 95.0),
    ("pkg-workloadslicing", 95.0),
    ("pkg-controller-jobframework", 95.0),
    ("pkg-controller-tas", 95.0),
    ("pkg-controller-elasticjobs", 95.0),
    ("pkg-controller-admissionchecks-provisioning", 95.0),
    ("pkg-controller-jobs-job", 95.0),
    ("pkg-controller-jobs-pod", 95.0),
    ("pkg-controller-jobs-jobset", 95.0),
    ("pkg-controller-jobs-deployment", 95.0),
    ("pkg-controller-jobs-statefulset", 95.0),
];

#[test]
#[expect(
    clippy::print_stderr,
    reason = "a skipped test says so, and the table is what people look for"
)]
fn the_corpus_passes_but_for_the_known_failures() {
    let directory = corpus::beside_the_project();
    if !directory.exists() {
        let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
        assert!(!in_ci, "{} is missing", directory.display());
        eprintln!("skipped: {} is not there", directory.display());
        return;
    }
    let files = corpus::files(&directory, &[]).unwrap();
    let ran = run::run(&files, None);
    eprintln!("{}", report::text(&ran, Detail::Names));
    let line = |one: &run::Ran| format!("{}/{}: {}", one.folder, one.test, one.case);
    let failed: BTreeSet<String> = ran
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Failed(_)))
        .map(line)
        .collect();
    let known: BTreeSet<String> = KNOWN
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let new: Vec<_> = failed.difference(&known).collect();
    let stale: Vec<_> = known.difference(&failed).collect();
    assert!(new.is_empty(), "these failed: {new:#?}");
    assert!(
        stale.is_empty(),
        "these pass now, take them off known.txt: {stale:#?}"
    );
    goals_are_reached(&ran);
    what_is_internal_is_explained(&ran);
}

fn goals_are_reached(ran: &[run::Ran]) {
    let counts = report::counts(ran, |one| one.folder.clone());
    for (folder, goal) in GOALS {
        let reached = counts.get(*folder).and_then(Count::percent).unwrap_or(0.0);
        assert!(reached >= *goal, "{folder}: {reached:.1} % of {goal} %");
    }
}

fn what_is_internal_is_explained(ran: &[run::Ran]) {
    let skipped: BTreeSet<_> = ran
        .iter()
        .filter(|one| matches!(one.verdict, Verdict::Skipped(Skip::Internal(_))))
        .map(|one| format!("{}/{}", one.folder, one.test))
        .collect();
    let silent: Vec<_> = skipped
        .iter()
        .filter(|file| !INTERNAL.contains(*file))
        .collect();
    assert!(
        silent.is_empty(),
        "INTERNAL.md says nothing about {silent:#?}"
    );
}
