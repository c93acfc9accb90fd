//! The runner itself, on a small made-up corpus: every way a case can end, and everything that can be wrong with a directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use conformance::report::{self, Detail};
use conformance::{corpus, run};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

#[expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the program under test, in a test"
)]
fn conformance(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(arguments).output().unwrap()
}

#[expect(clippy::unwrap_used, reason = "fails where the test would")]
fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_report_counts_every_way_a_case_can_end() {
    let files = corpus::files(&data("made-up"), &[]).unwrap();
    let text = report::text(&run::run(&files, None), Detail::Names);
    let want = "\
pkg-nobody/TestAmountFromQuantity: 0 passed, 0 failed, 1 skipped
    1 skipped, feature: pkg-nobody/TestAmountFromQuantity
pkg-resources/TestAmountFromQuantity: 1 passed, 4 failed, 0 skipped
    failed: fails
    failed: panics
    failed: #4
    failed: has no expectation
pkg-resources/TestNobodyKnows: 0 passed, 0 failed, 1 skipped
    1 skipped, feature: pkg-resources/TestNobodyKnows

pkg-nobody: 0 passed, 0 failed, 1 skipped (0.0 % of what users can see)
pkg-resources: 1 passed, 4 failed, 1 skipped (16.7 % of what users can see)
1 passed, 4 failed, 2 skipped
";
    assert_eq!(text, want);
}

#[test]
fn one_case_shows_what_was_decided_and_what_was_expected() {
    let path = data("made-up");
    let output = conformance(&[path.to_str().unwrap(), "--case", "fails"]);
    assert_eq!(output.status.code(), Some(1));
    let lines = lines(&output);
    assert!(
        lines.contains(&"        decided:  2000".to_owned()),
        "{lines:#?}"
    );
    assert!(
        lines.contains(&"        expected: 3000".to_owned()),
        "{lines:#?}"
    );
    assert_eq!(lines.last().unwrap(), "0 passed, 1 failed, 0 skipped");
}

#[test]
fn a_panic_is_shown_with_its_text() {
    let files = corpus::files(&data("made-up"), &["pkg-resources".to_owned()]).unwrap();
    let text = report::text(&run::run(&files, Some("panics")), Detail::Differences);
    assert!(text.contains("panicked: "), "{text}");
    assert!(text.contains("two"), "{text}");
}

#[test]
fn a_case_that_passes_ends_well() {
    let path = data("made-up");
    let output = conformance(&[path.to_str().unwrap(), "--case", "passes"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(lines(&output).contains(&"    passed: passes".to_owned()));
}

#[test]
fn a_name_that_no_case_has_is_said() {
    let path = data("made-up");
    let output = conformance(&[path.to_str().unwrap(), "--case", "no such case"]);
    assert_eq!(lines(&output).first().unwrap(), "no case matches");
}

#[test]
fn what_cannot_be_read_is_named() {
    let made_up = data("made-up");
    let made_up = made_up.to_str().unwrap();
    let broken = data("broken");
    let cases = [
        (
            vec![made_up, "--suite", "pkg-unknown"],
            "no folder \"pkg-unknown\"",
        ),
        (
            vec![made_up, "--suite", "pkg-unknown"],
            "pkg-nobody, pkg-resources",
        ),
        (vec![broken.to_str().unwrap()], "TestBroken.json"),
        (vec!["/nowhere/at/all"], "/nowhere/at/all"),
    ];
    for (arguments, named) in cases {
        let output = conformance(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(named), "{arguments:?}: {text}");
    }
}

#[test]
fn help_shows_how_to_run_a_part() {
    let output = conformance(&["--help"]);
    let text = lines(&output).join("\n");
    for part in [
        "DIR/FOLDER/TEST.json",
        "--suite <SUITE>",
        "--case <CASE>",
        "--verbose",
        "Examples:",
    ] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
